//! Device properties in the layouts of HIP 6 and HIP 5, and the choice of the best matching device.

use std::sync::Arc;

use driver::device::Device;

use crate::abi::{In, Out};
use crate::types::{PropertiesR0000, PropertiesR0600};
use crate::{Error, Result, api, current};

/// `hipDeviceArch_t`: 17 feature bits, all set but the last, dynamic parallelism.
const ARCH: u32 = (1 << 16) - 1;

/// A text in a field of fixed size, NUL-terminated.
fn field<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    for (to, from) in bytes.iter_mut().take(N.saturating_sub(1)).zip(text.bytes()) {
        *to = from;
    }
    bytes
}

/// The architecture name: AMD's target, or for other devices the compute capability that PTX may ask for.
fn arch_name(device: &Device) -> [u8; 256] {
    if let Some(target) = &device.info.amd_target {
        return field(target);
    }
    let (major, minor) = device.info.compute_capability;
    field(&format!("sm_{major}{minor}"))
}

/// The number of an AMD architecture, as programs before HIP 6 read it: 906 for gfx906, 910 for gfx90a; 0 for
/// other devices.
fn gcn_arch(name: &[u8]) -> i32 {
    let Some(digits) = name.strip_prefix(b"gfx") else { return 0 };
    let digits = digits.split(|b| !b.is_ascii_hexdigit()).next().unwrap_or_default();
    digits.iter().fold(0, |number: i32, digit| {
        let digit = char::from(*digit).to_digit(16).unwrap_or(0);
        number.saturating_mul(10).saturating_add(digit as i32)
    })
}

fn properties(device: &Device) -> PropertiesR0600 {
    // CUDA's attribute numbers, which devices use.
    let a = |number| device.attribute(number).unwrap_or(0);
    let large = |number| usize::try_from(a(number)).unwrap_or(0);
    PropertiesR0600 {
        name: field(&device.info.name),
        uuid: device.info.uuid,
        luid: [0; 8],
        luid_device_node_mask: 0,
        total_global_mem: device.info.total_memory as usize,
        shared_mem_per_block: large(8),
        regs_per_block: a(12),
        warp_size: a(10),
        mem_pitch: large(11),
        max_threads_per_block: a(1),
        max_threads_dim: [a(2), a(3), a(4)],
        max_grid_size: [a(5), a(6), a(7)],
        clock_rate: a(13),
        total_const_mem: large(9),
        major: a(75),
        minor: a(76),
        texture_alignment: large(14),
        texture_pitch_alignment: large(51),
        device_overlap: a(15),
        multi_processor_count: a(16),
        kernel_exec_timeout_enabled: a(17),
        integrated: a(18),
        can_map_host_memory: a(19),
        compute_mode: a(20),
        max_texture_1d: a(21),
        max_texture_1d_mipmap: a(77),
        max_texture_1d_linear: a(69),
        max_texture_2d: [a(22), a(23)],
        max_texture_2d_mipmap: [a(73), a(74)],
        max_texture_2d_linear: [a(70), a(71), a(72)],
        max_texture_2d_gather: [a(45), a(46)],
        max_texture_3d: [a(24), a(25), a(26)],
        max_texture_3d_alt: [a(47), a(48), a(49)],
        max_texture_cubemap: a(52),
        max_texture_1d_layered: [a(42), a(43)],
        max_texture_2d_layered: [a(27), a(28), a(29)],
        max_texture_cubemap_layered: [a(53), a(54)],
        max_surface_1d: a(55),
        max_surface_2d: [a(56), a(57)],
        max_surface_3d: [a(58), a(59), a(60)],
        max_surface_1d_layered: [a(61), a(62)],
        max_surface_2d_layered: [a(63), a(64), a(65)],
        max_surface_cubemap: a(66),
        max_surface_cubemap_layered: [a(67), a(68)],
        surface_alignment: large(30),
        concurrent_kernels: a(31),
        ecc_enabled: a(32),
        pci_bus_id: a(33),
        pci_device_id: a(34),
        pci_domain_id: a(50),
        tcc_driver: a(35),
        async_engine_count: a(40),
        unified_addressing: a(41),
        memory_clock_rate: a(36),
        memory_bus_width: a(37),
        l2_cache_size: a(38),
        persisting_l2_cache_max_size: a(108),
        max_threads_per_multi_processor: a(39),
        stream_priorities_supported: a(78),
        global_l1_cache_supported: a(79),
        local_l1_cache_supported: a(80),
        shared_mem_per_multiprocessor: large(81),
        regs_per_multiprocessor: a(82),
        managed_memory: a(83),
        is_multi_gpu_board: a(84),
        multi_gpu_board_group_id: a(85),
        host_native_atomic_supported: a(86),
        single_to_double_precision_perf_ratio: a(87),
        pageable_memory_access: a(88),
        concurrent_managed_access: a(89),
        compute_preemption_supported: a(90),
        can_use_host_pointer_for_registered_mem: a(91),
        cooperative_launch: a(95),
        cooperative_multi_device_launch: a(96),
        shared_mem_per_block_optin: large(97),
        pageable_memory_access_uses_host_page_tables: a(100),
        direct_managed_mem_access_from_host: a(101),
        max_blocks_per_multi_processor: a(106),
        access_policy_max_window_size: a(109),
        reserved_shared_mem_per_block: large(111),
        host_register_supported: a(99),
        sparse_hip_array_supported: a(112),
        host_register_read_only_supported: a(113),
        timeline_semaphore_interop_supported: a(114),
        memory_pools_supported: a(115),
        gpu_direct_rdma_supported: a(116),
        gpu_direct_rdma_flush_writes_options: a(117) as u32,
        gpu_direct_rdma_writes_ordering: a(118),
        memory_pool_supported_handle_types: a(119) as u32,
        deferred_mapping_hip_array_supported: a(121),
        // Supported here although the CUDA attribute says no.
        ipc_event_supported: 1,
        cluster_launch: a(120),
        unified_function_pointers: a(129),
        reserved: [0; 63],
        hip_reserved: [0; 32],
        gcn_arch_name: arch_name(device),
        max_shared_memory_per_multi_processor: large(81),
        clock_instruction_rate: a(13),
        arch: ARCH,
        hdp_mem_flush_cntl: 0,
        hdp_reg_flush_cntl: 0,
        cooperative_multi_device_unmatched_func: a(96),
        cooperative_multi_device_unmatched_grid_dim: a(96),
        cooperative_multi_device_unmatched_block_dim: a(96),
        cooperative_multi_device_unmatched_shared_mem: a(96),
        // The host reaches all device memory.
        is_large_bar: 1,
        asic_revision: 0,
    }
}

