//! What the processor does for one lane at a time: a loop over the lanes in hand, lowest first.
//!
//! LLVM would make a branch for each of the 32 lanes of what it has no instruction for, and its time grows with the square of a kernel's blocks.

use wave::Ty;

use super::Kernel;
use super::memory::Access;
use crate::text::vector;

/// Accesses done lane by lane that a kernel may have before each is a loop.
const LOOPS_FROM: usize = 32;

/// A lane in hand.
pub struct Lane(String);

impl Kernel<'_> {
    /// Room on the stack that is written and read at one place of the code, so that all places may have the same.
    pub fn room(&mut self, purpose: &str, ty: &str) -> String {
        let name = format!("%{purpose}.{}", ty.replace(|c: char| !c.is_ascii_alphanumeric(), ""));
        let line = format!("  {name} = alloca {ty}, align 64\n");
        if self.rooms.insert(name.clone()) {
            self.slots.push_str(&line);
        }
        name
    }

    /// The same, with a value for each lane.
    pub fn put(&mut self, purpose: &str, ty: Ty, value: &str) -> String {
        let t = vector(ty);
        let room = self.room(purpose, &t);
        self.text.line(format!("store {t} {value}, ptr {room}, align 64"));
        room
    }

    /// Where a lane's value lies in such a room.
    pub fn element(&mut self, room: &str, ty: Ty, lane: &Lane) -> String {
        self.text.def(format!("getelementptr i{}, ptr {room}, i64 {}", ty.bytes() * 8, lane.0))
    }

    /// A lane's value there.
    pub fn get(&mut self, room: &str, ty: Ty, lane: &Lane) -> String {
        let p = self.element(room, ty, lane);
        self.text.def(format!("load i{}, ptr {p}", ty.bits()))
    }

    /// Does `body` for each lane in hand, of which there is one at least.
    pub fn each_lane<R>(&mut self, body: impl FnOnce(&mut Self, &Lane) -> R) -> R {
        let left = self.scratch("i32");
        let bits = self.mask_bits();
        self.text.line(format!("store i32 {bits}, ptr {left}"));
        let (one, end) = (self.text.fresh("lane"), self.text.fresh("lanes.end"));
        self.text.line(format!("br label %{one}"));
        self.text.label(&one);
        let m = self.text.def(format!("load i32, ptr {left}"));
        let lane = self.first_set(&m);
        let lane = Lane(self.text.def(format!("zext i32 {lane} to i64")));
        let done = body(self, &lane);
        let minus = self.text.def(format!("sub i32 {m}, 1"));
        let next = self.text.def(format!("and i32 {m}, {minus}"));
        self.text.line(format!("store i32 {next}, ptr {left}"));
        let more = self.text.def(format!("icmp ne i32 {next}, 0"));
        self.text.line(format!("br i1 {more}, label %{one}, label %{end}"));
        self.text.label(&end);
        done
    }

    /// Whether such accesses are loops: the processor has no instruction for them, and the kernel has many. A few are done in place, where the values
    /// of consecutive accesses stay in registers.
    pub fn in_loops(&self, ty: Ty, stores: bool) -> bool {
        !self.has_instruction(ty, stores) && self.by_lanes > LOOPS_FROM
    }

    /// Loads of lanes at any places.
    pub fn load_each(&mut self, a: Access, addresses: &str) -> Vec<String> {
        let t = vector(a.ty);
        let at = self.put("addresses", Ty::I64, addresses);
        let rooms: Vec<String> =
            (0..a.count).map(|i| self.put(&format!("values{i}"), a.ty, "zeroinitializer")).collect();
        self.each_lane(|k, lane| {
            let from = k.get(&at, Ty::I64, lane);
            for (i, room) in rooms.iter().enumerate() {
                let v = k.load_plain(a, &from, i);
                let to = k.element(room, a.ty, lane);
                k.text.line(format!("store i{} {v}, ptr {to}", a.ty.bits()));
            }
        });
        rooms.iter().map(|r| self.text.def(format!("load {t}, ptr {r}, align 64"))).collect()
    }

    /// Stores likewise.
    pub fn store_each(&mut self, a: Access, addresses: &str, values: &[String]) {
        let at = self.put("addresses", Ty::I64, addresses);
        let rooms: Vec<String> =
            values.iter().enumerate().map(|(i, v)| self.put(&format!("values{i}"), a.ty, v)).collect();
        self.each_lane(|k, lane| {
            let to = k.get(&at, Ty::I64, lane);
            for (i, room) in rooms.iter().enumerate() {
                let v = k.get(room, a.ty, lane);
                k.store_plain(a, &to, i, &v);
            }
        });
    }
}
