/* Streams, host functions, memory operations in streams, events. */
#include "probe.h"
#include <pthread.h>
#include <unistd.h>

static CUstream dead_stream(void)
{
    CUstream s = NULL;
    R(cuStreamCreate, &s, 0);
    R(cuStreamDestroy, s);
    return s;
}

void group_stream(void)
{
    CUstream s = NULL, n = NULL, p = NULL;
    unsigned flags = 99;
    int priority = -99;
    unsigned long long id = 0, id2 = 0;
    CUcontext context = setup(), x = NULL;
    CUdevice d = 77;
    T("create", cuStreamCreate, &s, 0);
    T("create.nonblocking", cuStreamCreate, &n, CU_STREAM_NON_BLOCKING);
    T("create.null", cuStreamCreate, NULL, 0);
    T("create.flags2", cuStreamCreate, &p, 2);
    T("create.flags3", cuStreamCreate, &p, 3);
    T("create.flagshigh", cuStreamCreate, &p, 0x80000000);
    T("flags", cuStreamGetFlags, s, &flags);
    V("flags.v", "%u", flags);
    T("flags.nonblocking", cuStreamGetFlags, n, &flags);
    V("flags.nonblocking.v", "%u", flags);
    T("flags.null", cuStreamGetFlags, NULL, &flags);
    V("flags.null.v", "%u", flags);
    T("flags.legacy", cuStreamGetFlags, CU_STREAM_LEGACY, &flags);
    V("flags.legacy.v", "%u", flags);
    T("flags.perthread", cuStreamGetFlags, CU_STREAM_PER_THREAD, &flags);
    V("flags.perthread.v", "%u", flags);
    T("flags.nullout", cuStreamGetFlags, s, NULL);
    static const int priorities[] = {-100, -6, -5, -4, -3, -2, -1, 0, 1, 100};
    for (size_t i = 0; i < COUNT(priorities); i++) {
        T(N("priority.%d", priorities[i]), cuStreamCreateWithPriority, &p, 0, priorities[i]);
        R(cuStreamGetPriority, p, &priority);
        V(N("priority.%d.v", priorities[i]), "%d", priority);
        R(cuStreamDestroy, p);
    }
    T("priority.null", cuStreamCreateWithPriority, NULL, 0, 0);
    T("priority.badflags", cuStreamCreateWithPriority, &p, 2, 0);
    T("getpriority", cuStreamGetPriority, s, &priority);
    V("getpriority.v", "%d", priority);
    T("getpriority.nullstream", cuStreamGetPriority, NULL, &priority);
    V("getpriority.nullstream.v", "%d", priority);
    T("getpriority.nullout", cuStreamGetPriority, s, NULL);
    T("getctx", cuStreamGetCtx, s, &x);
    V("getctx.same", "%d", x == context);
    x = NULL;
    T("getctx.nullstream", cuStreamGetCtx, NULL, &x);
    V("getctx.nullstream.same", "%d", x == context);
    T("getctx.nullout", cuStreamGetCtx, s, NULL);
    CUgreenCtx green = (CUgreenCtx)1;
    x = (CUcontext)1;
    T("getctx2", cuStreamGetCtx_v2, s, &x, &green);
    V("getctx2.v", "%d %d", x == context, green == NULL);
    T("getdevice", cuStreamGetDevice, s, &d);
    V("getdevice.v", "%d", d);
    T("getdevice.nullstream", cuStreamGetDevice, NULL, &d);
    T("id", cuStreamGetId, s, &id);
    T("id.other", cuStreamGetId, n, &id2);
    V("id.differ", "%d", id != id2);
    T("id.legacy", cuStreamGetId, NULL, &id);
    V("id.legacy.v", "%llu", id);
    T("id.perthread", cuStreamGetId, CU_STREAM_PER_THREAD, &id);
    M("id.perthread.v", "%llu", id);
    T("id.nullout", cuStreamGetId, s, NULL);
    T("query", cuStreamQuery, s);
    T("query.null", cuStreamQuery, NULL);
    T("query.legacy", cuStreamQuery, CU_STREAM_LEGACY);
    T("query.perthread", cuStreamQuery, CU_STREAM_PER_THREAD);
    T("sync", cuStreamSynchronize, s);
    T("sync.null", cuStreamSynchronize, NULL);
    T("sync.garbage", cuStreamSynchronize, (CUstream)0x1234);
    CUstreamCaptureStatus status = 9;
    T("iscapturing", cuStreamIsCapturing, s, &status);
    V("iscapturing.v", "%d", (int)status);
    T("iscapturing.null", cuStreamIsCapturing, NULL, &status);
    T("iscapturing.nullout", cuStreamIsCapturing, s, NULL);
    T("captureinfo", cuStreamGetCaptureInfo, s, &status, NULL, NULL, NULL, NULL, NULL);
    V("captureinfo.v", "%d", (int)status);
    T("captureinfo.nullstatus", cuStreamGetCaptureInfo, s, NULL, NULL, NULL, NULL, NULL, NULL);
    T("endcapture.none", cuStreamEndCapture, s, (CUgraph *)&p);
    CUstreamAttrValue value;
    for (int a = 0; a <= 12; a++) {
        memset(&value, 0, sizeof value);
        T(N("attr.%d", a), cuStreamGetAttribute, s, a, &value);
    }
    T("attr.nullout", cuStreamGetAttribute, s, CU_STREAM_ATTRIBUTE_PRIORITY, NULL);
    memset(&value, 0, sizeof value);
    value.priority = -2;
    T("setattr.priority", cuStreamSetAttribute, s, CU_STREAM_ATTRIBUTE_PRIORITY, &value);
    R(cuStreamGetPriority, s, &priority);
    V("setattr.priority.v", "%d", priority);
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    T("setattr.syncpolicy", cuStreamSetAttribute, s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value);
    T("setattr.bad", cuStreamSetAttribute, s, 99, &value);
    T("copyattributes", cuStreamCopyAttributes, n, s);
    T("destroy", cuStreamDestroy, s);
    T("destroy.nonblocking", cuStreamDestroy, n);
    T("destroy.null", cuStreamDestroy, NULL);
    T("destroy.legacy", cuStreamDestroy, CU_STREAM_LEGACY);
    T("destroy.perthread", cuStreamDestroy, CU_STREAM_PER_THREAD);
    T("ctxsync", cuCtxSynchronize);
}

