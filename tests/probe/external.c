/* External memory and semaphores: handles of every type made of file descriptors that are no such thing, and
 * their use with handles that were not imported. */
#define _GNU_SOURCE
#include "graph_kit.h"
#include "words.h"
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* As CUDA_EXTERNAL_MEMORY_HANDLE_DESC and CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, which not every cuda.h
 * defines. */
struct memory { int type; union { int fd; struct { void *handle; const void *name; } named; } h;
    unsigned long long size; unsigned flags, reserved[16]; };
struct semaphore { int type; union { int fd; struct { void *handle; const void *name; } named; } h;
    unsigned flags, reserved[16]; };
struct mipmap { unsigned long long offset; CUDA_ARRAY3D_DESCRIPTOR array; unsigned levels, reserved[16]; };

enum { GRANULE = 2 << 20 };

/* Descriptors of several kinds; one is of memory that the driver exported. */
static int exported(void)
{
    int fd = -1;
    CUmemGenericAllocationHandle h = 0;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = 1,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    R(cuMemCreate, &h, GRANULE, &prop, 0);
    R(cuMemExportToShareableHandle, &fd, h, 1, 0);
    return fd;
}

static int memfd(void)
{
    int fd = memfd_create("probe", 0);
    if (ftruncate(fd, GRANULE))
        return -1;
    return fd;
}

static const struct { const char *name; int (*make)(void); } kinds[] = {
    {"memfd", memfd}, {"exported", exported}};

static int event_descriptor(void) { return eventfd(0, 0); }
static int null_device(void) { return open("/dev/null", O_RDWR); }
static int dead(void) { return 987; }
static int negative(void) { return -1; }

static const struct { const char *name; int (*make)(void); } others[] = {
    {"eventfd", event_descriptor}, {"null", null_device}, {"closed", dead}, {"negative", negative}};

static void ask_memory(const char *given, int type, int fd, unsigned long long size, unsigned flags)
{
    CUexternalMemory m = NULL;
    struct memory d;
    CUdeviceptr p = 0;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC b;
    char name[64];
    snprintf(name, sizeof name, "%s", given);
    memset(&d, 0, sizeof d);
    memset(&b, 0, sizeof b);
    d.type = type;
    d.h.fd = fd;
    d.size = size;
    d.flags = flags;
    if (T(name, cuImportExternalMemory, &m, (const void *)&d))
        return;
    b.size = size;
    T(N("%s.buffer", name), cuExternalMemoryGetMappedBuffer, &p, m, &b);
    T(N("%s.memset", name), cuMemsetD8, p, 1, 16);
    T(N("%s.free", name), cuMemFree, p);
    T(N("%s.destroy", name), cuDestroyExternalMemory, m);
}

void group_extmem(void)
{
    setup();
    for (int type = 0; type <= 9; type++) {
        for (size_t k = 0; k < COUNT(kinds); k++)
            ask_memory(N("type.%d.%s", type, kinds[k].name), type, kinds[k].make(), GRANULE, 0);
        for (size_t k = 0; k < COUNT(others); k++)
            ask_memory(N("type.%d.%s", type, others[k].name), type, others[k].make(), GRANULE, 0);
    }
    ask_memory("exported.size0", 1, exported(), 0, 0);
    ask_memory("exported.less", 1, exported(), GRANULE / 2, 0);
    ask_memory("exported.more", 1, exported(), 2 * GRANULE, 0);
    ask_memory("exported.odd", 1, exported(), 1000, 0);
    for (unsigned flags = 1; flags <= 4; flags++)
        ask_memory(N("exported.flags.%u", flags), 1, exported(), GRANULE, flags);
    ask_memory("memfd.size0", 1, memfd(), 0, 0);
    struct memory d;
    CUexternalMemory m = NULL;
    memset(&d, 0, sizeof d);
    d.type = 1;
    d.h.fd = exported();
    d.size = GRANULE;
    d.reserved[3] = 1;
    T("reserved", cuImportExternalMemory, &m, (const void *)&d);
    d.reserved[3] = 0;
    T("nullout", cuImportExternalMemory, NULL, (const void *)&d);
    T("nulldesc", cuImportExternalMemory, &m, NULL);
}

