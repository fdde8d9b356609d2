/* Kernels that fault, which errors are sticky afterwards, and recovery. */
#include "probe.h"

static CUmodule faults;
static CUfunction empty;

static void start(void)
{
    setup();
    faults = load(ptx_faults);
    empty = function(faults, "do_empty");
}

/* A context's answers after a fault, then a reset of its device. */
static void aftermath(CUcontext context)
{
    CUdeviceptr p = 0;
    CUstream s = NULL;
    CUevent e = NULL;
    CUmodule m = NULL;
    CUcontext x = NULL;
    size_t z;
    int n;
    unsigned flags;
    T("again.sync", cuCtxSynchronize);
    T("again.alloc", cuMemAlloc, &p, 16);
    T("again.alloc.null", cuMemAlloc, NULL, 16);
    T("again.free0", cuMemFree, 0);
    T("again.launch", cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    T("again.getfunction", cuModuleGetFunction, (CUfunction *)&x, faults, "do_empty");
    T("again.getglobal", cuModuleGetGlobal, &p, &z, faults, "alive");
    T("again.memset", cuMemsetD8, p, 0, 1);
    T("again.memcpy", cuMemcpyDtoH, &n, p, 4);
    T("again.streamcreate", cuStreamCreate, &s, 0);
    T("again.streamquery", cuStreamQuery, NULL);
    T("again.streamsync", cuStreamSynchronize, NULL);
    T("again.eventcreate", cuEventCreate, &e, 0);
    T("again.moduleload", cuModuleLoadData, &m, ptx_main);
    T("again.meminfo", cuMemGetInfo, &z, &z);
    T("again.hostalloc", cuMemHostAlloc, (void **)&x, 16, 0);
    T("again.getlimit", cuCtxGetLimit, &z, 0);
    T("again.setlimit", cuCtxSetLimit, 0, 2048);
    T("again.getdevice", cuCtxGetDevice, &n);
    T("again.getcurrent", cuCtxGetCurrent, &x);
    T("again.attribute", cuDeviceGetAttribute, &n, 1, 0);
    T("again.funcattr", cuFuncGetAttribute, &n, 0, NULL);
    T("again.pointerattr", cuPointerGetAttribute, &n, 2, p);
    T("again.unload", cuModuleUnload, faults);
    T("again.newcontext", cuCtxCreate, &x, NULL, 0, 0);
    T("again.state", cuDevicePrimaryCtxGetState, 0, &flags, &n);
    V("again.state.v", "active=%d", n);
    T("reset", cuDevicePrimaryCtxReset, 0);
    T("reset.state", cuDevicePrimaryCtxGetState, 0, &flags, &n);
    V("reset.state.v", "active=%d", n);
    T("reset.use", cuMemAlloc, &p, 16);
    T("reset.sync", cuCtxSynchronize);
    CUcontext fresh = NULL;
    T("fresh.retain", cuDevicePrimaryCtxRetain, &fresh, 0);
    V("fresh.same", "%d", fresh == context);
    T("fresh.setcurrent", cuCtxSetCurrent, fresh);
    T("fresh.alloc", cuMemAlloc, &p, 16);
    T("fresh.load", cuModuleLoadData, &m, ptx_faults);
    CUfunction f = NULL;
    T("fresh.getfunction", cuModuleGetFunction, &f, m, "do_empty");
    T("fresh.launch", cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    T("fresh.sync", cuCtxSynchronize);
}

static void fault(const char *kernel, void **args)
{
    CUcontext c = NULL;
    R(cuCtxGetCurrent, &c);
    T("launch", cuLaunchKernel, function(faults, kernel), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("sync", cuCtxSynchronize);
    aftermath(c);
}

void group_trap(void)
{
    start();
    fault("do_trap", NULL);
}

void group_oob(void)
{
    start();
    CUdeviceptr p = (CUdeviceptr)1 << 46;
    void *args[] = {&p};
    fault("do_store", args);
}

void group_nullstore(void)
{
    start();
    CUdeviceptr p = 0;
    void *args[] = {&p};
    fault("do_store", args);
}

void group_misaligned(void)
{
    start();
    CUdeviceptr p = 0;
    R(cuMemAlloc, &p, 64);
    p += 1;
    void *args[] = {&p};
    fault("do_store", args);
}

void group_assertion(void)
{
    start();
    int x = 1;
    void *args[] = {&x};
    T("holds", cuLaunchKernel, function(faults, "do_assert"), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("holds.sync", cuCtxSynchronize);
    x = 0;
    capture(2);
    CUresult launched = R(cuLaunchKernel, function(faults, "do_assert"), 2, 1, 1, 2, 1, 1, 0, NULL, args, NULL), synced = R(cuCtxSynchronize);
    const char *text = captured();
    begin("launch");
    report(launched);
    begin("sync");
    report(synced);
    /* Blocks print in any order. */
    M("text", "%s", text);
    int expected = 1;
    for (int block = 0; block < 2; block++)
        for (int thread = 0; thread < 2; thread++)
            expected &= strstr(text, N("a.cu:42: refuse: block: [%d,0,0], thread: [%d,0,0] Assertion `x > 0` failed.\\n", block, thread)) != NULL;
    V("text.each.thread", "%d", expected);
    CUcontext c = NULL;
    R(cuCtxGetCurrent, &c);
    aftermath(c);
}

void group_sharedoob(void)
{
    start();
    unsigned offset = 1 << 20;
    void *args[] = {&offset};
    fault("do_shared", args);
}

void group_recursion(void)
{
    start();
    CUdeviceptr p = 0;
    unsigned depth = 3, v = 0;
    R(cuMemAlloc, &p, 64);
    void *args[] = {&p, &depth};
    T("three", cuLaunchKernel, function(faults, "do_recurse"), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("three.sync", cuCtxSynchronize);
    R(cuMemcpyDtoH, &v, p, 4);
    V("three.v", "%u", v);
    T("limit", cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 65536);
    depth = 100;
    T("hundred", cuLaunchKernel, function(faults, "do_recurse"), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("hundred.sync", cuCtxSynchronize);
    R(cuMemcpyDtoH, &v, p, 4);
    V("hundred.v", "%u", v);
    T("limit.small", cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 1024);
    depth = 1000000;
    fault("do_recurse", args);
}

/* The shortest recoveries from a fault, without another call in between. */
void group_recover_primary(void)
{
    CUcontext c = NULL;
    CUdeviceptr p = 0;
    start();
    R(cuLaunchKernel, function(faults, "do_trap"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    T("sync", cuCtxSynchronize);
    T("reset", cuDevicePrimaryCtxReset, 0);
    T("retain", cuDevicePrimaryCtxRetain, &c, 0);
    T("setcurrent", cuCtxSetCurrent, c);
    T("alloc", cuMemAlloc, &p, 16);
}

void group_recover_release(void)
{
    CUcontext c = NULL;
    CUdeviceptr p = 0;
    start();
    R(cuLaunchKernel, function(faults, "do_trap"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    T("sync", cuCtxSynchronize);
    T("release", cuDevicePrimaryCtxRelease, 0);
    T("retain", cuDevicePrimaryCtxRetain, &c, 0);
    T("setcurrent", cuCtxSetCurrent, c);
    T("alloc", cuMemAlloc, &p, 16);
}

void group_recover_created(void)
{
    CUcontext c = NULL;
    CUdeviceptr p = 0;
    CUmodule m = NULL;
    R(cuInit, 0);
    T("create", cuCtxCreate, &c, NULL, 0, 0);
    R(cuModuleLoadData, &m, ptx_faults);
    R(cuLaunchKernel, function(m, "do_trap"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    T("sync", cuCtxSynchronize);
    T("destroy", cuCtxDestroy, c);
    T("create.again", cuCtxCreate, &c, NULL, 0, 0);
    T("alloc", cuMemAlloc, &p, 16);
}

/* Division by zero is not a fault; a reset without a fault. */
void group_reset(void)
{
    start();
    CUdeviceptr p = 0;
    unsigned zero = 0, host[8] = {0};
    R(cuMemAlloc, &p, 64);
    void *args[] = {&p, &zero};
    T("div0", cuLaunchKernel, function(faults, "do_div"), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("div0.sync", cuCtxSynchronize);
    R(cuMemcpyDtoH, host, p, 32);
    M("div0.v", "%x %x %x %x %x%08x %x%08x", host[0], host[1], host[2], host[3], host[5], host[4], host[7], host[6]);
    T("reset", cuDevicePrimaryCtxReset, 0);
    T("reset.free", cuMemFree, p);
    CUcontext c = NULL;
    T("retain", cuDevicePrimaryCtxRetain, &c, 0);
    T("setcurrent", cuCtxSetCurrent, c);
    T("free.old", cuMemFree, p);
    T("launch.old", cuLaunchKernel, (CUfunction)NULL, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("alloc", cuMemAlloc, &p, 64);
}

/* A fault in one context: the answers of others, and the effect of destroying it. */
void group_sticky(void)
{
    CUcontext good = setup(), bad = NULL;
    CUdeviceptr p = 0, q = 0;
    CUmodule m = NULL;
    CUfunction f = NULL;
    R(cuMemAlloc, &q, 64);
    T("create", cuCtxCreate, &bad, NULL, 0, 0);
    T("load", cuModuleLoadData, &m, ptx_faults);
    T("getfunction", cuModuleGetFunction, &f, m, "do_trap");
    CUstream s = NULL;
    CUevent e = NULL;
    R(cuStreamCreate, &s, 0);
    R(cuEventCreate, &e, 0);
    T("launch", cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
    T("record", cuEventRecord, e, s);
    T("streamsync", cuStreamSynchronize, s);
    T("streamquery", cuStreamQuery, s);
    T("eventsync", cuEventSynchronize, e);
    T("eventquery", cuEventQuery, e);
    T("eventdestroy", cuEventDestroy, e);
    T("streamdestroy", cuStreamDestroy, s);
    T("alloc.in.bad", cuMemAlloc, &p, 16);
    T("setcurrent.good", cuCtxSetCurrent, good);
    T("good.sync", cuCtxSynchronize);
    T("good.alloc", cuMemAlloc, &p, 16);
    T("good.memset", cuMemsetD8, q, 1, 64);
    T("good.load", cuModuleLoadData, &m, ptx_main);
    T("destroy.bad", cuCtxDestroy, bad);
    T("good.sync2", cuCtxSynchronize);
    T("good.alloc2", cuMemAlloc, &p, 16);
    T("again.create", cuCtxCreate, &bad, NULL, 0, 0);
    T("again.alloc", cuMemAlloc, &p, 16);
    T("again.destroy", cuCtxDestroy, bad);
}
