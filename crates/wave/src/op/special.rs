//! Special registers, and runtime calls.

use names::names;

use crate::types::{Ty, Width};

names! {
/// Special registers. They are i32 unless the name ends in 64, and masks of lanes have the type of the
/// function's width; see [`SReg::ty`].
pub enum SReg {
    /// Thread in block.
    TidX = "tid.x",
    /// Thread in block.
    TidY = "tid.y",
    /// Thread in block.
    TidZ = "tid.z",
    /// Block size.
    NtidX = "ntid.x",
    /// Block size.
    NtidY = "ntid.y",
    /// Block size.
    NtidZ = "ntid.z",
    /// Block in grid.
    CtaidX = "ctaid.x",
    /// Block in grid.
    CtaidY = "ctaid.y",
    /// Block in grid.
    CtaidZ = "ctaid.z",
    /// Grid size in blocks.
    NctaidX = "nctaid.x",
    /// Grid size in blocks.
    NctaidY = "nctaid.y",
    /// Grid size in blocks.
    NctaidZ = "nctaid.z",
    /// Cluster in grid.
    ClusterIdX = "clusterid.x",
    /// Cluster in grid.
    ClusterIdY = "clusterid.y",
    /// Cluster in grid.
    ClusterIdZ = "clusterid.z",
    /// Grid size in clusters.
    NClusterIdX = "nclusterid.x",
    /// Grid size in clusters.
    NClusterIdY = "nclusterid.y",
    /// Grid size in clusters.
    NClusterIdZ = "nclusterid.z",
    /// Block in cluster.
    ClusterCtaidX = "cluster_ctaid.x",
    /// Block in cluster.
    ClusterCtaidY = "cluster_ctaid.y",
    /// Block in cluster.
    ClusterCtaidZ = "cluster_ctaid.z",
    /// Cluster size in blocks.
    ClusterNctaidX = "cluster_nctaid.x",
    /// Cluster size in blocks.
    ClusterNctaidY = "cluster_nctaid.y",
    /// Cluster size in blocks.
    ClusterNctaidZ = "cluster_nctaid.z",
    /// Rank of the block in its cluster, x fastest.
    ClusterRank = "cluster_ctarank",
    /// Number of blocks in the cluster.
    ClusterBlocks = "cluster_nctarank",
    /// 1 if the launch requested clusters, otherwise 0.
    ExplicitCluster = "is_explicit_cluster",
    /// Lane in warp.
    LaneId = "laneid",
    /// Warp in block.
    WarpId = "warpid",
    /// Warps in block.
    NWarpId = "nwarpid",
    /// Worker that runs the block.
    SmId = "smid",
    /// Workers.
    NSmId = "nsmid",
    /// Launch number, 64 bits.
    GridId64 = "gridid64",
    /// Address of the launch's workspace, 64 bits; 0 if the launch is not cooperative.
    Workspace64 = "workspace64",
    /// Mask of this lane.
    LaneMaskEq = "lanemask_eq",
    /// Mask of this lane and those below.
    LaneMaskLe = "lanemask_le",
    /// Mask of the lanes below.
    LaneMaskLt = "lanemask_lt",
    /// Mask of this lane and those above.
    LaneMaskGe = "lanemask_ge",
    /// Mask of the lanes above.
    LaneMaskGt = "lanemask_gt",
    /// Cycle counter, low half.
    Clock = "clock",
    /// Cycle counter.
    Clock64 = "clock64",
    /// Nanoseconds.
    GlobalTimer64 = "globaltimer64",
    /// Size of dynamic shared memory in bytes.
    DynSharedSize = "dynamic_smem_size",
    /// Size of the block's shared memory in bytes.
    TotalSharedSize = "total_smem_size",
    /// Size of a thread's local memory in bytes, 64 bits. If it is read, the launch decides the size.
    LocalSize64 = "local_size64",
}}

impl SReg {
    /// The register's type in a function of this width.
    pub const fn ty(self, width: Width) -> Ty {
        match self {
            SReg::LaneMaskEq | SReg::LaneMaskLe | SReg::LaneMaskLt | SReg::LaneMaskGe | SReg::LaneMaskGt => {
                width.mask()
            }
            SReg::GridId64 | SReg::Workspace64 | SReg::Clock64 | SReg::GlobalTimer64 | SReg::LocalSize64 => {
                Ty::I64
            }
            _ => Ty::I32,
        }
    }
}

