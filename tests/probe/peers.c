/* Two devices: which calls may use memory of device 0 in a context of each device, by the rights that
 * mappings and pools have been given, and by whether contexts are peers. After an answer that ends the
 * process's use of the devices, another process goes on. */
#include "words.h"
#include "driver.h"
#include <unistd.h>

enum { GRANULE = 2 << 20, HALF = GRANULE / 2, SIZE = 64, SECONDS = 300 };

/* In place of the next operation. */
enum { ALL_DONE = -1, ONE_DEVICE = -2 };

/* Whose memory, its rights, and the device whose context is current. */
struct combination {
    const char *memory;
    int rights[2];
    int current;
};

static struct {
    const struct combination *asked;
    CUcontext contexts[2];
    CUstream streams[2];
    /* The memory in question, and memory of each device without rights of its own. */
    CUdeviceptr p, plain[2];
    unsigned char *host;
    /* The first operation of this process, and (in shared memory) of the next one. */
    int at, first, *next;
} P;

/* The next operation; whether this process does it. */
static int due(const char *name)
{
    int mine = P.at++ >= P.first;
    const struct combination *c = P.asked;
    if (mine) {
        *P.next = P.at;
        step(N("%s.%d%d.from%d.%s", c->memory, c->rights[0], c->rights[1], c->current, name));
    }
    return mine;
}

/* Waits for an operation. Ends the process where it can no longer use the devices. */
static void waited(const char *name, CUresult status)
{
    CUresult later = CUDA_SUCCESS;
    for (int d = 0; d < 2 && !later; d++) {
        R(cuCtxSetCurrent, P.contexts[d]);
        later = R(cuCtxSynchronize);
    }
    if (later && !status)
        V(N("%s.wait", name), "%s", error_name(later));
    if (later)
        _exit(0);
    R(cuCtxSetCurrent, P.contexts[P.asked->current]);
}

/* Reports the status of an operation, and that of waiting for it if only that fails. */
#define O(name, fn, ...) \
    do { \
        if (due(name)) { \
            const struct combination *c_ = P.asked; \
            char full_[128]; \
            snprintf(full_, sizeof full_, "%s.%d%d.from%d.%s", c_->memory, c_->rights[0], c_->rights[1], \
                c_->current, name); \
            waited(full_, begin(full_) ? report(p_##fn(__VA_ARGS__)) : skipped()); \
        } \
    } while (0)

static CUresult filled(CUstream s)
{
    return R(cuMemsetD8Async, P.p, 1, SIZE, s);
}

static CUresult p_kernel(const char *name, CUdeviceptr out)
{
    void *args[] = {&P.p, &out};
    CUmodule m = NULL;
    CUfunction f = NULL;
    CUresult status = R(cuModuleLoadData, &m, ptx_faults);
    if (!status)
        status = R(cuModuleGetFunction, &f, m, name);
    if (!status)
        status = R(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, P.streams[P.asked->current], args, NULL);
    return status;
}

static CUresult p_node_fill(CUcontext context)
{
    CUgraph g = NULL;
    CUgraphNode node = NULL;
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = P.p, .value = 1, .elementSize = 1, .width = SIZE, .height = 1};
    R(cuGraphCreate, &g, 0);
    return R(cuGraphAddMemsetNode, &node, g, NULL, 0, &fill, context);
}

static CUresult p_node_copy(CUcontext context, CUdeviceptr to, CUdeviceptr from)
{
    CUgraph g = NULL;
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from, .srcPitch = SIZE,
        .srcHeight = 1, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = to, .dstPitch = SIZE,
        .dstHeight = 1, .WidthInBytes = SIZE, .Height = 1, .Depth = 1};
    R(cuGraphCreate, &g, 0);
    return R(cuGraphAddMemcpyNode, &node, g, NULL, 0, &copy, context);
}

static CUDA_MEMCPY2D rows(int to_memory, CUdeviceptr other)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = to_memory ? other : P.p, .dstDevice = to_memory ? P.p : other, .srcPitch = 32,
        .dstPitch = 32, .WidthInBytes = 16, .Height = 2};
    return c;
}

typedef CUresult filling(CUstream s);

/* These are called as the driver's functions are (T). Without a current context. */
static CUresult p_bare(filling *f, CUstream s)
{
    R(cuCtxSetCurrent, NULL);
    CUresult status = f(s);
    R(cuCtxSetCurrent, P.contexts[P.asked->current]);
    return status;
}