static void *flag_setter(void *flag)
{
    usleep(200000);
    *(volatile unsigned *)flag = 1;
    return NULL;
}

/* Which streams wait for each other: a kernel that waits for a host flag, and a query after work in
 * another stream. */
void group_streamdef(void)
{
    unsigned *flag = NULL, *out = NULL;
    CUstream blocking = NULL, nonblocking = NULL, other = NULL;
    setup();
    CUmodule m = load(ptx_main);
    CUfunction wait = function(m, "waitflag"), empty = function(m, "empty");
    R(cuMemHostAlloc, (void **)&flag, 64, 0);
    R(cuMemHostAlloc, (void **)&out, 64, 0);
    R(cuStreamCreate, &blocking, 0);
    R(cuStreamCreate, &other, 0);
    R(cuStreamCreate, &nonblocking, CU_STREAM_NON_BLOCKING);
    R(cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, blocking, NULL, NULL);
    R(cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, nonblocking, NULL, NULL);
    R(cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, NULL);
    R(cuCtxSynchronize);
    const struct { const char *name; CUstream first, second; } pairs[] = {
        {"legacy.then.blocking", NULL, blocking}, {"legacy.then.nonblocking", NULL, nonblocking},
        {"legacy.then.perthread", NULL, CU_STREAM_PER_THREAD}, {"blocking.then.legacy", blocking, NULL},
        {"nonblocking.then.legacy", nonblocking, NULL}, {"perthread.then.legacy", CU_STREAM_PER_THREAD, NULL},
        {"perthread.then.blocking", CU_STREAM_PER_THREAD, blocking}, {"blocking.then.other", blocking, other},
        {"blocking.then.nonblocking", blocking, nonblocking}, {"explicitlegacy.then.blocking", CU_STREAM_LEGACY, blocking}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        *flag = 0;
        *out = 77;
        void *args[] = {&flag, &out};
        T(N("%s.launch", pairs[i].name), cuLaunchKernel, wait, 1, 1, 1, 1, 1, 1, 0, pairs[i].first, args, NULL);
        R(cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, pairs[i].second, NULL, NULL);
        usleep(50000);
        T(N("%s.query.first", pairs[i].name), cuStreamQuery, pairs[i].first);
        T(N("%s.query.second", pairs[i].name), cuStreamQuery, pairs[i].second);
        pthread_t thread;
        pthread_create(&thread, NULL, flag_setter, flag);
        T(N("%s.sync", pairs[i].name), cuStreamSynchronize, pairs[i].second);
        V(N("%s.waited", pairs[i].name), "%d", *flag == 1);
        pthread_join(thread, NULL);
        R(cuCtxSynchronize);
        V(N("%s.out", pairs[i].name), "%u", *out);
    }
    /* Destroying a busy stream lets its work finish. */
    *flag = 0;
    *out = 77;
    void *args[] = {&flag, &out};
    R(cuLaunchKernel, wait, 1, 1, 1, 1, 1, 1, 0, other, args, NULL);
    T("busy.query", cuStreamQuery, other);
    T("busy.destroy", cuStreamDestroy, other);
    V("busy.destroy.returns.early", "%d", *out == 77);
    *flag = 1;
    T("busy.ctxsync", cuCtxSynchronize);
    V("busy.out", "%u", *out);
}

