//! Structures that programs pass, field for field as in `nvml.h`.

capi::structures! {
    /// `nvmlMemory_t`.
    pub struct Memory = "nvmlMemory_t" {
        pub total: u64,
        pub free: u64,
        pub used: u64,
    }

    /// `nvmlMemory_v2_t`.
    pub struct Memory2 = "nvmlMemory_v2_t" {
        pub version: u32,
        pub total: u64,
        pub reserved: u64,
        pub free: u64,
        pub used: u64,
    }

    /// `nvmlUtilization_t`.
    pub struct Utilization = "nvmlUtilization_t" {
        pub gpu: u32,
        pub memory: u32,
    }

    /// `nvmlPciInfo_t`. The structures of the first and the second version of the function end before
    /// `pci_sub_system_id` and before `bus_id`.
    pub struct PciInfo = "nvmlPciInfo_t" {
        pub bus_id_legacy: [u8; 16],
        pub domain: u32,
        pub bus: u32,
        pub device: u32,
        pub pci_device_id: u32,
        pub pci_sub_system_id: u32,
        pub bus_id: [u8; 32],
    }

    /// `nvmlPciInfoExt_v1_t`.
    pub struct PciInfoExt = "nvmlPciInfoExt_v1_t" {
        pub version: u32,
        pub domain: u32,
        pub bus: u32,
        pub device: u32,
        pub pci_device_id: u32,
        pub pci_sub_system_id: u32,
        pub base_class: u32,
        pub sub_class: u32,
        pub bus_id: [u8; 32],
    }

    /// `nvmlProcessInfo_v1_t`.
    pub struct ProcessInfo1 = "nvmlProcessInfo_v1_t" {
        pub pid: u32,
        pub used_gpu_memory: u64,
    }

    /// `nvmlProcessInfo_v2_t`, which the third version of the functions uses as well.
    pub struct ProcessInfo2 = "nvmlProcessInfo_v2_t" {
        pub pid: u32,
        pub used_gpu_memory: u64,
        pub gpu_instance_id: u32,
        pub compute_instance_id: u32,
    }

    /// `nvmlProcessDetail_v1_t`.
    pub struct ProcessDetail = "nvmlProcessDetail_v1_t" {
        pub pid: u32,
        pub used_gpu_memory: u64,
        pub gpu_instance_id: u32,
        pub compute_instance_id: u32,
        pub used_gpu_cc_protected_memory: u64,
    }

    /// `nvmlProcessDetailList_v1_t`.
    pub struct ProcessDetailList = "nvmlProcessDetailList_v1_t" {
        pub version: u32,
        pub mode: u32,
        pub num_proc_array_entries: u32,
        pub proc_array: u64,
    }

    /// `nvmlUUID_v1_t`.
    pub struct Uuid = "nvmlUUID_v1_t" {
        pub version: u32,
        pub kind: u32,
        pub value: [u8; 41],
    }

    /// `nvmlFieldValue_t`.
    pub struct FieldValue = "nvmlFieldValue_t" {
        pub field_id: u32,
        pub scope_id: u32,
        pub timestamp: i64,
        pub latency_usec: i64,
        pub value_type: u32,
        pub nvml_return: u32,
        pub value: u64,
    }

    /// `nvmlGpmSupport_t`.
    pub struct GpmSupport = "nvmlGpmSupport_t" {
        pub version: u32,
        pub is_supported_device: u32,
    }

    /// `nvmlSystemDriverBranchInfo_v1_t`.
    pub struct DriverBranch = "nvmlSystemDriverBranchInfo_v1_t" {
        pub version: u32,
        pub branch: [u8; 80],
    }

    /// `nvmlDeviceCapabilities_v1_t`.
    pub struct Capabilities = "nvmlDeviceCapabilities_v1_t" {
        pub version: u32,
        pub cap_mask: u32,
    }

    /// `nvmlPdi_v1_t`.
    pub struct Pdi = "nvmlPdi_v1_t" {
        pub version: u32,
        pub value: u64,
    }

    /// `nvmlSystemEventSetCreateRequest_v1_t`, and the one for releasing, which has the same fields.
    pub struct SystemEventSet = "nvmlSystemEventSetCreateRequest_v1_t" {
        pub version: u32,
        pub set: u64,
    }

    /// `nvmlSystemRegisterEventRequest_v1_t`.
    pub struct SystemEventRegistration = "nvmlSystemRegisterEventRequest_v1_t" {
        pub version: u32,
        pub event_types: u64,
        pub set: u64,
    }

    /// `nvmlSystemEventSetWaitRequest_v1_t`.
    pub struct SystemEventWait = "nvmlSystemEventSetWaitRequest_v1_t" {
        pub version: u32,
        pub timeout_ms: u32,
        pub set: u64,
        pub data: u64,
        pub data_size: u32,
        pub num_event: u32,
    }
}
