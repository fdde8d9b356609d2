//! The system: versions, and the kinds of hardware that a machine without GPUs lacks.

use driver::inventory::{NVIDIA_DRIVER, process_name};

use super::{Table, filled};
use crate::code::{Failure, Result};
use crate::engine::Call;
use crate::layout::DriverBranch;

pub(super) const TABLE: Table = &[
    ("nvmlSystemGetDriverVersion", |call| call.set_text(0, NVIDIA_DRIVER)),
    ("nvmlSystemGetDriverBranch", |call| {
        // The branch is the first number of the version.
        let branch = NVIDIA_DRIVER.split('.').next().unwrap_or(NVIDIA_DRIVER);
        if call.number(1) as usize <= branch.len() {
            return Err(Failure::InsufficientSize);
        }
        let DriverBranch { version, .. } = call.read(0)?;
        call.set(0, DriverBranch { version, branch: filled(branch) })
    }),
    ("nvmlSystemGetNVMLVersion", |call| {
        // The version of CUDA comes first, as in NVIDIA's library.
        call.set_text(0, &format!("{}.{NVIDIA_DRIVER}", driver::VERSION / 1000))
    }),
    ("nvmlSystemGetCudaDriverVersion", cuda_version),
    ("nvmlSystemGetCudaDriverVersion_v2", cuda_version),
    ("nvmlSystemGetProcessName", |call| {
        let room = call.number(2) as usize;
        let name = process_name(call.number(0)).ok_or(Failure::NotFound)?;
        let mut bytes: Vec<u8> = name.into_bytes();
        bytes.truncate(room.checked_sub(1).ok_or(Failure::InvalidArgument)?);
        bytes.push(0);
        call.set_all(1, &bytes)
    }),
    ("nvmlSystemGetHicVersion", |call| call.set_list::<[u8; 36]>(1, &[])),
    ("nvmlUnitGetCount", |call| call.set(0, 0u32)),
    ("nvmlUnitGetHandleByIndex", |_| Err(Failure::InvalidArgument)),
    ("nvmlGetExcludedDeviceCount", |call| call.set(0, 0u32)),
    ("nvmlGetExcludedDeviceInfoByIndex", |_| Err(Failure::InvalidArgument)),
];

fn cuda_version(call: &Call<'_>) -> Result<()> {
    call.set(0, driver::VERSION)
}
