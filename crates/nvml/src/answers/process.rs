//! The processes that have a context on a device, as far as this process may look at them
//! (`driver::usage`).

use capi::Out;

use super::Table;
use crate::code::{Failure, Result};
use crate::engine::Call;
use crate::layout::{ProcessDetail, ProcessDetailList, ProcessInfo1, ProcessInfo2};

/// What stands for the instances of a device that is not divided.
const NO_INSTANCE: u32 = u32::MAX;

/// Modes of `nvmlProcessDetailList_t`: compute, graphics, MPS, all.
const MODES: u32 = 4;
const COMPUTE: u32 = 0;
const ALL: u32 = 3;

pub(super) const TABLE: Table = &[
    ("nvmlDeviceGetComputeRunningProcesses", |call| {
        let old = |process: ProcessInfo2| ProcessInfo1 {
            pid: process.pid,
            used_gpu_memory: process.used_gpu_memory,
        };
        call.set_list(2, &processes(call)?.into_iter().map(old).collect::<Vec<_>>())
    }),
    ("nvmlDeviceGetComputeRunningProcesses_v2", compute),
    ("nvmlDeviceGetComputeRunningProcesses_v3", compute),
    // There are no graphics, and no service that shares a device.
    ("nvmlDeviceGetGraphicsRunningProcesses", |call| call.set_list::<ProcessInfo1>(2, &[])),
    ("nvmlDeviceGetGraphicsRunningProcesses_v2", |call| call.set_list::<ProcessInfo2>(2, &[])),
    ("nvmlDeviceGetGraphicsRunningProcesses_v3", |call| call.set_list::<ProcessInfo2>(2, &[])),
    ("nvmlDeviceGetMPSComputeRunningProcesses", |call| call.set_list::<ProcessInfo1>(2, &[])),
    ("nvmlDeviceGetMPSComputeRunningProcesses_v2", |call| call.set_list::<ProcessInfo2>(2, &[])),
    ("nvmlDeviceGetMPSComputeRunningProcesses_v3", |call| call.set_list::<ProcessInfo2>(2, &[])),
    ("nvmlDeviceGetRunningProcessDetailList", details),
];

fn processes(call: &Call<'_>) -> Result<Vec<ProcessInfo2>> {
    let clients = call.inventory()?.clients(call.device(0)?);
    let process = |client: driver::inventory::Client| ProcessInfo2 {
        pid: client.process,
        used_gpu_memory: client.used,
        gpu_instance_id: NO_INSTANCE,
        compute_instance_id: NO_INSTANCE,
    };
    Ok(clients.into_iter().map(process).collect())
}

fn compute(call: &Call<'_>) -> Result<()> {
    call.set_list(2, &processes(call)?)
}

fn details(call: &Call<'_>) -> Result<()> {
    let list: ProcessDetailList = call.read(1)?;
    if list.mode >= MODES {
        return Err(Failure::InvalidArgument);
    }
    let found = if matches!(list.mode, COMPUTE | ALL) { processes(call)? } else { Vec::new() };
    call.set(1, ProcessDetailList { num_proc_array_entries: found.len() as u32, ..list })?;
    if (list.num_proc_array_entries as usize) < found.len() {
        return Err(Failure::InsufficientSize);
    }
    let detail = |process: ProcessInfo2| ProcessDetail {
        pid: process.pid,
        used_gpu_memory: process.used_gpu_memory,
        gpu_instance_id: NO_INSTANCE,
        compute_instance_id: NO_INSTANCE,
        used_gpu_cc_protected_memory: 0,
    };
    let all: Vec<ProcessDetail> = found.into_iter().map(detail).collect();
    let array = if all.is_empty() { Ok(Out::none()) } else { Out::at(list.proc_array).required() };
    array.map_err(|_| Failure::InvalidArgument)?.set_all(&all);
    Ok(())
}
