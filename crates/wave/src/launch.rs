//! Words of a kernel's parameter buffer that the launch writes, beside the program's parameters.
//!
//! AMD's kernels find the sizes of the launch in memory: in hidden parameters, and in the packet by which a
//! program starts a kernel on the hardware. Both lie in the parameter buffer, at offsets that the kernel's
//! description gives.

use crate::module::KernelInfo;

/// A word of the parameter buffer that the launch writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Offset in the buffer.
    pub offset: u32,
    /// Bytes, at most 8: the low ones of the value.
    pub size: u32,
    /// The value.
    pub what: Filled,
}

/// A value that the launch knows. Axes are 0 for x, 1 for y and 2 for z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// A constant.
    Number(u64),
    /// Blocks in the grid along an axis.
    Grid(usize),
    /// Threads of a block along an axis.
    Block(usize),
    /// Threads of the grid along an axis.
    Threads(usize),
    /// Bytes of dynamic shared memory of a block.
    DynamicShared,
    /// All bytes of shared memory of a block.
    Shared,
    /// The address of the buffer, plus an offset.
    Params(u64),
    /// The address of the module's image, plus an offset.
    Image(u64),
    /// The address of the buffer in which kernels leave the output of `printf`.
    Printf,
    /// The address of the buffer by which kernels call the host.
    Hostcalls,
    /// The address of the memory in which AMD's device library manages the memory of `malloc`.
    Heap,
    /// The address of what the grids of a cooperative launch know of each other; 0 in other launches.
    GridSync,
    /// The address of the counters of a kernel that counts what it does ([`crate::count`]).
    Counters,
}

/// What a launch fills in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of static and of dynamic shared memory of a block.
    pub shared: [u32; 2],
    /// The address of the module's image.
    pub image: u64,
    /// The address of the buffer for the output of `printf`; 0 if no kernel asks for it.
    pub printf: u64,
    /// The address of the buffer by which kernels call the host; 0 if no kernel asks for it.
    pub hostcalls: u64,
    /// The address of the memory for `malloc`; 0 if no kernel asks for it.
    pub heap: u64,
    /// The address of a cooperative grid's state for synchronisation; 0 for other launches.
    pub grid_sync: u64,
    /// The address of the counters; 0 if the kernel does not count.
    pub counters: u64,
}

impl Filled {
    /// The value for a launch whose parameter buffer lies at an address.
    fn value(self, shape: &Shape, params: u64) -> u64 {
        let at = |list: &[u32; 3], axis: usize| u64::from(list.get(axis).copied().unwrap_or(1));
        match self {
            Filled::Number(number) => number,
            Filled::Grid(axis) => at(&shape.grid, axis),
            Filled::Block(axis) => at(&shape.block, axis),
            Filled::Threads(axis) => at(&shape.grid, axis).wrapping_mul(at(&shape.block, axis)),
            Filled::DynamicShared => u64::from(shape.shared[1]),
            Filled::Shared => u64::from(shape.shared[0]) + u64::from(shape.shared[1]),
            Filled::Params(offset) => params.wrapping_add(offset),
            Filled::Image(offset) => shape.image.wrapping_add(offset),
            Filled::Printf => shape.printf,
            Filled::Hostcalls => shape.hostcalls,
            Filled::Heap => shape.heap,
            Filled::GridSync => shape.grid_sync,
            Filled::Counters => shape.counters,
        }
    }

    /// The word and the number by which the text form writes it.
    pub(crate) fn written(self) -> (&'static str, u64) {
        match self {
            Filled::Number(number) => ("number", number),
            Filled::Grid(axis) => ("grid", axis as u64),
            Filled::Block(axis) => ("block", axis as u64),
            Filled::Threads(axis) => ("threads", axis as u64),
            Filled::DynamicShared => ("dynamic_shared", 0),
            Filled::Shared => ("shared", 0),
            Filled::Params(offset) => ("params", offset),
            Filled::Image(offset) => ("image", offset),
            Filled::Printf => ("printf", 0),
            Filled::Hostcalls => ("hostcalls", 0),
            Filled::Heap => ("heap", 0),
            Filled::GridSync => ("grid_sync", 0),
            Filled::Counters => ("counters", 0),
        }
    }

    /// The value that is written so.
    pub(crate) fn read(word: &str, number: u64) -> Option<Filled> {
        let axis = usize::try_from(number).ok().filter(|axis| *axis < 3);
        Some(match word {
            "number" => Filled::Number(number),
            "grid" => Filled::Grid(axis?),
            "block" => Filled::Block(axis?),
            "threads" => Filled::Threads(axis?),
            "dynamic_shared" => Filled::DynamicShared,
            "shared" => Filled::Shared,
            "params" => Filled::Params(number),
            "image" => Filled::Image(number),
            "printf" => Filled::Printf,
            "hostcalls" => Filled::Hostcalls,
            "heap" => Filled::Heap,
            "grid_sync" => Filled::GridSync,
            "counters" => Filled::Counters,
            _ => return None,
        })
    }
}

impl KernelInfo {
    /// Writes the words of a launch into its parameter buffer, where the kernel will read it.
    pub fn fill(&self, params: &mut [u8], shape: &Shape) {
        let base = params.as_ptr().addr() as u64;
        for fill in &self.fills {
            let (at, size) = (fill.offset as usize, fill.size as usize);
            let bytes = fill.what.value(shape, base).to_le_bytes();
            if let (Some(to), Some(from)) = (params.get_mut(at..at.saturating_add(size)), bytes.get(..size)) {
                to.copy_from_slice(from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_at_their_offsets() {
        let fill = |offset, size, what| Fill { offset, size, what };
        let fills = vec![
            fill(0, 4, Filled::Grid(1)),
            fill(4, 2, Filled::Block(0)),
            fill(8, 4, Filled::Threads(0)),
            fill(12, 4, Filled::Shared),
            fill(16, 8, Filled::Params(24)),
            fill(24, 8, Filled::Image(5)),
            fill(32, 8, Filled::Heap),
            fill(40, 8, Filled::GridSync),
            // Beyond the end of the buffer nothing is written.
            fill(46, 4, Filled::Number(u64::MAX)),
        ];
        let info = KernelInfo { fills, param_size: 48, ..KernelInfo::default() };
        let mut params = [0xaa; 48];
        let shape = Shape {
            grid: [3, 7, 1],
            block: [0x10040, 1, 1],
            shared: [16, 4],
            image: 0x1000,
            heap: 0x2000,
            ..Shape::default()
        };
        info.fill(&mut params, &shape);
        let word = |at: usize| u32::from_le_bytes(params[at..at + 4].try_into().expect("four bytes"));
        assert_eq!([word(0), word(4), word(8), word(12)], [7, 0xaaaa_0040, 3 * 0x10040, 20]);
        let address = params.as_ptr().addr() as u64 + 24;
        assert_eq!(params[16..24], address.to_le_bytes());
        assert_eq!(params[24..32], 0x1005u64.to_le_bytes());
        assert_eq!([word(32), word(40)], [0x2000, 0]);
    }
}