static int order[16], order_count;

static void CUDA_CB host_function(void *data)
{
    order[order_count++ & 15] = (int)(intptr_t)data;
}

static CUresult inside[4];

static void CUDA_CB calling_function(void *data)
{
    CUdeviceptr p;
    (void)data;
    inside[0] = R(cuMemAlloc, &p, 16);
    inside[1] = R(cuStreamQuery, NULL);
    inside[2] = R(cuCtxSynchronize);
    int n;
    inside[3] = R(cuDeviceGetCount, &n);
}

static int callback_status = 99, callback_data;

static void CUDA_CB callback(CUstream s, CUresult status, void *data)
{
    (void)s;
    callback_status = (int)status;
    callback_data = (int)(intptr_t)data;
}

void group_hostfn(void)
{
    CUstream s = NULL;
    setup();
    R(cuStreamCreate, &s, 0);
    T("null.fn", cuLaunchHostFunc, s, NULL, NULL);
    T("one", cuLaunchHostFunc, s, host_function, (void *)1);
    T("two", cuLaunchHostFunc, s, host_function, (void *)2);
    T("legacy", cuLaunchHostFunc, NULL, host_function, (void *)3);
    T("sync", cuCtxSynchronize);
    V("order", "%d %d %d n=%d", order[0], order[1], order[2], order_count);
    T("calling", cuLaunchHostFunc, s, calling_function, NULL);
    T("calling.sync", cuStreamSynchronize, s);
    static const char *const what[] = {"inside.memalloc", "inside.streamquery", "inside.ctxsync", "inside.devicecount"};
    for (int i = 0; i < 4; i++) {
        begin(what[i]);
        report(inside[i]);
    }
    T("callback", cuStreamAddCallback, s, callback, (void *)5, 0);
    T("callback.sync", cuStreamSynchronize, s);
    V("callback.v", "%d %d", callback_status, callback_data);
    T("callback.flags", cuStreamAddCallback, s, callback, NULL, 1);
    T("callback.null", cuStreamAddCallback, s, NULL, NULL, 0);
    T("destroyed.order", cuLaunchHostFunc, s, host_function, (void *)9);
    T("destroy", cuStreamDestroy, s);
    T("end.sync", cuCtxSynchronize);
    V("end.count", "%d", order_count);
}

