//! Accesses of memory by lanes: the windows of state spaces, loads and stores.

use crate::abi::Stop;
use crate::func::Inst;
use crate::op::{MemMode, Order, Space};
use crate::types::Ty;

use super::machine::{Flow, Machine, lanes_of};
use super::{Probe, memory};

impl Machine<'_> {
    /// Host address and size of a state space's window for a lane; zero for spaces with host addresses.
    pub(super) fn window(&self, lane: usize, space: Space) -> (u64, u64) {
        let b = self.block_ctx();
        match space {
            Space::Shared => (b.shared as u64, b.shared_reach),
            Space::Local => {
                ((b.local as u64).wrapping_add(self.thread(lane) * b.local_stride), b.local_stride)
            }
            Space::Param => (b.params as u64, self.code.limits.params),
            Space::Generic | Space::Global | Space::Const => (0, 0),
        }
    }

    pub(super) fn is_space(&self, lane: usize, space: Space, address: u64) -> bool {
        let within = |s| {
            let (base, size) = self.window(lane, s);
            address >= base && address - base < size
        };
        match space {
            Space::Shared | Space::Local | Space::Param => within(space),
            Space::Const => {
                let image = self.block_ctx().image as u64;
                self.module()
                    .globals
                    .iter()
                    .any(|g| g.constant && address.wrapping_sub(image).wrapping_sub(g.offset) < g.size)
            }
            Space::Generic => true,
            Space::Global => !within(Space::Shared) && !within(Space::Local) && !within(Space::Param),
        }
    }

    pub(super) fn address(&mut self, lane: usize, inst: &Inst, offset: i32) -> u64 {
        (self.get(lane, inst.args[0]) as u64).wrapping_add(i64::from(offset) as u64)
    }

    pub(super) fn locate(
        &mut self,
        lane: usize,
        mem: MemMode,
        address: u64,
        size: u32,
        write: bool,
    ) -> Option<u64> {
        let thread = self.thread(lane);
        let limits = self.code.limits;
        // SAFETY: the block's context and runtime are valid (contract of `Code::resume`).
        unsafe { memory::locate(self.warp, (lane, thread), mem, address, size, write, &limits) }.ok()
    }

    pub(super) fn load(
        &mut self,
        group: u64,
        inst: &Inst,
        mem: MemMode,
        ty: Ty,
        count: u8,
        offset: i32,
    ) -> Flow {
        let size = ty.bytes();
        for lane in lanes_of(group) {
            let address = self.address(lane, inst, offset);
            let Some(at) = self.locate(lane, mem, address, size * u32::from(count), false) else {
                return Flow::Stop(Stop::Fault);
            };
            // SAFETY: `locate` checked the bytes.
            let whole = memory::at_once(at, size, count.into()).map(|n| unsafe { memory::read(at, n, true) });
            let mut seen = 0u128;
            for (i, &r) in inst.results.iter().enumerate() {
                let at = at + i as u64 * u64::from(size);
                let v = match (self.probe_of(lane, at), whole) {
                    // SAFETY: `locate` checked the bytes.
                    (Some(probe), _) => unsafe { probe.read(at, size) },
                    (None, Some(whole)) => whole >> (8 * size * i as u32) & ty.mask(),
                    // SAFETY: as above.
                    (None, None) => unsafe { memory::read(at, size, at.is_multiple_of(u64::from(size))) },
                };
                seen = seen.rotate_left(37) ^ v;
                self.set(lane, r, v);
            }
            let plain = mem.order == Order::Weak;
            if !plain || self.state.lanes[lane].seen.has_fences() {
                self.observe(lane, at, seen, plain);
            }
        }
        Flow::Next
    }

    pub(super) fn store(
        &mut self,
        group: u64,
        inst: &Inst,
        mem: MemMode,
        ty: Ty,
        count: u8,
        offset: i32,
    ) -> Flow {
        let size = ty.bytes();
        for lane in lanes_of(group) {
            let address = self.address(lane, inst, offset);
            let Some(at) = self.locate(lane, mem, address, size * u32::from(count), true) else {
                return Flow::Stop(Stop::Fault);
            };
            let values = inst.args[1..].iter().enumerate();
            if let Some(bytes) = memory::at_once(at, size, count.into())
                && self.probe_of(lane, at).is_none()
            {
                let part = |(i, &v)| (self.get(lane, v) & ty.mask()) << (8 * size * i as u32);
                let whole = values.map(part).fold(0, |all, part| all | part);
                // SAFETY: `locate` checked the bytes and their alignment.
                unsafe { memory::write(at, bytes, whole) };
                continue;
            }
            for (i, &v) in values {
                let bits = self.get(lane, v);
                let at = at + i as u64 * u64::from(size);
                match self.probe_of(lane, at) {
                    Some(probe) => probe.write(at, size, bits),
                    // SAFETY: `locate` checked the bytes and their alignment.
                    None => unsafe { memory::write(at, size, bits) },
                }
            }
        }
        Flow::Next
    }

    /// The probe, for memory that outlives the block.
    pub(super) fn probe_of(&self, lane: usize, address: u64) -> Option<&Probe> {
        let own = |space| {
            let (start, size) = self.window(lane, space);
            address.wrapping_sub(start) < size
        };
        self.code.probe.as_ref().filter(|_| !own(Space::Shared) && !own(Space::Local))
    }
}
