/* Green contexts: the device's multiprocessors in parts, contexts of such parts, and what runs in them. */
#include "words.h"

static const unsigned counts[] = {0, 1, 2, 7, 8, 9, 10, 15, 16, 17, 24, 32, 64, 66, 100, 128, 131, 132, 133,
    1000};

static void show(const char *name, unsigned n, const CUdevResource *parts, const CUdevResource *rest)
{
    V(name, "n=%u %d:%u,%u,%u %d:%u,%u,%u rest %d:%u,%u,%u", n, (int)parts[0].type, parts[0].sm.smCount,
        parts[0].sm.minSmPartitionSize, parts[0].sm.smCoscheduledAlignment, (int)parts[1].type,
        parts[1].sm.smCount,
        parts[1].sm.minSmPartitionSize, parts[1].sm.smCoscheduledAlignment, (int)rest->type, rest->sm.smCount,
        rest->sm.minSmPartitionSize, rest->sm.smCoscheduledAlignment);
}

/* Splitting the device's multiprocessors. */
void group_greensplit(void)
{
    static CUdevResource all, parts[64], rest, odd;
    unsigned n = 0;
    CUcontext context = setup();
    for (int type = -1; type <= 4; type++)
        T(N("device.%d", type), cuDeviceGetDevResource, 0, &all, type);
    T("device.1000", cuDeviceGetDevResource, 0, &all, 1000);
    T("device.10000", cuDeviceGetDevResource, 0, &all, 10000);
    T("device.null", cuDeviceGetDevResource, 0, NULL, 1);
    T("device.bad", cuDeviceGetDevResource, 99, &all, 1);
    T("context.null", cuCtxGetDevResource, NULL, &all, 1);
    T("context", cuCtxGetDevResource, context, &all, 1);
    T("device", cuDeviceGetDevResource, 0, &all, 1);
    M("device.count", "%u", all.sm.smCount);
    V("device.v", "%d %u %u", (int)all.type, all.sm.minSmPartitionSize, all.sm.smCoscheduledAlignment);
    for (unsigned flags = 0; flags <= 4; flags++)
        for (size_t i = 0; i < COUNT(counts); i++) {
            memset(parts, 0, sizeof parts);
            memset(&rest, 0, sizeof rest);
            n = 0;
            if (!T(N("groups.%u.%u", flags, counts[i]), cuDevSmResourceSplitByCount, NULL, &n, &all, NULL,
                flags, counts[i]))
                V(N("groups.%u.%u.v", flags, counts[i]), "%u", n);
            n = 2;
            T(N("split.%u.%u", flags, counts[i]), cuDevSmResourceSplitByCount, parts, &n, &all, &rest, flags,
                counts[i]);
            show(N("split.%u.%u.v", flags, counts[i]), n, parts, &rest);
        }
    n = 64;
    memset(parts, 0, sizeof parts);
    T("most", cuDevSmResourceSplitByCount, parts, &n, &all, &rest, 0, 8);
    show("most.v", n, parts, &rest);
    n = 2;
    T("norest", cuDevSmResourceSplitByCount, parts, &n, &all, NULL, 0, 8);
    T("nulln", cuDevSmResourceSplitByCount, parts, NULL, &all, &rest, 0, 8);
    T("nullinput", cuDevSmResourceSplitByCount, parts, &n, NULL, &rest, 0, 8);
    n = 0;
    T("zero", cuDevSmResourceSplitByCount, parts, &n, &all, &rest, 0, 8);
    V("zero.v", "%u", n);
    /* A part, its parts, what remained, and resources that the driver did not make. */
    n = 1;
    T("half", cuDevSmResourceSplitByCount, parts, &n, &all, &rest, 0, 32);
    odd = parts[0];
    for (size_t i = 0; i < 10; i++) {
        n = 2;
        memset(parts, 0, sizeof parts);
        memset(&rest, 0, sizeof rest);
        T(N("again.%u", counts[i]), cuDevSmResourceSplitByCount, parts, &n, &odd, &rest, 0, counts[i]);
        show(N("again.%u.v", counts[i]), n, parts, &rest);
    }
    memset(&odd, 0, sizeof odd);
    n = 1;
    T("empty", cuDevSmResourceSplitByCount, parts, &n, &odd, &rest, 0, 8);
    odd.type = 1;
    T("forged", cuDevSmResourceSplitByCount, parts, &n, &odd, &rest, 0, 8);
    odd.sm.smCount = 16;
    T("forged.count", cuDevSmResourceSplitByCount, parts, &n, &odd, &rest, 0, 8);
    odd = all;
    odd.type = 1000;
    T("othertype", cuDevSmResourceSplitByCount, parts, &n, &odd, &rest, 0, 8);
    odd.type = 0;
    T("notype", cuDevSmResourceSplitByCount, parts, &n, &odd, &rest, 0, 8);
    odd = all;
    odd.sm.smCount = 8;
    T("lesscount", cuDevSmResourceSplitByCount, parts, &n, &odd, &rest, 0, 32);
}

