/* The three modes of capture crossed with calls, from the capturing thread and from another. */
#include "graph_kit.h"
#include <pthread.h>

/* What the calls need; made before the capture begins, anew for each call. */
static struct {
    CUdeviceptr spare, managed, async;
    void *pinned, *pageable;
    CUmodule module;
    CUstream stream;
    CUevent captured, never, timing, timing2;
    CUgraph graph;
    CUgraphExec exec;
    CUmemoryPool pool;
} X;
static char bytes[256];
static unsigned data;

static void CUDA_CB nothing(void *p) { (void)p; }
static void CUDA_CB nothing_called(CUstream s, CUresult status, void *p) { (void)s, (void)status, (void)p; }

static const CUmemPoolProps pinned_pool = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};

static CUresult launch_in(CUstream s) {
    return R(cuLaunchKernel, K.empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
}
static CUresult batch_in(CUstream s)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = K.p;
    return R(cuStreamBatchMemOp, s, 1, &op, 0);
}
static CUmemLocation here(void) { return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}; }

static CUresult vmm_create(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = here()};
    return R(cuMemCreate, (CUmemGenericAllocationHandle *)bytes, 2 << 20, &prop, 0);
}

/* Calls: a name and an expression. */
#define CALLS(C) \
    /* In the capturing stream. */ \
    C(launch, launch_in(K.s)) \
    C(memset, R(cuMemsetD8Async, K.p, 1, 64, K.s)) \
    C(memset2d, R(cuMemsetD2D32Async, K.p, 64, 1, 4, 4, K.s)) \
    C(memset_zero, R(cuMemsetD8Async, K.p, 1, 0, K.s)) \
    C(htod_pageable, R(cuMemcpyHtoDAsync, K.p, X.pageable, 64, K.s)) \
    C(htod_pinned, R(cuMemcpyHtoDAsync, K.p, X.pinned, 64, K.s)) \
    C(dtoh_pageable, R(cuMemcpyDtoHAsync, X.pageable, K.p, 64, K.s)) \
    C(dtoh_pinned, R(cuMemcpyDtoHAsync, X.pinned, K.p, 64, K.s)) \
    C(dtod, R(cuMemcpyDtoDAsync, K.p, K.p + 1024, 64, K.s)) \
    C(copy_zero, R(cuMemcpyDtoDAsync, K.p, K.p + 1024, 0, K.s)) \
    C(copy_any, R(cuMemcpyAsync, K.p, K.p + 1024, 64, K.s)) \
    C(copy_bad, R(cuMemcpyDtoDAsync, 16, K.p, 64, K.s)) \
    C(copy_peer, R(cuMemcpyPeerAsync, K.p, K.context, K.far, K.other, 64, K.s)) \
    C(copy_peer_same, R(cuMemcpyPeerAsync, K.p, K.context, K.p + 1024, K.context, 64, K.s)) \
    C(hostfunc, R(cuLaunchHostFunc, K.s, nothing, NULL)) \
    C(hostfunc_null, R(cuLaunchHostFunc, K.s, NULL, NULL)) \
    C(callback, R(cuStreamAddCallback, K.s, nothing_called, NULL, 0)) \
    C(alloc_async, R(cuMemAllocAsync, &X.async, 64, K.s)) \
    C(alloc_async_zero, R(cuMemAllocAsync, &X.async, 0, K.s)) \
    C(alloc_frompool, R(cuMemAllocFromPoolAsync, &X.async, 64, X.pool, K.s)) \
    C(free_async, R(cuMemFreeAsync, X.async, K.s)) \
    C(free_async_plain, R(cuMemFreeAsync, X.spare, K.s)) \
    C(prefetch, R(cuMemPrefetchAsync, X.managed, 4096, here(), 0, K.s)) \
    C(attach, R(cuStreamAttachMemAsync, K.s, X.managed, 0, CU_MEM_ATTACH_GLOBAL)) \
    C(attach_single, R(cuStreamAttachMemAsync, K.s, X.managed, 0, CU_MEM_ATTACH_SINGLE)) \
    C(wait32, R(cuStreamWaitValue32, K.s, K.p, 0, CU_STREAM_WAIT_VALUE_EQ)) \
    C(write32, R(cuStreamWriteValue32, K.s, K.p, 0, 0)) \
    C(write64, R(cuStreamWriteValue64, K.s, K.p, 0, 0)) \
    C(batch, batch_in(K.s)) \
    C(graphlaunch, R(cuGraphLaunch, X.exec, K.s)) \
    C(graphupload, R(cuGraphUpload, X.exec, K.s)) \
    C(record, R(cuEventRecord, K.e, K.s)) \
    C(record_flags0, R(cuEventRecordWithFlags, K.e, K.s, 0)) \
    C(record_external, R(cuEventRecordWithFlags, K.e, K.s, CU_EVENT_RECORD_EXTERNAL)) \
    C(record_timing, R(cuEventRecord, X.timing, K.s)) \
    C(record_badflags, R(cuEventRecordWithFlags, K.e, K.s, 9)) \
    C(record_null, R(cuEventRecord, NULL, K.s)) \
    C(wait_never, R(cuStreamWaitEvent, K.s, X.never, 0)) \
    C(wait_ended, R(cuStreamWaitEvent, K.s, K.ended, 0)) \
    C(wait_captured, R(cuStreamWaitEvent, K.s, X.captured, 0)) \
    C(wait_ended_external, R(cuStreamWaitEvent, K.s, K.ended, CU_EVENT_WAIT_EXTERNAL)) \
    C(wait_never_external, R(cuStreamWaitEvent, K.s, X.never, CU_EVENT_WAIT_EXTERNAL)) \
    C(wait_captured_external, R(cuStreamWaitEvent, K.s, X.captured, CU_EVENT_WAIT_EXTERNAL)) \
    C(wait_badflags, R(cuStreamWaitEvent, K.s, K.ended, 9)) \
    C(query, R(cuStreamQuery, K.s)) \
    C(sync, R(cuStreamSynchronize, K.s)) \
    C(begin, R(cuStreamBeginCapture, K.s, CU_STREAM_CAPTURE_MODE_RELAXED)) \
    C(getflags, R(cuStreamGetFlags, K.s, &data)) \
    C(getpriority, R(cuStreamGetPriority, K.s, (int *)bytes)) \
    C(getattribute, R(cuStreamGetAttribute, K.s, CU_STREAM_ATTRIBUTE_PRIORITY, (CUstreamAttrValue *)bytes)) \
    C(setattribute, R(cuStreamSetAttribute, K.s, CU_STREAM_ATTRIBUTE_PRIORITY, (CUstreamAttrValue *)bytes)) \
    C(getid, R(cuStreamGetId, K.s, (unsigned long long *)bytes)) \
    C(getctx, R(cuStreamGetCtx, K.s, (CUcontext *)bytes)) \
    C(getdevice, R(cuStreamGetDevice, K.s, (CUdevice *)bytes)) \
    C(copyattributes, R(cuStreamCopyAttributes, K.s, K.t)) \
    /* In other streams. */ \
    C(legacy_launch, launch_in(NULL)) \
    C(legacy_memset, R(cuMemsetD8Async, K.p, 1, 64, NULL)) \
    C(legacy_hostfunc, R(cuLaunchHostFunc, NULL, nothing, NULL)) \
    C(legacy_record, R(cuEventRecord, K.e, NULL)) \
    C(legacy_wait_ended, R(cuStreamWaitEvent, NULL, K.ended, 0)) \
    C(legacy_wait_captured, R(cuStreamWaitEvent, NULL, X.captured, 0)) \
    C(legacy_query, R(cuStreamQuery, NULL)) \
    C(legacy_sync, R(cuStreamSynchronize, NULL)) \
    C(legacy_iscapturing, R(cuStreamIsCapturing, NULL, (CUstreamCaptureStatus *)bytes)) \
    C(legacy_graphlaunch, R(cuGraphLaunch, X.exec, NULL)) \
    C(legacy_begin, R(cuStreamBeginCapture, NULL, CU_STREAM_CAPTURE_MODE_RELAXED)) \
    C(perthread_launch, launch_in(CU_STREAM_PER_THREAD)) \
    C(perthread_sync, R(cuStreamSynchronize, CU_STREAM_PER_THREAD)) \
    C(blocking_launch, launch_in(K.t)) \
    C(blocking_query, R(cuStreamQuery, K.t)) \
    C(blocking_sync, R(cuStreamSynchronize, K.t)) \
    C(blocking_record, R(cuEventRecord, K.e, K.t)) \
    C(blocking_graphlaunch, R(cuGraphLaunch, X.exec, K.t)) \
    C(nonblocking_launch, launch_in(K.free_stream)) \
    C(nonblocking_query, R(cuStreamQuery, K.free_stream)) \
    C(nonblocking_sync, R(cuStreamSynchronize, K.free_stream)) \
    C(nonblocking_allocasync, R(cuMemAllocAsync, &X.async, 64, K.free_stream)) \
    C(far_query, R(cuStreamQuery, K.farstream)) \
    C(far_sync, R(cuStreamSynchronize, K.farstream)) \
    C(stream_create, R(cuStreamCreate, &X.stream, 0)) \
    C(stream_destroy, R(cuStreamDestroy, X.stream)) \
    /* Events. */ \
    C(event_create, R(cuEventCreate, &X.never, 0)) \
    C(event_destroy, R(cuEventDestroy, X.never)) \
    C(event_destroy_captured, R(cuEventDestroy, X.captured)) \
    C(event_query_ended, R(cuEventQuery, K.ended)) \
    C(event_query_never, R(cuEventQuery, X.never)) \
    C(event_query_captured, R(cuEventQuery, X.captured)) \
    C(event_sync_ended, R(cuEventSynchronize, K.ended)) \
    C(event_sync_captured, R(cuEventSynchronize, X.captured)) \
    C(event_elapsed_ended, R(cuEventElapsedTime, (float *)bytes, X.timing, X.timing2)) \
    C(event_elapsed_captured, R(cuEventElapsedTime, (float *)bytes, X.timing, X.captured)) \
    C(event_ipc, R(cuIpcGetEventHandle, (CUipcEventHandle *)bytes, K.ended)) \
    /* Of the context, the device, memory, modules. */ \
    C(ctx_sync, R(cuCtxSynchronize)) \
    C(ctx_record, R(cuCtxRecordEvent, K.context, K.e)) \
    C(ctx_wait, R(cuCtxWaitEvent, K.context, K.ended)) \
    C(ctx_getcurrent, R(cuCtxGetCurrent, (CUcontext *)bytes)) \
    C(ctx_setlimit, R(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 2048)) \
    C(ctx_getlimit, R(cuCtxGetLimit, (size_t *)bytes, CU_LIMIT_STACK_SIZE)) \
    C(ctx_resetl2, R(cuCtxResetPersistingL2Cache)) \
    C(ctx_create, R(cuCtxCreate, (CUcontext *)bytes, NULL, 0, 0)) \
    C(device_attribute, R(cuDeviceGetAttribute, (int *)bytes, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0)) \
    C(device_trim, R(cuDeviceGraphMemTrim, 0)) \
    C(device_setpool, R(cuDeviceSetMemPool, 0, X.pool)) \
    C(primary_retain, R(cuDevicePrimaryCtxRetain, (CUcontext *)bytes, 0)) \
    C(mem_info, R(cuMemGetInfo, (size_t *)bytes, (size_t *)bytes + 1)) \
    C(mem_alloc, R(cuMemAlloc, &X.spare, 64)) \
    C(mem_alloc_zero, R(cuMemAlloc, &X.spare, 0)) \
    C(mem_alloc_null, R(cuMemAlloc, NULL, 64)) \
    C(mem_pitch, R(cuMemAllocPitch, &X.spare, (size_t *)bytes, 64, 4, 4)) \
    C(mem_managed, R(cuMemAllocManaged, &X.spare, 64, CU_MEM_ATTACH_GLOBAL)) \
    C(mem_free, R(cuMemFree, X.spare)) \
    C(mem_free_null, R(cuMemFree, 0)) \
    C(mem_hostalloc, R(cuMemHostAlloc, &X.pinned, 64, 0)) \
    C(mem_allochost, R(cuMemAllocHost, &X.pinned, 64)) \
    C(mem_freehost, R(cuMemFreeHost, X.pinned)) \
    C(mem_register, R(cuMemHostRegister, X.pageable, 4096, 0)) \
    C(mem_range, R(cuMemGetAddressRange, (CUdeviceptr *)bytes, (size_t *)bytes + 1, K.p)) \
    C(mem_pointer, R(cuPointerGetAttribute, bytes, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, K.p)) \
    C(mem_reserve, R(cuMemAddressReserve, (CUdeviceptr *)bytes, 2 << 20, 0, 0, 0)) \
    C(mem_advise, R(cuMemAdvise, X.managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here())) \
    C(mem_ipc, R(cuIpcGetMemHandle, (CUipcMemHandle *)bytes, K.p)) \
    C(pool_trim, R(cuMemPoolTrimTo, X.pool, 0)) \
    C(pool_attribute, R(cuMemPoolGetAttribute, X.pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, bytes)) \
    C(pool_set, R(cuMemPoolSetAttribute, X.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, bytes)) \
    C(pool_create, R(cuMemPoolCreate, &X.pool, &pinned_pool)) \
    C(pool_destroy, R(cuMemPoolDestroy, X.pool)) \
    C(copy_htod, R(cuMemcpyHtoD, K.p, X.pageable, 64)) \
    C(copy_htod_zero, R(cuMemcpyHtoD, K.p, X.pageable, 0)) \
    C(copy_dtoh, R(cuMemcpyDtoH, X.pageable, K.p, 64)) \
    C(copy_dtod, R(cuMemcpyDtoD, K.p, K.p + 1024, 64)) \
    C(copy_sync, R(cuMemcpy, K.p, K.p + 1024, 64)) \
    C(set_d8, R(cuMemsetD8, K.p, 0, 64)) \
    C(set_d32, R(cuMemsetD32, K.p, 0, 16)) \
    C(module_load, R(cuModuleLoadData, &X.module, ptx_params)) \
    C(module_unload, R(cuModuleUnload, X.module)) \
    C(module_function, R(cuModuleGetFunction, (CUfunction *)bytes, K.module, "scale")) \
    C(module_global, R(cuModuleGetGlobal, (CUdeviceptr *)bytes, (size_t *)bytes + 1, K.module, "g_counter")) \
    C(library_load, R(cuLibraryLoadData, (CUlibrary *)bytes, ptx_params, NULL, NULL, 0, NULL, NULL, 0)) \
    C(function_attribute, R(cuFuncGetAttribute, (int *)bytes, CU_FUNC_ATTRIBUTE_NUM_REGS, K.fill)) \
    C(function_setattribute, \
        R(cuFuncSetAttribute, K.fill, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 0)) \
    C(occupancy, R(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *)bytes, K.fill, 64, 0)) \
    C(array_create, array_create()) \
    /* Graphs. */ \
    C(graph_create, R(cuGraphCreate, (CUgraph *)bytes, 0)) \
    C(graph_clone, R(cuGraphClone, (CUgraph *)bytes, X.graph)) \
    C(graph_destroy, R(cuGraphDestroy, X.graph)) \
    C(graph_instantiate, R(cuGraphInstantiate, (CUgraphExec *)bytes, X.graph, 0)) \
    C(graph_update, R(cuGraphExecUpdate, X.exec, X.graph, (CUgraphExecUpdateResultInfo *)(void *)bytes)) \
    C(graph_execdestroy, R(cuGraphExecDestroy, X.exec)) \
    C(graph_execset, R(cuGraphExecGetFlags, X.exec, (cuuint64_t *)bytes)) \
    C(graph_addnode, R(cuGraphAddEmptyNode, (CUgraphNode *)bytes, X.graph, NULL, 0)) \
    C(link_create, R(cuLinkCreate, 0, NULL, NULL, (CUlinkState *)bytes)) \
    C(vmm_create, vmm_create()) \
    C(host_pointer, R(cuMemHostGetDevicePointer, (CUdeviceptr *)bytes, X.pinned, 0)) \
    C(graph_memattribute, R(cuDeviceGetGraphMemAttribute, 0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, bytes))

