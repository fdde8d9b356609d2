//! Multiprocessor limits by compute capability.
//!
//! Source: the tables of technical specifications and arithmetic throughput in NVIDIA's programming guide. An
//! H200 reports the values of the row for 9.0 (`tests/probe/h200-580.txt`).

use crate::device::attribute;
use crate::memory::decompress;

const KIB: i32 = 1024;

/// The most bytes that devices decompress at once. They are known to do it from capability 10.0 on; the
/// length is a choice, because no such device was recorded.
const DECOMPRESSED: i32 = 4 << 20;

/// The limits for a range of capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    /// The first capability that the row applies to; it ends where the next row begins.
    from: (u32, u32),
    /// Maximum resident threads per multiprocessor.
    threads: i32,
    /// Maximum resident blocks per multiprocessor.
    blocks: i32,
    /// Shared memory per multiprocessor in KiB.
    shared: i32,
    /// Maximum opt-in shared memory per block in KiB.
    shared_of_block: i32,
    /// Maximum registers per block.
    registers: i32,
    /// Ratio of single- to double-precision throughput.
    ratio: i32,
}

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { from: (5, 0),  threads: 2048, blocks: 32, shared: 64,  shared_of_block: 48,  registers: 65536, ratio: 32 },
    Row { from: (5, 2),  threads: 2048, blocks: 32, shared: 96,  shared_of_block: 48,  registers: 65536, ratio: 32 },
    Row { from: (5, 3),  threads: 2048, blocks: 32, shared: 64,  shared_of_block: 48,  registers: 32768, ratio: 32 },
    Row { from: (6, 0),  threads: 2048, blocks: 32, shared: 64,  shared_of_block: 48,  registers: 65536, ratio: 2 },
    Row { from: (6, 1),  threads: 2048, blocks: 32, shared: 96,  shared_of_block: 48,  registers: 65536, ratio: 32 },
    Row { from: (6, 2),  threads: 2048, blocks: 32, shared: 64,  shared_of_block: 48,  registers: 32768, ratio: 32 },
    Row { from: (7, 0),  threads: 2048, blocks: 32, shared: 96,  shared_of_block: 96,  registers: 65536, ratio: 2 },
    Row { from: (7, 5),  threads: 1024, blocks: 16, shared: 64,  shared_of_block: 64,  registers: 65536, ratio: 32 },
    Row { from: (8, 0),  threads: 2048, blocks: 32, shared: 164, shared_of_block: 163, registers: 65536, ratio: 2 },
    Row { from: (8, 6),  threads: 1536, blocks: 16, shared: 100, shared_of_block: 99,  registers: 65536, ratio: 32 },
    Row { from: (8, 7),  threads: 1536, blocks: 16, shared: 164, shared_of_block: 163, registers: 65536, ratio: 32 },
    Row { from: (8, 8),  threads: 1536, blocks: 16, shared: 100, shared_of_block: 99,  registers: 65536, ratio: 32 },
    Row { from: (8, 9),  threads: 1536, blocks: 24, shared: 100, shared_of_block: 99,  registers: 65536, ratio: 32 },
    Row { from: (9, 0),  threads: 2048, blocks: 32, shared: 228, shared_of_block: 227, registers: 65536, ratio: 2 },
    Row { from: (10, 0), threads: 2048, blocks: 32, shared: 228, shared_of_block: 227, registers: 65536, ratio: 2 },
    Row { from: (10, 1), threads: 1536, blocks: 24, shared: 228, shared_of_block: 227, registers: 65536, ratio: 32 },
    Row { from: (10, 3), threads: 2048, blocks: 32, shared: 228, shared_of_block: 227, registers: 65536, ratio: 32 },
    Row { from: (11, 0), threads: 1536, blocks: 24, shared: 228, shared_of_block: 227, registers: 65536, ratio: 32 },
    Row { from: (12, 0), threads: 1536, blocks: 24, shared: 100, shared_of_block: 99,  registers: 65536, ratio: 32 },
];

/// The value of an attribute that follows from the capability; `None` if `number` is no such attribute.
pub(crate) fn attribute(capability: (u32, u32), number: i32) -> Option<i32> {
    let newest = TABLE.iter().rev().find(|row| row.from <= capability);
    let row = newest.or(TABLE.first())?;
    let since = |first: (u32, u32), value: i32| if capability >= first { value } else { 0 };
    Some(match number {
        attribute::COMPUTE_CAPABILITY_MAJOR => capability.0 as i32,
        attribute::COMPUTE_CAPABILITY_MINOR => capability.1 as i32,
        attribute::MAX_REGISTERS_PER_BLOCK => row.registers,
        attribute::MAX_THREADS_PER_MULTIPROCESSOR => row.threads,
        attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR => row.shared * KIB,
        attribute::SINGLE_TO_DOUBLE_RATIO => row.ratio,
        attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => row.shared_of_block * KIB,
        attribute::MAX_BLOCKS_PER_MULTIPROCESSOR => row.blocks,
        attribute::RESERVED_SHARED_MEMORY_PER_BLOCK => since((8, 0), KIB),
        attribute::CLUSTER_LAUNCH | attribute::TENSOR_MAPS => since((9, 0), 1),
        attribute::DECOMPRESS_ALGORITHMS => since((10, 0), decompress::ALL),
        attribute::DECOMPRESS_LENGTH => since((10, 0), DECOMPRESSED),
        attribute::MEM_SYNC_DOMAIN_COUNT => since((9, 0), 3) + 1,
        _ => return None,
    })
}

/// How multiprocessors can be divided among green contexts: minimum size and granularity of a part. Source:
/// the manual of `cuDevSmResourceSplitByCount` in CUDA 12.4.
pub(crate) fn parts(capability: (u32, u32)) -> (u32, u32) {
    match capability.0 {
        0..=6 => (1, 1),
        7 => (2, 2),
        8 => (4, 2),
        _ => (8, 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_blocks_fit() {
        for pair in TABLE.windows(2) {
            assert!(pair[0].from < pair[1].from, "{:?}", pair[1].from);
        }
        for row in TABLE {
            let of = |number| attribute(row.from, number).expect("an attribute");
            let reserved = of(attribute::RESERVED_SHARED_MEMORY_PER_BLOCK);
            let (block, all) = (
                of(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
                of(attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
            );
            assert!((48 * KIB..=all - reserved).contains(&block), "{:?}", row.from);
            assert!(block == 48 * KIB || block == all - reserved, "{:?}", row.from);
        }
    }

    #[test]
    fn capabilities_without_a_row_have_the_one_before() {
        let shared = |major, minor| attribute((major, minor), attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        assert_eq!(shared(7, 2), Some(98_304));
        assert_eq!(shared(12, 1), Some(101_376));
        assert_eq!(shared(20, 0), Some(101_376));
        assert_eq!(shared(4, 0), Some(49_152));
    }
}
