//! Streams, events, and the capture of streams.

use capi::types::IpcHandle;

use crate::abi::Out;
use crate::current::special;
use crate::error::checked;
use crate::{api, cu, forward};

forward! {
    Context fn cudaStreamCreateWithFlags(out: u64, flags: u32) = cuStreamCreate;
    Context fn cudaStreamCreateWithPriority(out: u64, flags: u32, priority: i32) = cuStreamCreateWithPriority;
    Context fn cudaStreamDestroy(stream: u64) = cuStreamDestroy_v2;
    Context fn cudaStreamQuery / cudaStreamQuery_ptsz (stream: u64) = cuStreamQuery / cuStreamQuery_ptsz;
    Context fn cudaStreamSynchronize / cudaStreamSynchronize_ptsz (stream: u64)
        = cuStreamSynchronize / cuStreamSynchronize_ptsz;
    Context fn cudaStreamGetFlags / cudaStreamGetFlags_ptsz (stream: u64, flags: u64)
        = cuStreamGetFlags / cuStreamGetFlags_ptsz;
    Context fn cudaStreamGetPriority / cudaStreamGetPriority_ptsz (stream: u64, priority: u64)
        = cuStreamGetPriority / cuStreamGetPriority_ptsz;
    Context fn cudaStreamGetId / cudaStreamGetId_ptsz (stream: u64, id: u64)
        = cuStreamGetId / cuStreamGetId_ptsz;
    Context fn cudaStreamGetDevice / cudaStreamGetDevice_ptsz (stream: u64, device: u64)
        = cuStreamGetDevice / cuStreamGetDevice_ptsz;
    Context fn cudaStreamWaitEvent / cudaStreamWaitEvent_ptsz (stream: u64, event: u64, flags: u32)
        = cuStreamWaitEvent / cuStreamWaitEvent_ptsz;
    Context fn cudaStreamAddCallback / cudaStreamAddCallback_ptsz (
        stream: u64, function: u64, data: u64, flags: u32
    ) = cuStreamAddCallback / cuStreamAddCallback_ptsz;
    Context fn cudaStreamAttachMemAsync / cudaStreamAttachMemAsync_ptsz (
        stream: u64, address: u64, length: u64, flags: u32
    ) = cuStreamAttachMemAsync / cuStreamAttachMemAsync_ptsz;
    Context fn cudaStreamGetAttribute / cudaStreamGetAttribute_ptsz (stream: u64, number: u32, value: u64)
        = cuStreamGetAttribute / cuStreamGetAttribute_ptsz;
    Context fn cudaStreamSetAttribute / cudaStreamSetAttribute_ptsz (stream: u64, number: u32, value: u64)
        = cuStreamSetAttribute / cuStreamSetAttribute_ptsz;
    Context fn cudaStreamCopyAttributes / cudaStreamCopyAttributes_ptsz (to: u64, from: u64)
        = cuStreamCopyAttributes / cuStreamCopyAttributes_ptsz;
    Context fn cudaLaunchHostFunc / cudaLaunchHostFunc_ptsz (stream: u64, function: u64, data: u64)
        = cuLaunchHostFunc / cuLaunchHostFunc_ptsz;
    Context fn cudaLaunchHostFunc_v2 / cudaLaunchHostFunc_v2_ptsz (
        stream: u64, function: u64, data: u64, mode: u32
    ) = cuLaunchHostFunc_v2 / cuLaunchHostFunc_v2_ptsz;
    Context fn cudaCtxResetPersistingL2Cache() = cuCtxResetPersistingL2Cache;

    Context fn cudaStreamBeginCapture / cudaStreamBeginCapture_ptsz (stream: u64, mode: u32)
        = cuStreamBeginCapture_v2 / cuStreamBeginCapture_v2_ptsz;
    Context fn cudaStreamBeginCaptureToGraph / cudaStreamBeginCaptureToGraph_ptsz (
        stream: u64, graph: u64, dependencies: u64, edges: u64, count: u64, mode: u32
    ) = cuStreamBeginCaptureToGraph / cuStreamBeginCaptureToGraph_ptsz;
    Context fn cudaStreamIsCapturing / cudaStreamIsCapturing_ptsz (stream: u64, status: u64)
        = cuStreamIsCapturing / cuStreamIsCapturing_ptsz;
    Context fn cudaStreamGetCaptureInfo / cudaStreamGetCaptureInfo_ptsz (
        stream: u64, status: u64, id: u64, graph: u64, dependencies: u64, edges: u64, count: u64
    ) = cuStreamGetCaptureInfo_v3 / cuStreamGetCaptureInfo_v3_ptsz;
    Context fn cudaStreamGetCaptureInfo_v3 / cudaStreamGetCaptureInfo_v3_ptsz (
        stream: u64, status: u64, id: u64, graph: u64, dependencies: u64, edges: u64, count: u64
    ) = cuStreamGetCaptureInfo_v3 / cuStreamGetCaptureInfo_v3_ptsz;
    Context fn cudaStreamGetCaptureInfo_v2 / cudaStreamGetCaptureInfo_v2_ptsz (
        stream: u64, status: u64, id: u64, graph: u64, dependencies: u64, count: u64
    ) = cuStreamGetCaptureInfo_v2 / cuStreamGetCaptureInfo_v2_ptsz;
    Context fn cudaStreamGetCaptureInfo_in_12 / cudaStreamGetCaptureInfo_ptsz_in_12 (
        stream: u64, status: u64, id: u64
    ) = cuStreamGetCaptureInfo / cuStreamGetCaptureInfo_ptsz;
    Context fn cudaStreamUpdateCaptureDependencies / cudaStreamUpdateCaptureDependencies_ptsz (
        stream: u64, dependencies: u64, edges: u64, count: u64, flags: u32
    ) = cuStreamUpdateCaptureDependencies_v2 / cuStreamUpdateCaptureDependencies_v2_ptsz;
    Context fn cudaStreamUpdateCaptureDependencies_v2 / cudaStreamUpdateCaptureDependencies_v2_ptsz (
        stream: u64, dependencies: u64, edges: u64, count: u64, flags: u32
    ) = cuStreamUpdateCaptureDependencies_v2 / cuStreamUpdateCaptureDependencies_v2_ptsz;
    Context fn cudaStreamUpdateCaptureDependencies_in_12 / cudaStreamUpdateCaptureDependencies_ptsz_in_12 (
        stream: u64, dependencies: u64, count: u64, flags: u32
    ) = cuStreamUpdateCaptureDependencies / cuStreamUpdateCaptureDependencies_ptsz;
    Context fn cudaThreadExchangeStreamCaptureMode(mode: u64) = cuThreadExchangeStreamCaptureMode;

    Context fn cudaEventCreateWithFlags(out: u64, flags: u32) = cuEventCreate;
    Context fn cudaEventDestroy(event: u64) = cuEventDestroy_v2;
    Context fn cudaEventQuery(event: u64) = cuEventQuery;
    Context fn cudaEventSynchronize(event: u64) = cuEventSynchronize;
    Context fn cudaEventRecord / cudaEventRecord_ptsz (event: u64, stream: u64)
        = cuEventRecord / cuEventRecord_ptsz;
    Context fn cudaEventRecordWithFlags / cudaEventRecordWithFlags_ptsz (event: u64, stream: u64, flags: u32)
        = cuEventRecordWithFlags / cuEventRecordWithFlags_ptsz;
    Context fn cudaEventElapsedTime(milliseconds: u64, start: u64, end: u64) = cuEventElapsedTime_v2;
    Context fn cudaEventElapsedTime_v2(milliseconds: u64, start: u64, end: u64) = cuEventElapsedTime_v2;
    Context fn cudaEventElapsedTime_in_12(milliseconds: u64, start: u64, end: u64) = cuEventElapsedTime;

    Context fn cudaIpcGetEventHandle(out: u64, event: u64) = cuIpcGetEventHandle;
    Context fn cudaIpcOpenEventHandle(event: u64, handle: IpcHandle) = cuIpcOpenEventHandle;
    Context fn cudaIpcGetMemHandle(out: u64, address: u64) = cuIpcGetMemHandle;
    Context fn cudaIpcOpenMemHandle(address: u64, handle: IpcHandle, flags: u32) = cuIpcOpenMemHandle_v2;
    Context fn cudaIpcCloseMemHandle(address: u64) = cuIpcCloseMemHandle;
}

api! {
    Context Inherits fn cudaStreamCreate(out: Out<u64>) {
        checked(cu::cuStreamCreate(out.address(), 0))
    }

    /// A program that captures into a graph of its own may pass no pointer, which the driver refuses.
    Context Inherits fn cudaStreamEndCapture / cudaStreamEndCapture_ptsz (stream: u64, graph: Out<u64>) |own| {
        let mut found = 0;
        let code = cu::cuStreamEndCapture(stream_of(stream, own), &mut found);
        graph.set(found);
        checked(code)
    }

    Context Inherits fn cudaEventCreate(out: Out<u64>) {
        checked(cu::cuEventCreate(out.address(), 0))
    }
}

/// The stream that a null handle means for the two variants of a function.
pub(super) fn stream_of(stream: u64, own: bool) -> u64 {
    if own && stream == 0 { special::PER_THREAD } else { stream }
}