static CUresult array_create(void)
{
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = 16, .Height = 1, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    return R(cuArrayCreate, (CUarray *)bytes, &d);
}

enum {
#define C(name, call) CALL_##name,
    CALLS(C)
#undef C
    CALL_COUNT
};
static const char *const call_names[] = {
#define C(name, call) #name,
    CALLS(C)
#undef C
};

static CUresult call(int which)
{
    switch (which) {
#define C(name, call) case CALL_##name: return call;
    CALLS(C)
#undef C
    }
    return CUDA_ERROR_UNKNOWN;
}

struct far_call { int which; CUresult status; };

static void *call_far(void *of)
{
    struct far_call *f = of;
    R(cuCtxSetCurrent, K.context);
    f->status = call(f->which);
    return NULL;
}

static void prepare(void)
{
    R(cuMemAlloc, &X.spare, 64);
    R(cuMemAllocManaged, &X.managed, 4096, CU_MEM_ATTACH_GLOBAL);
    R(cuMemAllocAsync, &X.async, 64, K.s);
    R(cuMemHostAlloc, &X.pinned, 4096, 0);
    X.pageable = aligned_alloc(4096, 4096);
    R(cuModuleLoadData, &X.module, ptx_params);
    R(cuStreamCreate, &X.stream, 0);
    R(cuEventCreate, &X.captured, 0);
    R(cuEventCreate, &X.never, 0);
    R(cuEventCreate, &X.timing, 0);
    R(cuEventCreate, &X.timing2, 0);
    R(cuEventRecord, X.timing, K.s);
    R(cuEventRecord, X.timing2, K.s);
    X.graph = single(NULL);
    X.exec = executable(X.graph);
    R(cuMemPoolCreate, &X.pool, &pinned_pool);
    R(cuCtxSynchronize);
}