static void operations(void)
{
    int here = P.asked->current;
    CUdeviceptr p = P.p, mine = P.plain[here], far = P.plain[!here];
    CUstream s = P.streams[here], other = P.streams[!here];
    CUcontext own = P.contexts[0], current = P.contexts[here], peer = P.contexts[1];
    CUDA_MEMCPY2D c;
    O("set8", cuMemsetD8, p, 1, SIZE);
    O("set8.async", cuMemsetD8Async, p, 1, SIZE, s);
    O("set8.otherstream", cuMemsetD8Async, p, 1, SIZE, other);
    O("set8.nocontext", bare, filled, s);
    O("set8.nocontext.otherstream", bare, filled, other);
    O("set16", cuMemsetD16, p, 1, SIZE / 2);
    O("set32", cuMemsetD32, p, 1, SIZE / 4);
    O("set32.async", cuMemsetD32Async, p, 1, SIZE / 4, s);
    O("set2d8", cuMemsetD2D8, p, 32, 1, 16, 2);
    O("set2d8.async", cuMemsetD2D8Async, p, 32, 1, 16, 2, s);
    O("set2d8.otherstream", cuMemsetD2D8Async, p, 32, 1, 16, 2, other);
    O("set2d32", cuMemsetD2D32, p, 32, 1, 4, 2);
    O("htod", cuMemcpyHtoD, p, P.host, SIZE);
    O("htod.async", cuMemcpyHtoDAsync, p, P.host, SIZE, s);
    O("htod.otherstream", cuMemcpyHtoDAsync, p, P.host, SIZE, other);
    O("dtoh", cuMemcpyDtoH, P.host, p, SIZE);
    O("dtoh.async", cuMemcpyDtoHAsync, P.host, p, SIZE, s);
    O("dtoh.otherstream", cuMemcpyDtoHAsync, P.host, p, SIZE, other);
    O("dtod.to.mine", cuMemcpyDtoD, p, mine, SIZE);
    O("dtod.to.mine.async", cuMemcpyDtoDAsync, p, mine, SIZE, s);
    O("dtod.to.mine.otherstream", cuMemcpyDtoDAsync, p, mine, SIZE, other);
    O("dtod.from.mine", cuMemcpyDtoD, mine, p, SIZE);
    O("dtod.from.mine.async", cuMemcpyDtoDAsync, mine, p, SIZE, s);
    O("dtod.from.mine.otherstream", cuMemcpyDtoDAsync, mine, p, SIZE, other);
    O("dtod.to.far", cuMemcpyDtoD, p, far, SIZE);
    O("dtod.to.far.async", cuMemcpyDtoDAsync, p, far, SIZE, s);
    O("dtod.from.far", cuMemcpyDtoD, far, p, SIZE);
    O("dtod.from.far.async", cuMemcpyDtoDAsync, far, p, SIZE, s);
    O("dtod.itself", cuMemcpyDtoD, p, p + HALF, SIZE);
    O("dtod.itself.async", cuMemcpyDtoDAsync, p, p + HALF, SIZE, s);
    O("copy.to.mine", cuMemcpy, p, mine, SIZE);
    O("copy.from.mine", cuMemcpy, mine, p, SIZE);
    O("copy.to.far", cuMemcpy, p, far, SIZE);
    O("copy.from.far", cuMemcpy, far, p, SIZE);
    O("copy.to.host", cuMemcpy, (CUdeviceptr)(uintptr_t)P.host, p, SIZE);
    O("copy.from.host", cuMemcpy, p, (CUdeviceptr)(uintptr_t)P.host, SIZE);
    O("copy.from.host.async", cuMemcpyAsync, p, (CUdeviceptr)(uintptr_t)P.host, SIZE, s);
    O("copy.to.mine.async", cuMemcpyAsync, p, mine, SIZE, s);
    O("copy.to.far.async", cuMemcpyAsync, p, far, SIZE, s);
    O("peer.to.mine", cuMemcpyPeer, p, own, mine, current, SIZE);
    O("peer.from.mine", cuMemcpyPeer, mine, current, p, own, SIZE);
    O("peer.to.mine.async", cuMemcpyPeerAsync, p, own, mine, current, SIZE, s);
    O("peer.to.far", cuMemcpyPeer, p, own, far, P.contexts[!here], SIZE);
    O("peer.wrong.to.mine", cuMemcpyPeer, p, peer, mine, current, SIZE);
    O("peer.wrong.from.mine", cuMemcpyPeer, mine, current, p, peer, SIZE);
    c = rows(1, mine);
    O("2d.to.mine", cuMemcpy2D, &c);
    O("2d.to.mine.async", cuMemcpy2DAsync, &c, s);
    c = rows(0, mine);
    O("2d.from.mine", cuMemcpy2D, &c);
    c = rows(1, far);
    O("2d.to.far", cuMemcpy2D, &c);
    O("node.fill", node_fill, current);
    O("node.fill.other", node_fill, P.contexts[!here]);
    O("node.copy.to.mine", node_copy, current, p, mine);
    O("node.copy.from.mine", node_copy, current, mine, p);
    O("node.copy.to.far", node_copy, current, p, far);
    O("write32", cuStreamWriteValue32, s, p, 5, 0);
    O("wait32", cuStreamWaitValue32, s, p, 0, 0);
    O("kernel.read", kernel, "do_load", mine);
    O("kernel.write", kernel, "do_store", mine);
}