/// The same properties in the old layout.
impl From<PropertiesR0600> for PropertiesR0000 {
    fn from(p: PropertiesR0600) -> Self {
        PropertiesR0000 {
            name: p.name,
            total_global_mem: p.total_global_mem,
            shared_mem_per_block: p.shared_mem_per_block,
            regs_per_block: p.regs_per_block,
            warp_size: p.warp_size,
            max_threads_per_block: p.max_threads_per_block,
            max_threads_dim: p.max_threads_dim,
            max_grid_size: p.max_grid_size,
            clock_rate: p.clock_rate,
            memory_clock_rate: p.memory_clock_rate,
            memory_bus_width: p.memory_bus_width,
            total_const_mem: p.total_const_mem,
            major: p.major,
            minor: p.minor,
            multi_processor_count: p.multi_processor_count,
            l2_cache_size: p.l2_cache_size,
            max_threads_per_multi_processor: p.max_threads_per_multi_processor,
            compute_mode: p.compute_mode,
            clock_instruction_rate: p.clock_instruction_rate,
            arch: p.arch,
            concurrent_kernels: p.concurrent_kernels,
            pci_domain_id: p.pci_domain_id,
            pci_bus_id: p.pci_bus_id,
            pci_device_id: p.pci_device_id,
            max_shared_memory_per_multi_processor: p.max_shared_memory_per_multi_processor,
            is_multi_gpu_board: p.is_multi_gpu_board,
            can_map_host_memory: p.can_map_host_memory,
            gcn_arch: gcn_arch(&p.gcn_arch_name),
            gcn_arch_name: p.gcn_arch_name,
            integrated: p.integrated,
            cooperative_launch: p.cooperative_launch,
            cooperative_multi_device_launch: p.cooperative_multi_device_launch,
            max_texture_1d_linear: p.max_texture_1d_linear,
            max_texture_1d: p.max_texture_1d,
            max_texture_2d: p.max_texture_2d,
            max_texture_3d: p.max_texture_3d,
            hdp_mem_flush_cntl: p.hdp_mem_flush_cntl,
            hdp_reg_flush_cntl: p.hdp_reg_flush_cntl,
            mem_pitch: p.mem_pitch,
            texture_alignment: p.texture_alignment,
            texture_pitch_alignment: p.texture_pitch_alignment,
            kernel_exec_timeout_enabled: p.kernel_exec_timeout_enabled,
            ecc_enabled: p.ecc_enabled,
            tcc_driver: p.tcc_driver,
            cooperative_multi_device_unmatched_func: p.cooperative_multi_device_unmatched_func,
            cooperative_multi_device_unmatched_grid_dim: p.cooperative_multi_device_unmatched_grid_dim,
            cooperative_multi_device_unmatched_block_dim: p.cooperative_multi_device_unmatched_block_dim,
            cooperative_multi_device_unmatched_shared_mem: p.cooperative_multi_device_unmatched_shared_mem,
            is_large_bar: p.is_large_bar,
            asic_revision: p.asic_revision,
            managed_memory: p.managed_memory,
            direct_managed_mem_access_from_host: p.direct_managed_mem_access_from_host,
            concurrent_managed_access: p.concurrent_managed_access,
            pageable_memory_access: p.pageable_memory_access,
            pageable_memory_access_uses_host_page_tables: p.pageable_memory_access_uses_host_page_tables,
        }
    }
}

