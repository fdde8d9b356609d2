//! The codes that functions return (`nvmlReturn_t`).

/// Success.
pub const SUCCESS: u32 = 0;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Failure {
    /// `nvmlInit` was not called.
    Uninitialized = 1,
    /// An argument is invalid.
    InvalidArgument = 2,
    /// The device lacks the feature.
    NotSupported = 3,
    /// There is no such object.
    NotFound = 6,
    /// The program's buffer is too small.
    InsufficientSize = 7,
    /// The time that the program set is over.
    Timeout = 10,
    /// The system refuses.
    OperatingSystem = 17,
    /// A structure has a version that does not exist.
    ArgumentVersionMismatch = 25,
    /// A fault of this library.
    Unknown = 999,
}

/// The result of a function.
pub type Result<T> = std::result::Result<T, Failure>;

/// Every code, its name without `NVML_`, and its text.
pub const CODES: &[(u32, &str, &str)] = &[
    (0, "SUCCESS", "Success"),
    (1, "ERROR_UNINITIALIZED", "Uninitialized"),
    (2, "ERROR_INVALID_ARGUMENT", "Invalid Argument"),
    (3, "ERROR_NOT_SUPPORTED", "Not Supported"),
    (4, "ERROR_NO_PERMISSION", "Insufficient Permissions"),
    (5, "ERROR_ALREADY_INITIALIZED", "Already Initialized"),
    (6, "ERROR_NOT_FOUND", "Not Found"),
    (7, "ERROR_INSUFFICIENT_SIZE", "Insufficient Size"),
    (8, "ERROR_INSUFFICIENT_POWER", "Insufficient External Power"),
    (9, "ERROR_DRIVER_NOT_LOADED", "Driver Not Loaded"),
    (10, "ERROR_TIMEOUT", "Timeout"),
    (11, "ERROR_IRQ_ISSUE", "Interrupt Request Issue"),
    (12, "ERROR_LIBRARY_NOT_FOUND", "NVML Shared Library Not Found"),
    (13, "ERROR_FUNCTION_NOT_FOUND", "Function Not Found"),
    (14, "ERROR_CORRUPTED_INFOROM", "Corrupted infoROM"),
    (15, "ERROR_GPU_IS_LOST", "GPU is lost"),
    (16, "ERROR_RESET_REQUIRED", "GPU requires restart"),
    (17, "ERROR_OPERATING_SYSTEM", "Blocked by the operating system"),
    (18, "ERROR_LIB_RM_VERSION_MISMATCH", "Driver and library versions differ"),
    (19, "ERROR_IN_USE", "In use by another client"),
    (20, "ERROR_MEMORY", "Insufficient Memory"),
    (21, "ERROR_NO_DATA", "No data"),
    (22, "ERROR_VGPU_ECC_NOT_SUPPORTED", "Not supported with ECC enabled"),
    (23, "ERROR_INSUFFICIENT_RESOURCES", "Insufficient Resources"),
    (24, "ERROR_FREQ_NOT_SUPPORTED", "Frequency Not Supported"),
    (25, "ERROR_ARGUMENT_VERSION_MISMATCH", "Argument Version Mismatch"),
    (26, "ERROR_DEPRECATED", "Deprecated"),
    (27, "ERROR_NOT_READY", "Not ready"),
    (28, "ERROR_GPU_NOT_FOUND", "GPU not found"),
    (29, "ERROR_INVALID_STATE", "Invalid state"),
    (30, "ERROR_RESET_TYPE_NOT_SUPPORTED", "Reset type not supported"),
    (999, "ERROR_UNKNOWN", "Unknown Error"),
];

/// The name of a code, for the log.
pub fn name(code: u32) -> String {
    CODES.iter().find(|row| row.0 == code).map_or_else(|| code.to_string(), |row| format!("NVML_{}", row.1))
}