/* Descriptions of resources. */
void group_greendesc(void)
{
    static CUdevResource all, parts[8], rest, odd[2];
    CUdevResourceDesc desc = NULL;
    unsigned n = 4;
    setup();
    R(cuDeviceGetDevResource, 0, &all, 1);
    R(cuDevSmResourceSplitByCount, parts, &n, &all, &rest, 0, 8);
    T("one", cuDevResourceGenerateDesc, &desc, parts, 1);
    V("one.v", "%d", desc != NULL);
    T("two", cuDevResourceGenerateDesc, &desc, parts, 2);
    T("all", cuDevResourceGenerateDesc, &desc, &all, 1);
    T("rest", cuDevResourceGenerateDesc, &desc, &rest, 1);
    odd[0] = odd[1] = parts[0];
    T("twice", cuDevResourceGenerateDesc, &desc, odd, 2);
    odd[1] = all;
    T("overlap", cuDevResourceGenerateDesc, &desc, odd, 2);
    odd[0] = parts[0];
    odd[1] = rest;
    T("partrest", cuDevResourceGenerateDesc, &desc, odd, 2);
    T("null", cuDevResourceGenerateDesc, NULL, parts, 1);
    T("nullresources", cuDevResourceGenerateDesc, &desc, NULL, 1);
    T("zero", cuDevResourceGenerateDesc, &desc, parts, 0);
    T("nullzero", cuDevResourceGenerateDesc, &desc, NULL, 0);
    memset(odd, 0, sizeof odd);
    T("empty", cuDevResourceGenerateDesc, &desc, odd, 1);
    odd[0].type = 1;
    T("forged", cuDevResourceGenerateDesc, &desc, odd, 1);
    odd[0].type = 1000;
    T("othertype", cuDevResourceGenerateDesc, &desc, odd, 1);
    CUgreenCtx g = NULL;
    R(cuDevResourceGenerateDesc, &desc, parts, 1);
    for (unsigned flags = 0; flags <= 4; flags++)
        T(N("create.%u", flags), cuGreenCtxCreate, &g, desc, 0, flags);
    T("create.null", cuGreenCtxCreate, NULL, desc, 0, 1);
    T("create.nulldesc", cuGreenCtxCreate, &g, NULL, 0, 1);
    T("create.baddevice", cuGreenCtxCreate, &g, desc, 99, 1);
    T("create.negative", cuGreenCtxCreate, &g, desc, -1, 1);
    R(cuDevResourceGenerateDesc, &desc, &all, 1);
    T("create.all", cuGreenCtxCreate, &g, desc, 0, 1);
}

static CUgreenCtx make(unsigned count)
{
    static CUdevResource all, part;
    CUdevResourceDesc desc = NULL;
    CUgreenCtx g = NULL;
    unsigned n = 1;
    R(cuDeviceGetDevResource, 0, &all, 1);
    R(cuDevSmResourceSplitByCount, &part, &n, &all, NULL, 0, count);
    R(cuDevResourceGenerateDesc, &desc, &part, 1);
    R(cuGreenCtxCreate, &g, desc, 0, 1);
    return g;
}

static void show_ids(CUgreenCtx g, CUcontext c, CUcontext primary)
{
    unsigned long long id = 0, ctxid = 0, primaryid = 0;
    T("id", cuGreenCtxGetId, g, &id);
    R(cuCtxGetId, c, &ctxid);
    R(cuCtxGetId, primary, &primaryid);
    V("id.v", "context=%d primary=%d zero=%d", id == ctxid, id == primaryid, id == 0);
    T("id.null", cuGreenCtxGetId, NULL, &id);
    T("id.nullout", cuGreenCtxGetId, g, NULL);
    T("id.context", cuGreenCtxGetId, (CUgreenCtx)c, &id);
    V("id.context.v", "%d", id == ctxid);
}

