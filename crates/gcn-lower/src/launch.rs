//! What a kernel finds in memory when it begins: its arguments, hidden ones among them, and the dispatch
//! packet and queue that its descriptor may ask for (LLVM's "User Guide for AMDGPU Backend", "Kernel
//! Dispatch"; the HSA runtime's manual, "Architected Queuing Language Packets").
//!
//! All of it lies in the parameter buffer: the arguments, then the packet, then the queue.

use gcn::CodeObject;
use gcn::object::{Field, Kernel};
use wave::launch::{Fill, Filled};
use wave::{KernelInfo, ParamInfo};

use crate::error::Error;
use crate::memory::{PRIVATE_APERTURE, SHARED_APERTURE};

/// The version of code objects from which hidden arguments are a block of fixed layout.
const FIXED_LAYOUT: u8 = 5;

/// Bytes of that block.
const HIDDEN_SIZE: u32 = 256;

/// The hidden arguments of that block: name in the metadata, offset, bytes, and what the launch writes. The
/// others are zero, as no group is partial and grids begin at 0, or [`ASKED`].
const HIDDEN: &[(&str, u32, u32, Option<Filled>)] = &[
    ("hidden_block_count_x", 0, 4, Some(Filled::Grid(0))),
    ("hidden_block_count_y", 4, 4, Some(Filled::Grid(1))),
    ("hidden_block_count_z", 8, 4, Some(Filled::Grid(2))),
    ("hidden_group_size_x", 12, 2, Some(Filled::Block(0))),
    ("hidden_group_size_y", 14, 2, Some(Filled::Block(1))),
    ("hidden_group_size_z", 16, 2, Some(Filled::Block(2))),
    ("hidden_remainder_x", 18, 2, None),
    ("hidden_remainder_y", 20, 2, None),
    ("hidden_remainder_z", 22, 2, None),
    ("hidden_global_offset_x", 40, 8, None),
    ("hidden_global_offset_y", 48, 8, None),
    ("hidden_global_offset_z", 56, 8, None),
    ("hidden_grid_dims", 64, 2, Some(Filled::Number(DIMENSIONS))),
    ("hidden_printf_buffer", 72, 8, None),
    ("hidden_hostcall_buffer", 80, 8, None),
    ("hidden_multigrid_sync_arg", 88, 8, None),
    ("hidden_heap_v1", 96, 8, None),
    ("hidden_default_queue", 104, 8, None),
    ("hidden_completion_action", 112, 8, None),
    ("hidden_dynamic_lds_size", 120, 4, Some(Filled::DynamicShared)),
    ("hidden_private_base", 192, 4, Some(Filled::Number(PRIVATE_APERTURE as u64))),
    ("hidden_shared_base", 196, 4, Some(Filled::Number(SHARED_APERTURE as u64))),
    ("hidden_queue_ptr", 200, 8, None),
];

/// Arguments that cost a launch something, so that it writes them only for kernels whose metadata has them,
/// in all versions: the buffers for the output of `printf` and for calls of the host, the memory for
/// `malloc`, and what grids know of each other.
const ASKED: [(&str, Filled); 4] = [
    ("hidden_printf_buffer", Filled::Printf),
    ("hidden_hostcall_buffer", Filled::Hostcalls),
    ("hidden_heap_v1", Filled::Heap),
    ("hidden_multigrid_sync_arg", Filled::GridSync),
];

/// Dimensions of a grid: HIP always states three.
const DIMENSIONS: u64 = 3;

/// Alignment of the packet and the queue.
const ALIGN: u32 = 64;

/// Bytes of a dispatch packet.
const PACKET_SIZE: u32 = 64;

/// Bytes of the queue's description, and where the apertures' upper halves are in it.
const QUEUE_SIZE: u32 = 256;
const APERTURES: [(u32, u32); 2] = [(0x40, SHARED_APERTURE), (0x44, PRIVATE_APERTURE)];

/// Most bytes of a kernel's arguments. Every launch copies them; compilers make kilobytes at most.
const MAX_PARAMS: u32 = 1 << 20;

/// Refuses a kernel that states more arguments than any program has.
pub(crate) fn bounded(object: &CodeObject<'_>, kernel: &Kernel) -> Result<(), Vec<Error>> {
    let size = info(object, kernel).0.param_size;
    if size <= MAX_PARAMS {
        return Ok(());
    }
    let message = format!("the kernel's arguments have {size} bytes; at most {MAX_PARAMS} are supported");
    Err(vec![Error { address: kernel.descriptor_address, message }])
}