/* Each call during a capture of K.s; then whether it captures still, how it ends, and its nodes. */
static void all_calls(CUstreamCaptureMode mode, int other_thread)
{
    kit();
    for (int i = 0; i < CALL_COUNT; i++) {
        CUgraph g = NULL;
        CUstreamCaptureStatus status = 9;
        CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
        prepare();
        R(cuStreamBeginCapture, K.s, mode);
        launch_in(K.s);
        R(cuEventRecord, X.captured, K.s);
        if (begin(call_names[i])) {
            struct far_call far = {i, CUDA_ERROR_UNKNOWN};
            pthread_t thread;
            if (other_thread) {
                pthread_create(&thread, NULL, call_far, &far);
                pthread_join(thread, NULL);
            } else
                far.status = call(i);
            report(far.status);
        } else
            skipped();
        R(cuStreamIsCapturing, K.s, &status);
        CUresult ended = R(cuStreamEndCapture, K.s, &g);
        V(N("%s.after", call_names[i]), "%d %s nodes=%zu", (int)status, error_name(ended), node_count(g));
        /* Clears the thread's current context, which the call may have changed. */
        R(cuThreadExchangeStreamCaptureMode, &relaxed);
        R(cuThreadExchangeStreamCaptureMode, &relaxed);
        R(cuCtxSetCurrent, K.context);
        R(cuDeviceSetMemPool, 0, NULL);
        if (g)
            R(cuGraphDestroy, g);
    }
    T("end.sync", cuCtxSynchronize);
}

void group_capglobal(void) { all_calls(CU_STREAM_CAPTURE_MODE_GLOBAL, 0); }
void group_capthread(void) { all_calls(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 0); }
void group_caprelaxed(void) { all_calls(CU_STREAM_CAPTURE_MODE_RELAXED, 0); }
void group_capglobalfar(void) { all_calls(CU_STREAM_CAPTURE_MODE_GLOBAL, 1); }
void group_capthreadfar(void) { all_calls(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1); }
void group_caprelaxedfar(void) { all_calls(CU_STREAM_CAPTURE_MODE_RELAXED, 1); }