names! {
/// Calls into the runtime. Operands and results are listed in [`Builtin::signature`].
pub enum Builtin {
    /// `vprintf(format, arguments) -> count`: generic addresses.
    Vprintf = "vprintf",
    /// `__assertfail(message, file, line, function, char size)`; does not return.
    AssertFail = "assertfail",
    /// `malloc(size) -> address`, 0 when the heap is full.
    Malloc = "malloc",
    /// `free(address)`.
    Free = "free",
    /// Lets other warps run for about this many nanoseconds.
    NanoSleep = "nanosleep",
    /// Reports that the lanes' stacks are full; does not return.
    StackOverflow = "stack_overflow",
    /// `mbarrier(address, bytes, arrivals, dropped) -> state before`: an operation on a barrier at an offset
    /// in shared memory; see [`crate::mbarrier::Update`].
    Mbarrier = "mbarrier",
    /// `mbarrier_wait(address, parity, over) -> over`: the calling lanes have read a barrier to learn whether
    /// its phase of this parity is over. Not 0 if it is, or if it has ended since they last read that it was
    /// not and did nothing else with barriers. Lanes of a warp with the same operands get the same result.
    MbarrierWait = "mbarrier_wait",
    /// `multicast_count(address, bytes) -> devices`: the number of devices with memory behind a multicast
    /// address; faults if there is none.
    MulticastCount = "multicast_count",
    /// `multicast_place(address, bytes, number) -> address`: the address of one device's memory behind a
    /// multicast address.
    MulticastPlace = "multicast_place",
    /// `cluster_cancel(address, barrier, all)`: cancels the next cluster that has not begun, writes 16 bytes
    /// about it to an offset in shared memory (its first block in x, y and z, and 1; zeros if there is none),
    /// and completes that many bytes on a barrier there. If `all` is not 0, it does so in every block of the
    /// cluster.
    ClusterCancel = "cluster_cancel",
    /// `tensormap_replace(generic address, field, value)`: writes a field of a tensor map. `field` is the
    /// index in [`MapField::ALL`] plus 256 times the dimension, if the field has one.
    TensormapReplace = "tensormap_replace",
    /// `graph_set_conditional(handle, value)`: sets the value of a graph's conditional node.
    GraphSetConditional = "graph_set_conditional",
    /// `device_call(function, eight arguments) -> result`: a function of CUDA's device runtime; see
    /// [`crate::op::DeviceFn`].
    DeviceCall = "device_call",
}}

names! {
/// Fields of a tensor map (PTX ISA 9.7.9.28).
pub enum MapField {
    /// The address.
    GlobalAddress = "global_address",
    /// The rank, less one.
    Rank = "rank",
    /// Elements of the tensor in a dimension.
    BoxDim = "box_dim",
    /// Elements in a dimension.
    GlobalDim = "global_dim",
    /// Bytes between elements of a dimension.
    GlobalStride = "global_stride",
    /// The step in a dimension.
    ElementStride = "element_stride",
    /// The elements' type.
    ElemType = "elemtype",
    /// The interleaved layout.
    InterleaveLayout = "interleave_layout",
    /// The swizzle mode.
    SwizzleMode = "swizzle_mode",
    /// The unit of swizzling.
    SwizzleAtomicity = "swizzle_atomicity",
    /// The value of elements outside.
    FillMode = "fill_mode",
}}

impl Builtin {
    /// Operand types and result types.
    pub const fn signature(self) -> (&'static [Ty], &'static [Ty]) {
        use Ty::*;
        match self {
            Builtin::Vprintf => (&[I64, I64], &[I32]),
            Builtin::AssertFail => (&[I64, I64, I32, I64, I64], &[]),
            Builtin::Malloc => (&[I64], &[I64]),
            Builtin::Free => (&[I64], &[]),
            Builtin::NanoSleep => (&[I32], &[]),
            Builtin::StackOverflow => (&[], &[]),
            Builtin::Mbarrier => (&[I64, I32, I32, I32], &[I64]),
            Builtin::MbarrierWait => (&[I64, I32, I32], &[I32]),
            Builtin::MulticastCount => (&[I64, I32], &[I32]),
            Builtin::MulticastPlace => (&[I64, I32, I32], &[I64]),
            Builtin::ClusterCancel => (&[I64, I64, I32], &[]),
            Builtin::TensormapReplace => (&[I64, I32, I64], &[]),
            Builtin::GraphSetConditional => (&[I64, I32], &[]),
            Builtin::DeviceCall => (&[I32, I64, I64, I64, I64, I64, I64, I64, I64], &[I64]),
        }
    }
}