/// Positions in the parameter buffer.
pub(crate) struct Layout {
    /// The dispatch packet.
    pub packet: u32,
    /// The queue.
    pub queue: u32,
}

/// What a launch needs to know of a kernel, and where it puts what.
pub(crate) fn info(object: &CodeObject<'_>, kernel: &Kernel) -> (KernelInfo, Layout) {
    let descriptor = &kernel.descriptor;
    let metadata = kernel.metadata.and_then(|index| object.metadata.kernels.get(index));
    let arguments = metadata.map_or(&[][..], |m| m.arguments.as_slice());
    let shown = arguments.iter().filter(|a| !a.kind.starts_with("hidden_"));
    let params: Vec<ParamInfo> =
        shown.map(|a| ParamInfo { offset: a.offset, size: a.size, align: 1 }).collect();
    let end = params.iter().map(|p| p.offset.saturating_add(p.size)).max().unwrap_or(0);
    let mut size = descriptor.get(Field::KernargSize).max(end);
    let mut fills = Vec::new();
    if object.version >= FIXED_LAYOUT {
        let stated = arguments.iter().find_map(|argument| {
            let row = HIDDEN.iter().find(|row| row.0 == argument.kind)?;
            argument.offset.checked_sub(row.1)
        });
        // Compilers drop the hidden arguments that a kernel does not use from the metadata.
        let begin = stated.unwrap_or(end.checked_next_multiple_of(8).unwrap_or(end));
        size = size.max(begin.saturating_add(HIDDEN_SIZE));
        let of_row = |&(_, offset, size, what): &(&str, u32, u32, Option<Filled>)| {
            Some(Fill { offset: begin.checked_add(offset)?, size, what: what? })
        };
        fills.extend(HIDDEN.iter().filter_map(of_row));
    }
    let packet = size.checked_next_multiple_of(ALIGN).unwrap_or(0);
    let mut layout = Layout { packet, queue: packet };
    if descriptor.get(Field::DispatchPtr) == 1 {
        fills.extend(packet_of(kernel, packet));
        layout.queue = packet.saturating_add(PACKET_SIZE);
        size = layout.queue;
    }
    if descriptor.get(Field::QueuePtr) == 1 {
        size = layout.queue.saturating_add(QUEUE_SIZE);
        fills.extend(APERTURES.map(|(at, aperture)| Fill {
            offset: layout.queue.saturating_add(at),
            size: 4,
            what: Filled::Number(u64::from(aperture)),
        }));
    }
    fills.extend(arguments.iter().filter_map(|argument| {
        let &(_, what) = ASKED.iter().find(|row| row.0 == argument.kind)?;
        Some(Fill { offset: argument.offset, size: 8, what })
    }));
    fills.retain(|fill| fill.offset.checked_add(fill.size).is_some_and(|end| end <= size));
    let info = KernelInfo {
        params,
        // Compilers load up to sixteen words at once, of which some may be behind the arguments.
        param_size: size.checked_next_multiple_of(64).unwrap_or(size),
        fills,
        required_block: metadata.and_then(|m| m.required_workgroup).unwrap_or_default(),
        max_threads: metadata.map_or(0, |m| m.max_workgroup),
        shared_size: u64::from(descriptor.get(Field::GroupSegment)),
        ..KernelInfo::default()
    };
    (info, layout)
}

/// The words of the dispatch packet at an offset of the buffer. Header and signal are zero: they concern the
/// packet processor.
fn packet_of(kernel: &Kernel, packet: u32) -> impl Iterator<Item = Fill> {
    let private = u64::from(kernel.descriptor.get(Field::PrivateSegment));
    let words = [
        (2, 2, Filled::Number(DIMENSIONS)),
        (4, 2, Filled::Block(0)),
        (6, 2, Filled::Block(1)),
        (8, 2, Filled::Block(2)),
        (12, 4, Filled::Threads(0)),
        (16, 4, Filled::Threads(1)),
        (20, 4, Filled::Threads(2)),
        (24, 4, Filled::Number(private)),
        (28, 4, Filled::Shared),
        (32, 8, Filled::Image(kernel.descriptor_address)),
        (40, 8, Filled::Params(0)),
    ];
    words.into_iter().map(move |(at, size, what)| Fill { offset: packet.saturating_add(at), size, what })
}
