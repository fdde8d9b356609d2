/* Contexts: a thread's stack, floating contexts, primary contexts, limits. */
#include "probe.h"
#include <pthread.h>

static int is_current(CUcontext c)
{
    CUcontext now = (CUcontext)1;
    R(cuCtxGetCurrent, &now);
    return now == c;
}

void group_ctx(void)
{
    CUcontext c = (CUcontext)1;
    CUdevice d = 77;
    CUdeviceptr p;
    CUstream s;
    CUevent e;
    CUmodule m;
    size_t z;
    unsigned u = 0;
    int lo = -9, hi = -9;
    unsigned long long id = 0, id2 = 0;
    R(cuInit, 0);
    T("current.none", cuCtxGetCurrent, &c);
    V("current.none.isnull", "%d", c == NULL);
    T("getdevice.none", cuCtxGetDevice, &d);
    T("sync.none", cuCtxSynchronize);
    T("pop.empty", cuCtxPopCurrent, &c);
    T("pop.empty.null", cuCtxPopCurrent, NULL);
    T("memalloc.none", cuMemAlloc, &p, 16);
    T("memalloc.none.zero", cuMemAlloc, &p, 0);
    T("memfree.none", cuMemFree, 0);
    T("memfree.none.bad", cuMemFree, 0x1000);
    T("memhostalloc.none", cuMemHostAlloc, (void **)&c, 16, 0);
    T("moduleload.none", cuModuleLoadData, &m, ptx_main);
    T("moduleload.none.null", cuModuleLoadData, NULL, NULL);
    T("stream.none", cuStreamCreate, &s, 0);
    T("streamsync.none", cuStreamSynchronize, NULL);
    T("event.none", cuEventCreate, &e, 0);
    T("getflags.none", cuCtxGetFlags, &u);
    T("setflags.none", cuCtxSetFlags, 0);
    T("getlimit.none", cuCtxGetLimit, &z, 0);
    T("setlimit.none", cuCtxSetLimit, 0, 1024);
    T("cacheconfig.none", cuCtxGetCacheConfig, (CUfunc_cache *)&u);
    T("sharedconfig.none", cuCtxGetSharedMemConfig, (CUsharedconfig *)&u);
    T("prio.none", cuCtxGetStreamPriorityRange, &lo, &hi);
    T("apiversion.none", cuCtxGetApiVersion, NULL, &u);
    T("id.none", cuCtxGetId, NULL, &id);
    T("memgetinfo.none", cuMemGetInfo, &z, &z);
    T("memcpy.none", cuMemcpyHtoD, 0x1000, &z, 8);
    T("memset.none", cuMemsetD8, 0x1000, 0, 1);
    T("launch.none", cuLaunchKernel, NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    T("linkcreate.none", cuLinkCreate, 0, NULL, NULL, (CUlinkState *)&c);
    T("resetl2.none", cuCtxResetPersistingL2Cache);
    T("detach.none", cuCtxDetach, NULL);
    T("attach.none", cuCtxAttach, &c, 0);

    c = setup();
    T("getdevice", cuCtxGetDevice, &d);
    V("getdevice.v", "%d", d);
    T("getdevice.null", cuCtxGetDevice, NULL);
    d = 77;
    T("getdevice2", cuCtxGetDevice_v2, &d, c);
    V("getdevice2.v", "%d", d);
    T("getdevice2.nullctx", cuCtxGetDevice_v2, &d, NULL);
    T("sync2", cuCtxSynchronize_v2, c);
    T("sync2.null", cuCtxSynchronize_v2, NULL);
    T("getflags", cuCtxGetFlags, &u);
    V("getflags.v", "%u", u);
    T("getflags.null", cuCtxGetFlags, NULL);
    T("setflags.yield", cuCtxSetFlags, CU_CTX_SCHED_YIELD);
    R(cuCtxGetFlags, &u);
    V("setflags.yield.v", "%u", u);
    T("setflags.3", cuCtxSetFlags, 3);
    T("setflags.bad", cuCtxSetFlags, 0x10000);
    T("setflags.syncmemops", cuCtxSetFlags, CU_CTX_SYNC_MEMOPS);
    R(cuCtxGetFlags, &u);
    V("setflags.syncmemops.v", "%u", u);
    T("setflags.0", cuCtxSetFlags, 0);
    R(cuCtxGetFlags, &u);
    V("setflags.0.v", "%u", u);
    T("getcurrent.null", cuCtxGetCurrent, NULL);
    T("push.null", cuCtxPushCurrent, NULL);
    T("setcurrent.null", cuCtxSetCurrent, NULL);
    V("after.setnull", "%d", is_current(NULL));
    T("pop.after.setnull", cuCtxPopCurrent, NULL);
    T("setcurrent", cuCtxSetCurrent, c);
    T("push.garbage", cuCtxPushCurrent, (CUcontext)0x1234);
    T("setcurrent.garbage", cuCtxSetCurrent, (CUcontext)0x1234);
    T("apiversion", cuCtxGetApiVersion, c, &u);
    V("apiversion.v", "%u", u);
    T("apiversion.null", cuCtxGetApiVersion, NULL, &u);
    V("apiversion.null.v", "%u", u);
    T("apiversion.nullout", cuCtxGetApiVersion, c, NULL);
    T("id", cuCtxGetId, c, &id);
    T("id.null", cuCtxGetId, NULL, &id2);
    V("id.same", "%d", id == id2);
    T("id.nullout", cuCtxGetId, c, NULL);
    T("prio", cuCtxGetStreamPriorityRange, &lo, &hi);
    V("prio.v", "%d %d", lo, hi);
    T("prio.nulls", cuCtxGetStreamPriorityRange, NULL, NULL);
    CUfunc_cache cache = 9;
    T("cacheconfig", cuCtxGetCacheConfig, &cache);
    V("cacheconfig.v", "%d", (int)cache);
    T("cacheconfig.null", cuCtxGetCacheConfig, NULL);
    T("setcache", cuCtxSetCacheConfig, CU_FUNC_CACHE_PREFER_SHARED);
    R(cuCtxGetCacheConfig, &cache);
    V("setcache.v", "%d", (int)cache);
    T("setcache.bad", cuCtxSetCacheConfig, 9);
    CUsharedconfig shared = 9;
    T("sharedconfig", cuCtxGetSharedMemConfig, &shared);
    V("sharedconfig.v", "%d", (int)shared);
    T("setsharedconfig", cuCtxSetSharedMemConfig, CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    R(cuCtxGetSharedMemConfig, &shared);
    V("setsharedconfig.v", "%d", (int)shared);
    T("setsharedconfig.bad", cuCtxSetSharedMemConfig, 9);
    T("resetl2", cuCtxResetPersistingL2Cache);
    CUexecAffinityParam affinity;
    T("execaffinity", cuCtxGetExecAffinity, &affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT);
    T("execaffinity.bad", cuCtxGetExecAffinity, &affinity, 9);
    T("profiler.start", cuProfilerStart);
    T("profiler.stop", cuProfilerStop);
    T("profiler.stop.again", cuProfilerStop);
    T("enablepeer.self", cuCtxEnablePeerAccess, c, 0);
    T("enablepeer.null", cuCtxEnablePeerAccess, NULL, 0);
    T("enablepeer.flags", cuCtxEnablePeerAccess, c, 1);
    T("disablepeer.self", cuCtxDisablePeerAccess, c);
    T("attach", cuCtxAttach, &c, 0);
    T("attach.flags", cuCtxAttach, &c, 1);
    T("detach", cuCtxDetach, c);
    T("destroy.primary", cuCtxDestroy, c);
    T("destroy.null", cuCtxDestroy, NULL);
    T("destroy.garbage", cuCtxDestroy, (CUcontext)0x1234);
    T("sync", cuCtxSynchronize);
}

void group_ctxstack(void)
{
    CUcontext a = NULL, b = NULL, x = NULL, primary = NULL;
    CUdeviceptr p = 0, q = 0;
    unsigned u = 0;
    R(cuInit, 0);
    T("create.null", cuCtxCreate, NULL, NULL, 0, 0);
    T("create.baddev", cuCtxCreate, &x, NULL, 0, 99);
    T("create.badflags", cuCtxCreate, &x, NULL, 0x10000, 0);
    T("create.sched3", cuCtxCreate, &x, NULL, 3, 0);
    T("create", cuCtxCreate, &a, NULL, 0, 0);
    V("create.iscurrent", "%d", is_current(a));
    T("create.second", cuCtxCreate, &b, NULL, CU_CTX_SCHED_SPIN | CU_CTX_MAP_HOST, 0);
    V("create.second.iscurrent", "%d", is_current(b));
    V("create.distinct", "%d", a != b);
    T("flags", cuCtxGetFlags, &u);
    V("flags.v", "%u", u);
    T("apiversion", cuCtxGetApiVersion, b, &u);
    V("apiversion.v", "%u", u);
    T("alloc.in.b", cuMemAlloc, &q, 256);
    T("pop", cuCtxPopCurrent, &x);
    V("pop.isb", "%d", x == b);
    V("pop.nowa", "%d", is_current(a));
    T("alloc.in.a", cuMemAlloc, &p, 256);
    T("free.of.b.in.a", cuMemFree, q);
    T("memset.of.a", cuMemsetD8, p, 1, 256);
    T("push.b", cuCtxPushCurrent, b);
    T("push.b.again", cuCtxPushCurrent, b);
    T("push.b.third", cuCtxPushCurrent, b);
    T("memset.of.a.in.b", cuMemsetD8, p, 1, 256);
    T("pop3", cuCtxPopCurrent, &x);
    T("pop2", cuCtxPopCurrent, &x);
    T("pop1", cuCtxPopCurrent, &x);
    V("pop1.isb", "%d", x == b);
    V("pop1.nowa", "%d", is_current(a));
    T("setcurrent.b", cuCtxSetCurrent, b);
    V("setcurrent.replaces", "%d", is_current(b));
    T("pop.after.set", cuCtxPopCurrent, &x);
    V("pop.after.set.isb", "%d", x == b);
    V("pop.after.set.empty", "%d", is_current(NULL));
    T("pop.empty", cuCtxPopCurrent, &x);
    T("destroy.a", cuCtxDestroy, a);
    T("setcurrent.b.again", cuCtxSetCurrent, b);
    T("destroy.current", cuCtxDestroy, b);
    T("after.destroy.current", cuCtxGetCurrent, &x);
    V("after.destroy.current.null", "%d", x == NULL);
    T("alloc.after.destroy", cuMemAlloc, &p, 16);
    T("create.again", cuCtxCreate, &a, NULL, 0, 0);
    T("detach", cuCtxDetach, a);
    V("detach.current.null", "%d", is_current(NULL));
    T("create.third", cuCtxCreate, &a, NULL, 0, 0);
    x = NULL;
    T("attach", cuCtxAttach, &x, 0);
    V("attach.same", "%d", x == a);
    T("attach.detach1", cuCtxDetach, a);
    V("attach.detach1.current", "%d", is_current(a));
    T("attach.detach2", cuCtxDetach, a);
    V("attach.detach2.current.null", "%d", is_current(NULL));
    CUresult (*create2)(CUcontext *, unsigned, CUdevice) = (CUresult(*)(CUcontext *, unsigned, CUdevice))S("cuCtxCreate_v2");
    CUresult (*create1)(CUcontext *, unsigned, CUdevice) = (CUresult(*)(CUcontext *, unsigned, CUdevice))S("cuCtxCreate");
    CUresult (*destroy1)(CUcontext) = (CUresult(*)(CUcontext))S("cuCtxDestroy");
    if (create1 && create2 && destroy1) {
        begin("create.v2");
        report(create2(&a, 0, 0));
        R(cuCtxGetApiVersion, a, &u);
        V("create.v2.version", "%u", u);
        T("create.v2.destroy", cuCtxDestroy, a);
        begin("create.v1");
        report(create1(&a, 0, 0));
        R(cuCtxGetApiVersion, a, &u);
        V("create.v1.version", "%u", u);
        begin("create.v1.destroy");
        report(destroy1(a));
        V("create.v1.destroy.null", "%d", is_current(NULL));
    }
    /* A context created while the primary one is current. */
    R(cuDevicePrimaryCtxRetain, &primary, 0);
    R(cuCtxSetCurrent, primary);
    T("create.over.primary", cuCtxCreate, &a, NULL, 0, 0);
    T("destroy.over.primary", cuCtxDestroy, a);
    V("back.to.primary", "%d", is_current(primary));
    T("release.primary", cuDevicePrimaryCtxRelease, 0);
    T("use.released", cuMemAlloc, &p, 16);
    T("push.released", cuCtxPushCurrent, primary);
}

/* Destroyed contexts that are still on a stack, and dead handles. */
void group_ctxdead(void)
{
    CUcontext a = NULL, b = NULL, x = NULL;
    CUdeviceptr p = 0;
    unsigned u = 0;
    R(cuInit, 0);
    R(cuCtxCreate, &a, NULL, 0, 0);
    R(cuCtxCreate, &b, NULL, 0, 0);
    T("destroy.below", cuCtxDestroy, a);
    V("still.b", "%d", is_current(b));
    T("b.alloc", cuMemAlloc, &p, 16);
    T("pop.b", cuCtxPopCurrent, &x);
    T("current", cuCtxGetCurrent, &x);
    V("current.v", "a=%d null=%d", x == a, x == NULL);
    T("alloc", cuMemAlloc, &p, 16);
    T("free0", cuMemFree, 0);
    T("sync", cuCtxSynchronize);
    T("getdevice", cuCtxGetDevice, (CUdevice *)&u);
    T("getflags", cuCtxGetFlags, &u);
    T("stream", cuStreamSynchronize, NULL);
    T("pop", cuCtxPopCurrent, &x);
    V("pop.isa", "%d", x == a);
    V("pop.null", "%d", is_current(NULL));
    T("destroy.again", cuCtxDestroy, a);
    T("apiversion", cuCtxGetApiVersion, a, &u);
    T("detach", cuCtxDetach, a);
    T("push", cuCtxPushCurrent, a);
    T("setcurrent", cuCtxSetCurrent, a);
}

struct visit { CUcontext context; CUdeviceptr pointer, second; CUresult status[8]; int flag[4]; };

static void *visitor(void *argument)
{
    struct visit *v = argument;
    CUcontext x = (CUcontext)1;
    v->status[0] = R(cuCtxGetCurrent, &x);
    v->flag[0] = x == NULL;
    v->status[1] = R(cuMemFree, v->pointer);
    v->status[2] = R(cuCtxSetCurrent, v->context);
    v->status[3] = R(cuMemsetD8, v->second, 1, 16);
    v->status[4] = R(cuCtxDestroy, v->context);
    x = (CUcontext)1;
    v->status[5] = R(cuCtxGetCurrent, &x);
    v->flag[1] = x == NULL;
    v->flag[2] = x == v->context;
    v->status[6] = R(cuMemAlloc, &v->pointer, 16);
    return NULL;
}

void group_ctxthread(void)
{
    struct visit v = {0};
    pthread_t thread;
    CUcontext x;
    R(cuInit, 0);
    T("create", cuCtxCreate, &v.context, NULL, 0, 0);
    T("alloc", cuMemAlloc, &v.pointer, 256);
    T("alloc.second", cuMemAlloc, &v.second, 256);
    pthread_create(&thread, NULL, visitor, &v);
    pthread_join(thread, NULL);
    static const char *const what[] = {"other.getcurrent", "other.free.nocurrent", "other.setcurrent", "other.memset",
                                       "other.destroy", "other.getcurrent.after", "other.alloc.after"};
    for (int i = 0; i < 7; i++) {
        begin(what[i]);
        report(v.status[i]);
    }
    V("other.startsnull", "%d", v.flag[0]);
    V("other.after", "null=%d same=%d", v.flag[1], v.flag[2]);
    T("here.getcurrent", cuCtxGetCurrent, &x);
    V("here.getcurrent.same", "%d", x == v.context);
    T("here.alloc", cuMemAlloc, &v.pointer, 16);
    T("here.sync", cuCtxSynchronize);
    T("here.pop", cuCtxPopCurrent, &x);
    T("here.getcurrent.empty", cuCtxGetCurrent, &x);
    V("here.empty", "%d", x == NULL);
}

void group_pctx(void)
{
    unsigned flags = 99;
    int active = 99;
    CUcontext a = NULL, b = NULL, x = NULL;
    CUdeviceptr p;
    unsigned long long id = 0, id2 = 0;
    R(cuInit, 0);
    T("state", cuDevicePrimaryCtxGetState, 0, &flags, &active);
    V("state0", "flags=%u active=%d", flags, active);
    T("state.nulls", cuDevicePrimaryCtxGetState, 0, NULL, NULL);
    T("state.nullflags", cuDevicePrimaryCtxGetState, 0, NULL, &active);
    T("state.baddev", cuDevicePrimaryCtxGetState, 99, &flags, &active);
    T("release.early", cuDevicePrimaryCtxRelease, 0);
    T("release.baddev", cuDevicePrimaryCtxRelease, 99);
    T("reset.early", cuDevicePrimaryCtxReset, 0);
    T("reset.baddev", cuDevicePrimaryCtxReset, 99);
    T("setflags.bad", cuDevicePrimaryCtxSetFlags, 0, 0x10000);
    T("setflags.3", cuDevicePrimaryCtxSetFlags, 0, 3);
    T("setflags.baddev", cuDevicePrimaryCtxSetFlags, 99, 0);
    T("setflags.sched", cuDevicePrimaryCtxSetFlags, 0, CU_CTX_SCHED_BLOCKING_SYNC);
    R(cuDevicePrimaryCtxGetState, 0, &flags, &active);
    V("setflags.state", "flags=%u active=%d", flags, active);
    T("retain.null", cuDevicePrimaryCtxRetain, NULL, 0);
    T("retain.baddev", cuDevicePrimaryCtxRetain, &a, 99);
    T("retain", cuDevicePrimaryCtxRetain, &a, 0);
    T("retain2", cuDevicePrimaryCtxRetain, &b, 0);
    V("same", "%d", a == b);
    R(cuDevicePrimaryCtxGetState, 0, &flags, &active);
    V("state1", "flags=%u active=%d", flags, active);
    R(cuCtxGetCurrent, &x);
    V("current.isnull", "%d", x == NULL);
    T("setflags.active", cuDevicePrimaryCtxSetFlags, 0, CU_CTX_SCHED_SPIN);
    R(cuDevicePrimaryCtxGetState, 0, &flags, &active);
    V("setflags.active.state", "flags=%u active=%d", flags, active);
    T("push", cuCtxPushCurrent, a);
    R(cuCtxGetFlags, &flags);
    V("ctxflags", "%u", flags);
    R(cuCtxGetId, a, &id);
    T("release1", cuDevicePrimaryCtxRelease, 0);
    T("alloc.after.release1", cuMemAlloc, &p, 16);
    T("release2", cuDevicePrimaryCtxRelease, 0);
    T("release3", cuDevicePrimaryCtxRelease, 0);
    R(cuDevicePrimaryCtxGetState, 0, &flags, &active);
    V("state2", "flags=%u active=%d", flags, active);
    T("use.after.release", cuMemAlloc, &p, 16);
    T("getcurrent.after.release", cuCtxGetCurrent, &x);
    V("getcurrent.after.release.same", "%d", x == a);
    T("getdevice.after.release", cuCtxGetDevice, (CUdevice *)&active);
    T("retain.again", cuDevicePrimaryCtxRetain, &b, 0);
    V("retain.again.same", "%d", a == b);
    T("use.after.retain", cuMemAlloc, &p, 16);
    R(cuCtxGetId, b, &id2);
    V("id.differs", "%d", id != id2);
    T("setcurrent.again", cuCtxSetCurrent, b);
    T("alloc.again", cuMemAlloc, &p, 16);
    T("reset", cuDevicePrimaryCtxReset, 0);
    R(cuDevicePrimaryCtxGetState, 0, &flags, &active);
    V("reset.state", "flags=%u active=%d", flags, active);
    T("reset.use", cuMemAlloc, &p, 16);
    T("reset.getcurrent", cuCtxGetCurrent, &x);
    V("reset.getcurrent.same", "%d", x == b);
    T("reset.sync", cuCtxSynchronize);
    T("reset.release", cuDevicePrimaryCtxRelease, 0);
    T("reset.retain", cuDevicePrimaryCtxRetain, &b, 0);
    T("reset.setcurrent", cuCtxSetCurrent, b);
    T("reset.alloc", cuMemAlloc, &p, 16);
    T("reset.free", cuMemFree, p);
    T("end.release", cuDevicePrimaryCtxRelease, 0);
}

void group_limit(void)
{
    size_t z;
    setup();
    for (int l = 0; l <= 12; l++) {
        z = 0;
        CUresult status = T(N("get.%d", l), cuCtxGetLimit, &z, l);
        if (!status) {
            if (l == 6 || l == 7)
                M(N("get.%d.v", l), "%zu", z);
            else
                V(N("get.%d.v", l), "%zu", z);
        }
    }
    T("get.null", cuCtxGetLimit, NULL, 0);
    T("get.minus1", cuCtxGetLimit, &z, -1);
    static const size_t tries[] = {0, 1, 7, 16, 100, 1000, 1024, 4096, 5000, 65536, 1 << 20, (size_t)1 << 29, (size_t)1 << 40};
    static const int changeable[] = {0, 1, 2, 3, 4, 5};
    for (size_t i = 0; i < COUNT(changeable); i++)
        for (size_t k = 0; k < COUNT(tries); k++) {
            int l = changeable[i];
            if (l == 2 && tries[k] > ((size_t)1 << 30))
                continue;
            CUresult status = T(N("set.%d.%zu", l, tries[k]), cuCtxSetLimit, l, tries[k]);
            z = 0;
            R(cuCtxGetLimit, &z, l);
            if (!status && l == 4 && z != tries[k] && tries[k] > 1000)
                M(N("set.%d.%zu.v", l, tries[k]), "%zu", z);
            else if (!status)
                V(N("set.%d.%zu.v", l, tries[k]), "%zu", z);
        }
    T("set.6.0", cuCtxSetLimit, 6, 0);
    T("set.7", cuCtxSetLimit, 7, 1024);
    T("set.8", cuCtxSetLimit, 8, 1);
    T("set.9", cuCtxSetLimit, 9, 1);
    T("set.10", cuCtxSetLimit, 10, 1024);
    T("set.99", cuCtxSetLimit, 99, 1024);
    /* The heap's size is fixed once a module that uses the heap is loaded. */
    CUmodule m = load(ptx_main);
    T("heap.after.load", cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20);
    T("printf.after.load", cuCtxSetLimit, CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20);
    T("stack.after.load", cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 2048);
    CUfunction f = function(m, "empty");
    T("launch", cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    T("heap.after.launch", cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20);
    T("printf.after.launch", cuCtxSetLimit, CU_LIMIT_PRINTF_FIFO_SIZE, 4 << 20);
    T("stack.after.launch", cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 3072);
    T("sync", cuCtxSynchronize);
}
