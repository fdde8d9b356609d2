//! Operations between lanes, and barriers.

use names::names;

names! {
/// Shuffle modes (`shfl`, PTX manual).
pub enum ShflMode {
    /// From lane - b.
    Up = "up",
    /// From lane + b.
    Down = "down",
    /// From lane ^ b.
    Bfly = "bfly",
    /// From lane b.
    Idx = "idx",
}}

names! {
/// Votes.
pub enum VoteMode {
    /// True if all members are true.
    All = "all",
    /// True if any member is true.
    Any = "any",
    /// True if all members agree.
    Uni = "uni",
    /// The mask of the members that are true.
    Ballot = "ballot",
}}

names! {
/// `match.sync`.
pub enum MatchMode {
    /// The mask of the members with this lane's value.
    Any = "any",
    /// The mask of all members if they all have the same value, otherwise 0; and a predicate that tells
    /// which.
    All = "all",
}}

names! {
/// `redux.sync`, over i32.
pub enum ReduxOp {
    /// Sum.
    Add = "add",
    /// Unsigned minimum.
    MinU = "min_u",
    /// Unsigned maximum.
    MaxU = "max_u",
    /// Signed minimum.
    MinS = "min_s",
    /// Signed maximum.
    MaxS = "max_s",
    /// And.
    And = "and",
    /// Or.
    Or = "or",
    /// Exclusive or.
    Xor = "xor",
}}

names! {
/// Barriers of a block, and of a cluster.
pub enum BarMode {
    /// Arrive and wait.
    Sync = "sync",
    /// Arrive only.
    Arrive = "arrive",
    /// Arrive, wait, count the true predicates (i32 result).
    RedPopc = "red_popc",
    /// Arrive, wait, and combine predicates with and (i1 result).
    RedAnd = "red_and",
    /// Arrive, wait, and combine predicates with or (i1 result).
    RedOr = "red_or",
    /// Arrive at the cluster's barrier, without waiting.
    ClusterArrive = "cluster_arrive",
    /// Wait until all live threads of the cluster have arrived at its barrier.
    ClusterWait = "cluster_wait",
}}

impl BarMode {
    /// Whether it is the cluster's barrier, which has no number.
    pub fn is_cluster(self) -> bool {
        matches!(self, BarMode::ClusterArrive | BarMode::ClusterWait)
    }

    /// Whether lanes wait, rather than only arrive.
    pub fn waits(self) -> bool {
        !matches!(self, BarMode::Arrive | BarMode::ClusterArrive)
    }
}