/* Buffers and arrays of external memory, as far as exported memory can be imported. */
void group_extmap(void)
{
    struct memory d;
    CUexternalMemory m = NULL;
    CUdeviceptr p = 0, q = 0;
    CUmipmappedArray mip = NULL;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC b;
    setup();
    memset(&d, 0, sizeof d);
    memset(&b, 0, sizeof b);
    T("buffer.nullmemory", cuExternalMemoryGetMappedBuffer, &p, NULL, &b);
    T("destroy.null", cuDestroyExternalMemory, NULL);
    d.type = 1;
    d.h.fd = exported();
    d.size = GRANULE;
    if (T("import", cuImportExternalMemory, &m, (const void *)&d))
        return;
    b.size = 4096;
    T("buffer", cuExternalMemoryGetMappedBuffer, &p, m, &b);
    T("buffer.again", cuExternalMemoryGetMappedBuffer, &q, m, &b);
    V("buffer.again.v", "%d", p == q);
    b.offset = 4096;
    T("buffer.offset", cuExternalMemoryGetMappedBuffer, &q, m, &b);
    V("buffer.offset.v", "%d", q == p + 4096);
    b.offset = 3;
    T("buffer.odd", cuExternalMemoryGetMappedBuffer, &q, m, &b);
    b.offset = GRANULE;
    T("buffer.end", cuExternalMemoryGetMappedBuffer, &q, m, &b);
    b.offset = GRANULE - 16;
    T("buffer.beyond", cuExternalMemoryGetMappedBuffer, &q, m, &b);
    b.offset = 0;
    b.size = 0;
    T("buffer.zero", cuExternalMemoryGetMappedBuffer, &q, m, &b);
    b.size = 2 * GRANULE;
    T("buffer.more", cuExternalMemoryGetMappedBuffer, &q, m, &b);
    b.size = 4096;
    b.flags = 1;
    T("buffer.flags", cuExternalMemoryGetMappedBuffer, &q, m, &b);
    b.flags = 0;
    b.reserved[0] = 1;
    T("buffer.reserved", cuExternalMemoryGetMappedBuffer, &q, m, &b);
    b.reserved[0] = 0;
    T("buffer.null", cuExternalMemoryGetMappedBuffer, NULL, m, &b);
    T("buffer.nulldesc", cuExternalMemoryGetMappedBuffer, &q, m, NULL);
    struct mipmap a;
    memset(&a, 0, sizeof a);
    a.array = (CUDA_ARRAY3D_DESCRIPTOR){.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT,
        .NumChannels = 1};
    a.levels = 1;
    W("mipmap", "cuExternalMemoryGetMappedMipmappedArray", A(&mip), A(m), A(&a));
    a.levels = 0;
    W("mipmap.levels0", "cuExternalMemoryGetMappedMipmappedArray", A(&mip), A(m), A(&a));
    a.levels = 99;
    W("mipmap.levels99", "cuExternalMemoryGetMappedMipmappedArray", A(&mip), A(m), A(&a));
    a.levels = 1;
    a.array.Width = 1 << 14;
    a.array.Height = 1 << 14;
    W("mipmap.big", "cuExternalMemoryGetMappedMipmappedArray", A(&mip), A(m), A(&a));
    W("mipmap.null", "cuExternalMemoryGetMappedMipmappedArray", 0, A(m), A(&a));
    W("mipmap.nulldesc", "cuExternalMemoryGetMappedMipmappedArray", A(&mip), A(m), 0);
    T("destroy.mapped", cuDestroyExternalMemory, m);
    T("sync", cuCtxSynchronize);
}

void group_extsem(void)
{
    struct semaphore d;
    CUexternalSemaphore s = NULL;
    setup();
    for (int type = 0; type <= 11; type++)
        for (size_t k = 0; k < COUNT(others) + COUNT(kinds); k++) {
            const char *name = k < COUNT(kinds) ? kinds[k].name : others[k - COUNT(kinds)].name;
            memset(&d, 0, sizeof d);
            d.type = type;
            d.h.fd = k < COUNT(kinds) ? kinds[k].make() : others[k - COUNT(kinds)].make();
            if (!T(N("type.%d.%s", type, name), cuImportExternalSemaphore, &s, (const void *)&d))
                T(N("type.%d.%s.destroy", type, name), cuDestroyExternalSemaphore, s);
        }
    d.type = 1;
    d.h.fd = eventfd(0, 0);
    for (unsigned flags = 1; flags <= 2; flags++) {
        d.flags = flags;
        T(N("flags.%u", flags), cuImportExternalSemaphore, &s, (const void *)&d);
    }
    d.flags = 0;
    d.reserved[0] = 1;
    T("reserved", cuImportExternalSemaphore, &s, (const void *)&d);
    d.reserved[0] = 0;
    T("nullout", cuImportExternalSemaphore, NULL, (const void *)&d);
    T("nulldesc", cuImportExternalSemaphore, &s, NULL);
    T("destroy.null", cuDestroyExternalSemaphore, NULL);
}