/* A green context's properties, streams, events. */
void group_green(void)
{
    static CUdevResource r;
    CUcontext primary = setup(), c = NULL, c2 = NULL, x = NULL;
    CUgreenCtx g = make(8), none = (CUgreenCtx)1;
    CUstream s = NULL, t = NULL, plain = NULL;
    CUevent e = NULL, other = NULL;
    unsigned flags = 0, version = 0;
    int priority = 9;
    CUdevice d = -1;
    size_t limit = 0;
    T("context", cuCtxFromGreenCtx, &c, g);
    T("context.again", cuCtxFromGreenCtx, &c2, g);
    V("context.v", "same=%d primary=%d handle=%d", c == c2, c == primary, (void *)c == (void *)g);
    T("context.null", cuCtxFromGreenCtx, NULL, g);
    T("context.nullgreen", cuCtxFromGreenCtx, &x, NULL);
    show_ids(g, c, primary);
    for (int type = 0; type <= 3; type++)
        T(N("resource.%d", type), cuGreenCtxGetDevResource, g, &r, type);
    T("resource", cuGreenCtxGetDevResource, g, &r, 1);
    V("resource.v", "%d %u %u %u", (int)r.type, r.sm.smCount, r.sm.minSmPartitionSize,
        r.sm.smCoscheduledAlignment);
    T("resource.null", cuGreenCtxGetDevResource, NULL, &r, 1);
    T("resource.nullout", cuGreenCtxGetDevResource, g, NULL, 1);
    memset(&r, 0, sizeof r);
    T("ctxresource", cuCtxGetDevResource, c, &r, 1);
    V("ctxresource.v", "%u", r.sm.smCount);
    /* The context. */
    T("device", cuCtxGetDevice_v2, &d, c);
    V("device.v", "%d", d);
    T("version", cuCtxGetApiVersion, c, &version);
    V("version.v", "%u", version);
    T("setcurrent", cuCtxSetCurrent, c);
    x = NULL;
    T("getcurrent", cuCtxGetCurrent, &x);
    V("getcurrent.v", "%d", x == c);
    T("flags", cuCtxGetFlags, &flags);
    V("flags.v", "%u", flags);
    T("setflags", cuCtxSetFlags, 0);
    for (int i = 0; i <= 7; i++) {
        CUresult status = T(N("limit.%d", i), cuCtxGetLimit, &limit, i);
        if (!status)
            T(N("limit.%d.set", i), cuCtxSetLimit, i, limit);
    }
    T("setcache", cuCtxSetCacheConfig, CU_FUNC_CACHE_PREFER_L1);
    T("destroycontext", cuCtxDestroy, c);
    T("detach", cuCtxDetach, c);
    x = NULL;
    R(cuCtxGetCurrent, &x);
    V("detach.current", "%d", x == c);
    R(cuCtxSetCurrent, c);
    T("push", cuCtxPushCurrent, c);
    T("pop", cuCtxPopCurrent, &x);
    V("pop.v", "%d", x == c);
    /* Streams. */
    for (unsigned f = 0; f <= 3; f++)
        T(N("stream.%u", f), cuGreenCtxStreamCreate, &s, g, f, 0);
    T("stream", cuGreenCtxStreamCreate, &s, g, CU_STREAM_NON_BLOCKING, -1);
    T("stream.null", cuGreenCtxStreamCreate, NULL, g, CU_STREAM_NON_BLOCKING, 0);
    T("stream.nullgreen", cuGreenCtxStreamCreate, &t, NULL, CU_STREAM_NON_BLOCKING, 0);
    T("stream.low", cuGreenCtxStreamCreate, &t, g, CU_STREAM_NON_BLOCKING, 9);
    R(cuStreamGetPriority, t, &priority);
    V("stream.low.v", "%d", priority);
    T("stream.high", cuGreenCtxStreamCreate, &t, g, CU_STREAM_NON_BLOCKING, -99);
    R(cuStreamGetPriority, t, &priority);
    V("stream.high.v", "%d", priority);
    T("stream.flags", cuStreamGetFlags, s, &flags);
    V("stream.flags.v", "%u", flags);
    T("plain", cuStreamCreate, &plain, 0);
    T("plain.nonblocking", cuStreamCreate, &t, 1);
    T("plain.priority", cuStreamCreateWithPriority, &t, 1, -1);
    T("getgreen", cuStreamGetGreenCtx, s, &none);
    V("getgreen.v", "%d", none == g);
    none = (CUgreenCtx)1;
    T("getgreen.plain", cuStreamGetGreenCtx, plain, &none);
    V("getgreen.plain.v", "green=%d null=%d", none == g, none == NULL);
    none = (CUgreenCtx)1;
    T("getgreen.legacy", cuStreamGetGreenCtx, NULL, &none);
    V("getgreen.legacy.v", "green=%d null=%d", none == g, none == NULL);
    none = (CUgreenCtx)1;
    T("getgreen.perthread", cuStreamGetGreenCtx, CU_STREAM_PER_THREAD, &none);
    V("getgreen.perthread.v", "green=%d null=%d", none == g, none == NULL);
    T("getgreen.null", cuStreamGetGreenCtx, s, NULL);
    x = NULL;
    T("getctx", cuStreamGetCtx, s, &x);
    V("getctx.v", "green=%d primary=%d", x == c, x == primary);
    x = (CUcontext)1, none = (CUgreenCtx)1;
    T("getctx2", cuStreamGetCtx_v2, s, &x, &none);
    V("getctx2.v", "context=%d null=%d green=%d", x == c, x == NULL, none == g);
    x = (CUcontext)1, none = (CUgreenCtx)1;
    T("getctx2.legacy", cuStreamGetCtx_v2, NULL, &x, &none);
    V("getctx2.legacy.v", "context=%d null=%d green=%d", x == c, x == NULL, none == g);
    /* Events. */
    T("event", cuEventCreate, &e, 0);
    R(cuCtxSetCurrent, primary);
    R(cuEventCreate, &other, 0);
    R(cuStreamCreate, &t, 0);
    T("record", cuGreenCtxRecordEvent, g, e);
    T("record.sync", cuEventSynchronize, e);
    T("record.other", cuGreenCtxRecordEvent, g, other);
    T("record.null", cuGreenCtxRecordEvent, NULL, e);
    T("record.nullevent", cuGreenCtxRecordEvent, g, NULL);
    T("wait", cuGreenCtxWaitEvent, g, e);
    T("wait.other", cuGreenCtxWaitEvent, g, other);
    T("wait.null", cuGreenCtxWaitEvent, NULL, e);
    T("wait.nullevent", cuGreenCtxWaitEvent, g, NULL);
    T("ctxrecord", cuCtxRecordEvent, c, e);
    T("ctxrecord.other", cuCtxRecordEvent, c, other);
    T("ctxrecord.primary", cuCtxRecordEvent, primary, other);
    T("ctxrecord.crossed", cuCtxRecordEvent, primary, e);
    T("ctxrecord.null", cuCtxRecordEvent, NULL, other);
    T("ctxwait", cuCtxWaitEvent, c, e);
    T("ctxwait.other", cuCtxWaitEvent, c, other);
    T("ctxwait.primary", cuCtxWaitEvent, primary, other);
    T("ctxwait.crossed", cuCtxWaitEvent, primary, e);
    T("ctxwait.null", cuCtxWaitEvent, NULL, other);
    T("ctxwait.nullevent", cuCtxWaitEvent, c, NULL);
    T("eventrecord.other", cuEventRecord, other, s);
    T("eventrecord", cuEventRecord, e, s);
    T("eventrecord.primary", cuEventRecord, e, t);
    T("streamwait", cuStreamWaitEvent, t, e, 0);
    CUstreamCaptureStatus state = 9;
    CUgraph graph = NULL;
    T("capture", cuStreamBeginCapture, s, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("capture.record", cuGreenCtxRecordEvent, g, e);
    T("capture.wait", cuGreenCtxWaitEvent, g, e);
    T("capture.ctxrecord", cuCtxRecordEvent, c, e);
    T("capture.is", cuStreamIsCapturing, s, &state);
    V("capture.is.v", "%d", (int)state);
    T("capture.end", cuStreamEndCapture, s, &graph);
    T("sync", cuCtxSynchronize);
    T("sync.v2", cuCtxSynchronize_v2, c);
    T("sync.null", cuCtxSynchronize_v2, NULL);
}

/* Work in a green context, and its end. */
void group_greenrun(void)
{
    CUcontext primary = setup(), c = NULL;
    CUgreenCtx g = make(8), wide = make(16);
    CUstream s = NULL, t = NULL;
    CUdeviceptr p = 0, q = 0;
    unsigned value = 0, words = 16, three = 3;
    int blocks = 0, n = 0;
    CUmodule m = load(ptx_main);
    CUfunction fill = function(m, "fill");
    R(cuCtxFromGreenCtx, &c, g);
    R(cuGreenCtxStreamCreate, &s, g, CU_STREAM_NON_BLOCKING, 0);
    R(cuGreenCtxStreamCreate, &t, wide, CU_STREAM_NON_BLOCKING, 0);
    R(cuMemAlloc, &p, 1 << 20);
    R(cuMemsetD8, p, 0, 1 << 20);
    void *args[] = {&p, &words, &three};
    T("launch.primary", cuLaunchKernel, fill, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
    T("launch.stream", cuLaunchKernel, fill, 1, 1, 1, 32, 1, 1, 0, s, args, NULL);
    T("launch.sync", cuStreamSynchronize, s);
    T("memset.stream", cuMemsetD32Async, p, 5, 4, s);
    T("memset.wide", cuMemsetD32Async, p, 6, 4, t);
    T("coop", cuLaunchCooperativeKernel, fill, 9, 1, 1, 1024, 1, 1, 0, s, args);
    T("coop.most", cuLaunchCooperativeKernel, fill, 17, 1, 1, 1024, 1, 1, 0, s, args);
    T("coop.wide", cuLaunchCooperativeKernel, fill, 17, 1, 1, 1024, 1, 1, 0, t, args);
    T("coop.toomany", cuLaunchCooperativeKernel, fill, 33, 1, 1, 1024, 1, 1, 0, t, args);
    T("sync", cuCtxSynchronize);
    R(cuCtxSetCurrent, c);
    T("green.launch.module", cuLaunchKernel, fill, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
    T("green.launch.stream", cuLaunchKernel, fill, 1, 1, 1, 32, 1, 1, 0, s, args, NULL);
    T("green.occupancy", cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, fill, 1024, 0);
    V("green.occupancy.v", "%d", blocks);
    T("green.coop.most", cuLaunchCooperativeKernel, fill, 17, 1, 1, 1024, 1, 1, 0, NULL, args);
    CUmodule own = NULL;
    CUfunction f = NULL;
    T("green.load", cuModuleLoadData, &own, ptx_main);
    T("green.function", cuModuleGetFunction, &f, own, "fill");
    T("green.launch", cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
    T("green.launch.own.stream", cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, s, args, NULL);
    T("green.launch.own.wide", cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, t, args, NULL);
    T("green.alloc", cuMemAlloc, &q, 64);
    CUcontext of = NULL;
    T("green.pointer", cuPointerGetAttribute, &of, CU_POINTER_ATTRIBUTE_CONTEXT, q);
    V("green.pointer.v", "green=%d primary=%d", of == c, of == primary);
    R(cuStreamSynchronize, s);
    R(cuStreamSynchronize, t);
    T("green.memset", cuMemsetD32, p, 9, 4);
    T("green.sync", cuCtxSynchronize);
    T("green.read", cuMemcpyDtoH, &value, p, 4);
    V("green.read.v", "%u", value);
    T("green.attribute", cuDeviceGetAttribute, &n, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    CUmemoryPool pool = NULL;
    T("green.pool", cuDeviceGetDefaultMemPool, &pool, 0);
    CUdeviceptr a = 0;
    T("green.allocasync", cuMemAllocAsync, &a, 64, s);
    T("green.freeasync", cuMemFreeAsync, a, s);
    T("green.free", cuMemFree, q);
    T("green.streamsync", cuStreamSynchronize, s);
    /* The end: streams and events live on or not. */
    CUevent e = NULL;
    R(cuEventCreate, &e, 0);
    R(cuEventRecord, e, s);
    T("destroy.null", cuGreenCtxDestroy, NULL);
    T("destroy.current", cuGreenCtxDestroy, g);
    CUcontext x = NULL;
    R(cuCtxGetCurrent, &x);
    V("destroy.current.v", "same=%d null=%d", x == c, x == NULL);
    T("destroyed.alloc", cuMemAlloc, &q, 64);
    T("destroyed.sync", cuCtxSynchronize);
    R(cuCtxSetCurrent, primary);
    T("primary.sync", cuCtxSynchronize);
    T("primary.read", cuMemcpyDtoH, &value, p, 4);
    T("destroy.wide", cuGreenCtxDestroy, wide);
    T("end.sync", cuCtxSynchronize);
}
