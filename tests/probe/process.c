/* Processes: fork, exit, sharing memory, visible devices; and objects of one context used in another. */
#include "probe.h"
#include <sys/wait.h>
#include <unistd.h>

/* Runs part of a group in a child; its lines join those of the group. */
static void in_child(void (*part)(void *), void *data)
{
    pid_t child = fork();
    if (child == 0) {
        part(data);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        V("child", "signal %d", WTERMSIG(status));
}

static void forked(void *data)
{
    int n;
    CUcontext c = (CUcontext)1;
    CUdeviceptr p = 0;
    alarm(10);
    T("child.init", cuInit, 0);
    T("child.count", cuDeviceGetCount, &n);
    T("child.getcurrent", cuCtxGetCurrent, &c);
    T("child.alloc", cuMemAlloc, &p, 16);
    T("child.free", cuMemFree, *(CUdeviceptr *)data);
    T("child.sync", cuCtxSynchronize);
    T("child.retain", cuDevicePrimaryCtxRetain, &c, 0);
    T("child.version", cuDriverGetVersion, &n);
    T("child.setcurrent.null", cuCtxSetCurrent, NULL);
    const char *name = NULL;
    T("child.errorname", cuGetErrorName, 1, &name);
}

void group_fork(void)
{
    CUdeviceptr p = 0;
    setup();
    R(cuMemAlloc, &p, 64);
    in_child(forked, &p);
    T("parent.memset", cuMemsetD8, p, 1, 64);
    T("parent.sync", cuCtxSynchronize);
    T("parent.free", cuMemFree, p);
}

/* A fork after only cuInit, without a context. */
void group_forkinit(void)
{
    CUdeviceptr p = 0;
    R(cuInit, 0);
    in_child(forked, &p);
    setup();
    T("parent.alloc", cuMemAlloc, &p, 64);
}

static void late(void)
{
    int n;
    CUdeviceptr p = 0;
    CUcontext c = NULL;
    T("count", cuDeviceGetCount, &n);
    T("getcurrent", cuCtxGetCurrent, &c);
    T("alloc", cuMemAlloc, &p, 16);
    T("free0", cuMemFree, 0);
    T("sync", cuCtxSynchronize);
    T("streamdestroy.null", cuStreamDestroy, NULL);
    T("release", cuDevicePrimaryCtxRelease, 0);
    T("init", cuInit, 0);
    T("version", cuDriverGetVersion, &n);
}

/* Calls from an exit handler that was registered before cuInit. */
void group_atexit(void)
{
    atexit(late);
    setup();
    T("before.exit", cuCtxSynchronize);
    exit(0);
}

static void visible(void *data)
{
    const char *value = data;
    const char *name = *value ? value : "empty";
    int n = -1;
    CUdevice d = -1;
    alarm(20);
    setenv("CUDA_VISIBLE_DEVICES", value, 1);
    T(N("%s.init", name), cuInit, 0);
    T(N("%s.count", name), cuDeviceGetCount, &n);
    V(N("%s.count.v", name), "%d", n);
    T(N("%s.get", name), cuDeviceGet, &d, 0);
    T(N("%s.version", name), cuDriverGetVersion, &n);
}

void group_visible(void)
{
    static const char *const values[] = {"", "-1", "0", "99", "0,0", "0,99", "99,0", "junk", "0,-1", "0junk", "GPU-junk", "NoDevFiles"};
    for (size_t i = 0; i < COUNT(values); i++)
        in_child(visible, (void *)values[i]);
}

struct handles { CUipcMemHandle memory; CUipcEventHandle event; };

/* Memory and an event of one process opened in another; both are forked before cuInit. */
void group_ipc_shared(void)
{
    int to_child[2], to_parent[2];
    struct handles h;
    char done = 0;
    if (pipe(to_child) || pipe(to_parent))
        return;
    memset(&h, 0, sizeof h);
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr p = 0, again = 0, base = 0;
        CUevent e = NULL;
        size_t size = 0;
        unsigned v = 0;
        close(to_child[1]);
        alarm(20);
        if (read(to_child[0], &h, sizeof h) != (ssize_t)sizeof h)
            _exit(1);
        setup();
        T("child.openmem", cuIpcOpenMemHandle, &p, h.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
        T("child.openmem.again", cuIpcOpenMemHandle, &again, h.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
        V("child.openmem.again.same", "%d", p == again);
        T("child.range", cuMemGetAddressRange, &base, &size, p);
        V("child.range.v", "%d %zu", base == p, size);
        T("child.read", cuMemcpyDtoH, &v, p, 4);
        V("child.read.v", "%x", v);
        T("child.write", cuMemsetD32, p, 0x12345678, 1);
        T("child.free", cuMemFree, p);
        T("child.close", cuIpcCloseMemHandle, p);
        T("child.close.again", cuIpcCloseMemHandle, p);
        T("child.close.third", cuIpcCloseMemHandle, p);
        T("child.openevent", cuIpcOpenEventHandle, &e, h.event);
        T("child.eventsync", cuEventSynchronize, e);
        T("child.eventrecord", cuEventRecord, e, NULL);
        T("child.sync", cuCtxSynchronize);
        if (write(to_parent[1], "x", 1) != 1)
            _exit(1);
        _exit(0);
    }
    close(to_parent[1]);
    CUdeviceptr p = 0;
    CUevent e = NULL;
    unsigned v = 0;
    setup();
    R(cuMemAlloc, &p, 4096);
    R(cuMemsetD32, p, 0xabcdef01, 1024);
    R(cuEventCreate, &e, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    R(cuEventRecord, e, NULL);
    R(cuCtxSynchronize);
    R(cuIpcGetMemHandle, &h.memory, p);
    R(cuIpcGetEventHandle, &h.event, e);
    if (write(to_child[1], &h, sizeof h) != (ssize_t)sizeof h || read(to_parent[0], &done, 1) != 1)
        V("child", "ended early");
    waitpid(child, NULL, 0);
    T("parent.read", cuMemcpyDtoH, &v, p, 4);
    V("parent.read.v", "%x", v);
    T("parent.eventquery", cuEventQuery, e);
}

/* Objects of context a, used while b is current. */
void group_crossctx(void)
{
    CUcontext a = NULL, b = NULL, x = NULL;
    CUstream sa = NULL, sb = NULL;
    CUevent ea = NULL, eb = NULL, ta = NULL;
    CUmodule m = NULL;
    CUfunction f = NULL;
    CUdeviceptr p = 0, q = 0;
    void *h = NULL;
    int n = 0;
    unsigned u = 0, one = 1;
    float ms = 0;
    size_t z = 0;
    R(cuInit, 0);
    R(cuCtxCreate, &a, NULL, 0, 0);
    R(cuStreamCreate, &sa, 0);
    R(cuEventCreate, &ea, 0);
    R(cuEventCreate, &ta, 0);
    R(cuModuleLoadData, &m, ptx_main);
    R(cuModuleGetFunction, &f, m, "scale");
    R(cuMemAlloc, &p, 1024);
    R(cuMemHostAlloc, &h, 1024, 0);
    R(cuCtxCreate, &b, NULL, 0, 0);
    R(cuStreamCreate, &sb, 0);
    R(cuEventCreate, &eb, 0);
    R(cuMemAlloc, &q, 1024);
    void *args[] = {&p, &one};
    T("launch.f.legacy", cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("launch.f.sa", cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, sa, args, NULL);
    T("launch.f.sb", cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, sb, args, NULL);
    T("funcattr", cuFuncGetAttribute, &n, 0, f);
    T("getfunction", cuModuleGetFunction, &f, m, "fill");
    T("getglobal", cuModuleGetGlobal, &q, &z, m, "g_counter");
    T("occupancy", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, f, 128, 0);
    T("streamquery", cuStreamQuery, sa);
    T("streamsync", cuStreamSynchronize, sa);
    T("streamgetctx", cuStreamGetCtx, sa, &x);
    V("streamgetctx.a", "%d", x == a);
    T("streamflags", cuStreamGetFlags, sa, &u);
    T("memset.sa", cuMemsetD8Async, p, 1, 16, sa);
    T("memset.sb", cuMemsetD8Async, p, 1, 16, sb);
    T("memcpy", cuMemcpyDtoH, &u, p, 4);
    T("memcpy.host.of.a", cuMemcpyHtoDAsync, p, h, 16, sb);
    T("devptr.host.of.a", cuMemHostGetDevicePointer, &q, h, 0);
    T("record.ea.sb", cuEventRecord, ea, sb);
    T("record.ea.sa", cuEventRecord, ea, sa);
    T("record.ea.legacy", cuEventRecord, ea, NULL);
    T("record.eb.sa", cuEventRecord, eb, sa);
    T("wait.ea.sb", cuStreamWaitEvent, sb, ea, 0);
    T("record.eb.sb", cuEventRecord, eb, sb);
    T("wait.eb.sa", cuStreamWaitEvent, sa, eb, 0);
    T("eventquery", cuEventQuery, ea);
    T("eventsync", cuEventSynchronize, ea);
    T("elapsed.across", cuEventElapsedTime, &ms, ea, eb);
    T("hostfunc.sa", cuLaunchHostFunc, sa, NULL, NULL);
    T("pointer.context", cuPointerGetAttribute, &x, CU_POINTER_ATTRIBUTE_CONTEXT, p);
    V("pointer.context.v", "%s", x == a ? "a" : x == b ? "b" : "other");
    T("addressrange", cuMemGetAddressRange, &q, &z, p);
    T("sync", cuCtxSynchronize);
    T("unload", cuModuleUnload, m);
    T("eventdestroy", cuEventDestroy, ea);
    T("streamdestroy", cuStreamDestroy, sa);
    T("free", cuMemFree, p);
    T("freehost", cuMemFreeHost, h);
    T("destroy.a", cuCtxDestroy, a);
    T("b.sync", cuCtxSynchronize);
    T("eventquery.gone", cuEventQuery, ta);
}