void group_extuse(void)
{
    CUexternalSemaphore none[2] = {NULL, NULL};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS sp[2];
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wp[2];
    memset(sp, 0, sizeof sp);
    memset(wp, 0, sizeof wp);
    T("cold.signal", cuSignalExternalSemaphoresAsync, none, sp, 1, NULL);
    kit();
    T("signal.zero", cuSignalExternalSemaphoresAsync, none, sp, 0, NULL);
    T("signal.nullzero", cuSignalExternalSemaphoresAsync, NULL, NULL, 0, NULL);
    T("signal.nullsems", cuSignalExternalSemaphoresAsync, NULL, sp, 1, NULL);
    T("signal.nullparams", cuSignalExternalSemaphoresAsync, none, NULL, 1, NULL);
    T("signal.nullhandle", cuSignalExternalSemaphoresAsync, none, sp, 1, NULL);
    T("wait.zero", cuWaitExternalSemaphoresAsync, none, wp, 0, NULL);
    T("wait.nullzero", cuWaitExternalSemaphoresAsync, NULL, NULL, 0, NULL);
    T("wait.nullsems", cuWaitExternalSemaphoresAsync, NULL, wp, 1, NULL);
    T("wait.nullparams", cuWaitExternalSemaphoresAsync, none, NULL, 1, NULL);
    T("wait.nullhandle", cuWaitExternalSemaphoresAsync, none, wp, 1, NULL);
    CUgraph g = NULL;
    CUgraphNode n = NULL;
    CUgraphExec exec = NULL;
    R(cuGraphCreate, &g, 0);
    R(cuGraphAddEmptyNode, &n, g, NULL, 0);
    R(cuGraphInstantiate, &exec, g, 0);
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal = {.extSemArray = none, .paramsArray = sp, .numExtSems = 1};
    CUDA_EXT_SEM_WAIT_NODE_PARAMS wait = {.extSemArray = none, .paramsArray = wp, .numExtSems = 1};
    T("exec.signal", cuGraphExecExternalSemaphoresSignalNodeSetParams, exec, n, &signal);
    T("exec.signal.null", cuGraphExecExternalSemaphoresSignalNodeSetParams, exec, n, NULL);
    T("exec.signal.nullexec", cuGraphExecExternalSemaphoresSignalNodeSetParams, NULL, n, &signal);
    T("exec.signal.nullnode", cuGraphExecExternalSemaphoresSignalNodeSetParams, exec, NULL, &signal);
    T("exec.wait", cuGraphExecExternalSemaphoresWaitNodeSetParams, exec, n, &wait);
    T("exec.wait.null", cuGraphExecExternalSemaphoresWaitNodeSetParams, exec, n, NULL);
    T("exec.wait.nullexec", cuGraphExecExternalSemaphoresWaitNodeSetParams, NULL, n, &wait);
    T("exec.wait.nullnode", cuGraphExecExternalSemaphoresWaitNodeSetParams, exec, NULL, &wait);
    signal.numExtSems = 0;
    wait.numExtSems = 0;
    CUgraphNode sn = NULL, wn = NULL;
    T("add.signal.zero", cuGraphAddExternalSemaphoresSignalNode, &sn, g, NULL, 0, &signal);
    T("add.wait.zero", cuGraphAddExternalSemaphoresWaitNode, &wn, g, NULL, 0, &wait);
    CUgraphExec both = NULL;
    if (sn && wn && !T("zero.instantiate", cuGraphInstantiate, &both, g, 0)) {
        T("zero.exec.signal", cuGraphExecExternalSemaphoresSignalNodeSetParams, both, sn, &signal);
        T("zero.exec.wait", cuGraphExecExternalSemaphoresWaitNodeSetParams, both, wn, &wait);
        T("zero.launch", cuGraphLaunch, both, NULL);
    }
    T("sync", cuCtxSynchronize);
}