void group_memop(void)
{
    CUdeviceptr p = 0;
    CUstream s = NULL;
    unsigned host[4] = {0};
    setup();
    R(cuStreamCreate, &s, 0);
    R(cuMemAlloc, &p, 256);
    R(cuMemsetD8, p, 0, 256);
    T("write32", cuStreamWriteValue32, s, p, 5, 0);
    T("wait32.geq", cuStreamWaitValue32, s, p, 5, CU_STREAM_WAIT_VALUE_GEQ);
    T("wait32.eq", cuStreamWaitValue32, s, p, 5, CU_STREAM_WAIT_VALUE_EQ);
    T("wait32.and", cuStreamWaitValue32, s, p, 4, CU_STREAM_WAIT_VALUE_AND);
    T("wait32.nor", cuStreamWaitValue32, s, p, 8, CU_STREAM_WAIT_VALUE_NOR);
    T("write64", cuStreamWriteValue64, s, p + 8, 0x100000002ULL, 0);
    T("wait64", cuStreamWaitValue64, s, p + 8, 0x100000002ULL, CU_STREAM_WAIT_VALUE_EQ);
    T("sync", cuStreamSynchronize, s);
    R(cuMemcpyDtoH, host, p, 16);
    V("v", "%u %u %u", host[0], host[2], host[3]);
    T("write32.unaligned", cuStreamWriteValue32, s, p + 1, 5, 0);
    T("write64.unaligned", cuStreamWriteValue64, s, p + 4, 5, 0);
    T("write32.badflags", cuStreamWriteValue32, s, p, 5, 0x100);
    T("wait32.badflags", cuStreamWaitValue32, s, p, 5, 0x100);
    T("write32.null", cuStreamWriteValue32, s, 0, 5, 0);
    T("write32.garbage", cuStreamWriteValue32, s, 0x1230, 5, 0);
    T("write32.nobarrier", cuStreamWriteValue32, s, p, 5, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    T("write32.legacy", cuStreamWriteValue32, NULL, p, 6, 0);
    CUstreamBatchMemOpParams ops[2];
    memset(ops, 0, sizeof ops);
    ops[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = p;
    ops[0].writeValue.value = 9;
    ops[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[1].waitValue.address = p;
    ops[1].waitValue.value = 9;
    ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    T("batch", cuStreamBatchMemOp, s, 2, ops, 0);
    T("batch.zero", cuStreamBatchMemOp, s, 0, ops, 0);
    T("batch.null", cuStreamBatchMemOp, s, 1, NULL, 0);
    T("batch.flags", cuStreamBatchMemOp, s, 1, ops, 1);
    T("batch.many", cuStreamBatchMemOp, s, 257, ops, 0);
    ops[0].operation = 99;
    T("batch.badop", cuStreamBatchMemOp, s, 1, ops, 0);
    T("end.sync", cuStreamSynchronize, s);
}

void group_event(void)
{
    CUevent a = NULL, b = NULL, n = NULL, ipc = NULL, blocking = NULL;
    CUstream s = NULL;
    float ms = -1;
    unsigned *flag = NULL, *out = NULL;
    setup();
    R(cuStreamCreate, &s, 0);
    T("create", cuEventCreate, &a, 0);
    T("create2", cuEventCreate, &b, 0);
    T("create.notiming", cuEventCreate, &n, CU_EVENT_DISABLE_TIMING);
    T("create.blocking", cuEventCreate, &blocking, CU_EVENT_BLOCKING_SYNC);
    T("create.ipc.timing", cuEventCreate, &ipc, CU_EVENT_INTERPROCESS);
    T("create.ipc", cuEventCreate, &ipc, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    T("create.badflags", cuEventCreate, &ipc, 8);
    T("create.badflags2", cuEventCreate, &ipc, 0x100);
    T("create.null", cuEventCreate, NULL, 0);
    T("query.unrecorded", cuEventQuery, a);
    T("sync.unrecorded", cuEventSynchronize, a);
    T("elapsed.unrecorded", cuEventElapsedTime, &ms, a, b);
    T("wait.unrecorded", cuStreamWaitEvent, s, a, 0);
    T("record", cuEventRecord, a, s);
    T("sync", cuEventSynchronize, a);
    T("query", cuEventQuery, a);
    T("elapsed.half", cuEventElapsedTime, &ms, a, b);
    T("record.b", cuEventRecord, b, s);
    T("sync.b", cuEventSynchronize, b);
    T("elapsed", cuEventElapsedTime, &ms, a, b);
    V("elapsed.nonnegative", "%d", ms >= 0 && ms < 10000);
    T("elapsed.reversed", cuEventElapsedTime, &ms, b, a);
    V("elapsed.reversed.nonpositive", "%d", ms <= 0);
    T("elapsed.same", cuEventElapsedTime, &ms, a, a);
    V("elapsed.same.v", "%g", ms);
    T("elapsed.null", cuEventElapsedTime, NULL, a, b);
    T("elapsed.nullevent", cuEventElapsedTime, &ms, NULL, b);
    R(cuEventRecord, n, s);
    R(cuEventSynchronize, n);
    T("elapsed.notiming", cuEventElapsedTime, &ms, a, n);
    CUresult (*elapsed1)(float *, CUevent, CUevent) = (CUresult(*)(float *, CUevent, CUevent))S("cuEventElapsedTime");
    if (elapsed1) {
        begin("elapsed.v1");
        report(elapsed1(&ms, a, b));
        begin("elapsed.v1.notiming");
        report(elapsed1(&ms, a, n));
    }
    T("record.null", cuEventRecord, NULL, s);
    T("record.legacy", cuEventRecord, a, NULL);
    T("record.perthread", cuEventRecord, a, CU_STREAM_PER_THREAD);
    T("record.garbagestream", cuEventRecord, a, (CUstream)0x1234);
    T("record.garbage", cuEventRecord, (CUevent)0x1234, s);
    T("recordflags", cuEventRecordWithFlags, a, s, 0);
    T("recordflags.external", cuEventRecordWithFlags, a, s, CU_EVENT_RECORD_EXTERNAL);
    T("recordflags.bad", cuEventRecordWithFlags, a, s, 9);
    T("wait", cuStreamWaitEvent, NULL, a, 0);
    T("wait.flags", cuStreamWaitEvent, s, a, 1);
    T("wait.badflags", cuStreamWaitEvent, s, a, 9);
    T("wait.null", cuStreamWaitEvent, s, NULL, 0);
    T("query.null", cuEventQuery, NULL);
    T("sync.null", cuEventSynchronize, NULL);
    T("ctxrecord.null", cuCtxRecordEvent, NULL, a);
    /* An event after a kernel that waits for the host. */
    CUmodule m = load(ptx_main);
    CUfunction wait = function(m, "waitflag");
    R(cuMemHostAlloc, (void **)&flag, 64, 0);
    R(cuMemHostAlloc, (void **)&out, 64, 0);
    void *args[] = {&flag, &out};
    *flag = 1;
    R(cuLaunchKernel, wait, 1, 1, 1, 1, 1, 1, 0, s, args, NULL);
    R(cuCtxSynchronize);
    *flag = 0;
    R(cuEventRecord, a, s);
    R(cuLaunchKernel, wait, 1, 1, 1, 1, 1, 1, 0, s, args, NULL);
    R(cuEventRecord, b, s);
    usleep(50000);
    T("busy.query.a", cuEventQuery, a);
    T("busy.query.b", cuEventQuery, b);
    T("busy.elapsed", cuEventElapsedTime, &ms, a, b);
    T("busy.streamquery", cuStreamQuery, s);
    CUstream t = NULL;
    R(cuStreamCreate, &t, CU_STREAM_NON_BLOCKING);
    T("busy.wait", cuStreamWaitEvent, t, b, 0);
    T("busy.wait.query", cuStreamQuery, t);
    T("busy.destroy", cuEventDestroy, b);
    *flag = 1;
    T("busy.sync", cuStreamSynchronize, t);
    V("busy.out", "%u", *out);
    T("destroy", cuEventDestroy, a);
    T("destroy.null", cuEventDestroy, NULL);
    T("destroy.garbage", cuEventDestroy, (CUevent)0x1234);
    T("end.sync", cuCtxSynchronize);
}

/* Dead handles. Probes in which the driver dies are skipped and recorded as such. */
void group_dead(void)
{
    CUstream s;
    CUevent e = NULL;
    CUmodule m = NULL;
    CUgraph g = NULL;
    CUdeviceptr p = 0;
    unsigned flags;
    unsigned long long id;
    setup();
    R(cuMemAlloc, &p, 64);
    s = dead_stream();
    T("stream.sync", cuStreamSynchronize, s);
    T("stream.query", cuStreamQuery, s);
    T("stream.flags", cuStreamGetFlags, s, &flags);
    T("stream.id", cuStreamGetId, s, &id);
    T("stream.destroy", cuStreamDestroy, s);
    T("stream.memset", cuMemsetD8Async, p, 0, 16, s);
    CUmodule main_module = load(ptx_main);
    T("stream.launch", cuLaunchKernel, function(main_module, "empty"), 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
    R(cuEventCreate, &e, 0);
    T("stream.record", cuEventRecord, e, s);
    R(cuEventDestroy, e);
    T("event.query", cuEventQuery, e);
    T("event.sync", cuEventSynchronize, e);
    T("event.record", cuEventRecord, e, NULL);
    T("event.destroy", cuEventDestroy, e);
    R(cuModuleLoadData, &m, ptx_params);
    R(cuModuleUnload, m);
    T("module.unload", cuModuleUnload, m);
    CUfunction f;
    T("module.getfunction", cuModuleGetFunction, &f, m, "mixed");
    T("module.getglobal", cuModuleGetGlobal, &p, NULL, m, "g_counter");
    R(cuGraphCreate, &g, 0);
    R(cuGraphDestroy, g);
    T("graph.destroy", cuGraphDestroy, g);
    T("sync", cuCtxSynchronize);
}