/* Contexts, streams and memory of both devices; ends the process where there are not two. */
static void both(void)
{
    int n = 0;
    R(cuInit, 0);
    R(cuDeviceGetCount, &n);
    if (n < 2) {
        V("devices", "%d", n);
        *P.next = ONE_DEVICE;
        _exit(0);
    }
    for (int d = 0; d < 2; d++) {
        R(cuDevicePrimaryCtxRetain, &P.contexts[d], d);
        R(cuCtxSetCurrent, P.contexts[d]);
        R(cuStreamCreate, &P.streams[d], CU_STREAM_NON_BLOCKING);
        R(cuMemAlloc, &P.plain[d], GRANULE);
        R(cuMemsetD8, P.plain[d], 0, GRANULE);
    }
    R(cuMemHostAlloc, (void **)&P.host, SIZE, CU_MEMHOSTALLOC_PORTABLE);
    R(cuCtxSynchronize);
    R(cuCtxSetCurrent, P.contexts[0]);
}

/* Reports a step of the preparation, once. */
static CUresult once(const char *name, CUresult status)
{
    const struct combination *c = P.asked;
    if (!P.first && begin(N("%s.%d%d.from%d.%s", c->memory, c->rights[0], c->rights[1], c->current, name)))
        report(status);
    return status;
}

static void grant(CUdeviceptr p, int device, int rights)
{
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
        .flags = rights};
    once(N("grant%d", device), R(cuMemSetAccess, p, GRANULE, &access, 1));
}

static void map(void)
{
    CUmemGenericAllocationHandle h = 0;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    R(cuMemCreate, &h, GRANULE, &prop, 0);
    R(cuMemAddressReserve, &P.p, GRANULE, 0, 0, 0);
    R(cuMemMap, P.p, GRANULE, 0, h, 0);
    /* Without rights of any device, the calls are those for memory that was never granted to one. */
    for (int d = 0; d < 2; d++)
        if (P.asked->rights[d])
            grant(P.p, d, P.asked->rights[d]);
}

static void take(CUmemoryPool pool)
{
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1},
        .flags = P.asked->rights[1]};
    if (P.asked->rights[1])
        once("grant1", R(cuMemPoolSetAccess, pool, &access, 1));
    R(cuMemAllocFromPoolAsync, &P.p, GRANULE, pool, P.streams[0]);
    R(cuStreamSynchronize, P.streams[0]);
}

static void of_pool(void)
{
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    once("create", R(cuMemPoolCreate, &pool, &props));
    take(pool);
}

static void of_default_pool(void)
{
    CUmemoryPool pool = NULL;
    once("default", R(cuDeviceGetDefaultMemPool, &pool, 0));
    take(pool);
}

/* Memory of a context; rights of device 1: its context has enabled access to that of device 0. */
static void allocate(void)
{
    R(cuMemAlloc, &P.p, GRANULE);
    if (P.asked->rights[1]) {
        R(cuCtxSetCurrent, P.contexts[1]);
        once("enable", R(cuCtxEnablePeerAccess, P.contexts[0], 0));
    }
}

static void make_managed(void)
{
    R(cuMemAllocManaged, &P.p, GRANULE, CU_MEM_ATTACH_GLOBAL);
}

static void (*prepare)(void);

static void part(void *unused)
{
    (void)unused;
    int n = 0;
    both();
    prepare();
    R(cuCtxSetCurrent, P.contexts[P.asked->current]);
    once("pointer.device", R(cuPointerGetAttribute, &n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, P.p));
    once("pointer.rights", R(cuPointerGetAttribute, &n, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, P.p));
    if (!P.first) {
        const struct combination *c = P.asked;
        V(N("%s.%d%d.from%d.pointer.rights.v", c->memory, c->rights[0], c->rights[1], c->current), "%d", n);
    }
    operations();
    *P.next = ALL_DONE;
}

static void combine(const char *memory, void (*with)(void), int most, const int (*rights)[2])
{
    alarm(SECONDS);
    prepare = with;
    P.next = shared_memory(sizeof *P.next);
    for (int i = 0; i < most; i++)
        for (int current = 0; current < 2; current++) {
            struct combination c = {memory, {rights[i][0], rights[i][1]}, current};
            P.asked = &c;
            for (P.first = 0; P.first >= 0; P.first = *P.next) {
                P.at = 0;
                *P.next = ALL_DONE;
                in_process(part, NULL, 60);
            }
            if (*P.next == ONE_DEVICE)
                return;
        }
}

/* Rights of the devices 0 and 1: 1 to read, 3 to read and write. */
void group_peervmm(void)
{
    static const int rights[][2] = {{0, 0}, {3, 0}, {0, 3}, {1, 0}, {0, 1}, {3, 1}, {1, 3}, {3, 3}};
    combine("map", map, COUNT(rights), rights);
}

void group_peerpool(void)
{
    static const int rights[][2] = {{3, 0}, {3, 1}, {3, 3}};
    combine("pool", of_pool, COUNT(rights), rights);
    combine("default", of_default_pool, COUNT(rights), rights);
}

void group_peeralloc(void)
{
    static const int rights[][2] = {{3, 0}, {3, 3}};
    combine("plain", allocate, COUNT(rights), rights);
    combine("managed", make_managed, 1, rights);
}