/// The properties that `hipChooseDevice` compares.
trait Measures {
    fn measures(&self) -> [i64; 14];
}

macro_rules! measures {
    ($layout:ty) => {
        impl Measures for $layout {
            fn measures(&self) -> [i64; 14] {
                [
                    self.major.into(),
                    self.minor.into(),
                    self.total_global_mem as i64,
                    self.shared_mem_per_block as i64,
                    self.max_threads_per_block.into(),
                    self.total_const_mem as i64,
                    self.multi_processor_count.into(),
                    self.max_threads_per_multi_processor.into(),
                    self.memory_clock_rate.into(),
                    self.memory_bus_width.into(),
                    self.l2_cache_size.into(),
                    self.regs_per_block.into(),
                    self.max_shared_memory_per_multi_processor as i64,
                    self.warp_size.into(),
                ]
            }
        }
    };
}

measures!(PropertiesR0600);
measures!(PropertiesR0000);

/// Finds the first device that has at least the requested properties; the first of all if none has.
fn choose(out: Out<i32>, wished: [i64; 14]) -> Result<()> {
    let fits = |device: &&Arc<Device>| {
        let has = properties(device).measures();
        wished.iter().zip(has).all(|(wish, has)| *wish == 0 || has >= *wish)
    };
    let found = current::driver()?.devices.iter().find(fits);
    out.set(found.map_or(0, |d| d.ordinal as i32));
    Ok(())
}

fn get<T: From<PropertiesR0600> + Copy>(out: Out<T>, ordinal: i32) -> Result<()> {
    out.required()?;
    out.set(properties(&*current::device_at(ordinal)?).into());
    Ok(())
}

fn wish<T: Measures + Copy>(out: Out<i32>, wished: In<T>) -> Result<()> {
    if out.is_null() || wished.is_null() {
        return Err(Error::InvalidValue);
    }
    choose(out, wished.get()?.measures())
}

api! {
    Device Legal fn hipGetDevicePropertiesR0600(out: Out<PropertiesR0600>, ordinal: i32) {
        get(out, ordinal)
    }

    Device Legal fn hipGetDevicePropertiesR0000(out: Out<PropertiesR0000>, ordinal: i32) {
        get(out, ordinal)
    }

    /// The name from before HIP 6 keeps the layout from before HIP 6.
    Device Legal fn hipGetDeviceProperties(out: Out<PropertiesR0000>, ordinal: i32) {
        get(out, ordinal)
    }

    Device Legal fn hipChooseDeviceR0600(out: Out<i32>, wished: In<PropertiesR0600>) {
        wish(out, wished)
    }

    Device Legal fn hipChooseDeviceR0000(out: Out<i32>, wished: In<PropertiesR0000>) {
        wish(out, wished)
    }

    Device Legal fn hipChooseDevice(out: Out<i32>, wished: In<PropertiesR0000>) {
        wish(out, wished)
    }
}
