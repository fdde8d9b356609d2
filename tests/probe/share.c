/* Memory and pools exported to file descriptors and imported again, in this process and in another. */
#include "words.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRANULE = 2 << 20 };

static CUmemGenericAllocationHandle created(int types, int location)
{
    CUmemGenericAllocationHandle h = 0;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = types,
        .location = {.type = location, .id = 0}};
    R(cuMemCreate, &h, GRANULE, &prop, 0);
    return h;
}

static CUdeviceptr mapped(CUmemGenericAllocationHandle h)
{
    CUdeviceptr p = 0;
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}, .flags = 3};
    R(cuMemAddressReserve, &p, GRANULE, 0, 0, 0);
    R(cuMemMap, p, GRANULE, 0, h, 0);
    R(cuMemSetAccess, p, GRANULE, &access, 1);
    return p;
}

/* Allocations of each location and handle type. */
void group_sharecreate(void)
{
    static const int types[] = {0, 1, 2, 3, 4, 5, 8, 9, 16, 255};
    setup();
    for (int location = 0; location <= 5; location++)
        for (size_t i = 0; i < COUNT(types); i++) {
            CUmemGenericAllocationHandle h = 0;
            size_t g = 0;
            CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                .requestedHandleTypes = types[i],
                .location = {.type = location, .id = 0}};
            char name[64];
            snprintf(name, sizeof name, "%d.%d", location, types[i]);
            CUresult status = T(N("%s.granularity", name), cuMemGetAllocationGranularity, &g, &prop, 0);
            if (!status)
                (location == 1 ? V : M)(N("%s.granularity.v", name), "%zu", g);
            if (!T(N("%s.create", name), cuMemCreate, &h, GRANULE, &prop, 0)) {
                CUmemAllocationProp got;
                memset(&got, 0xff, sizeof got);
                R(cuMemGetAllocationPropertiesFromHandle, &got, h);
                V(N("%s.v", name), "%d %d %d %d", (int)got.type, (int)got.requestedHandleTypes,
                    (int)got.location.type, got.location.id);
                R(cuMemRelease, h);
            }
        }
    for (int type = 0; type <= 3; type++) {
        CUmemGenericAllocationHandle h = 0;
        CUmemAllocationProp prop = {.type = type, .location = {.type = 1, .id = 0}};
        T(N("type.%d", type), cuMemCreate, &h, GRANULE, &prop, 0);
    }
    for (int c = 0; c <= 3; c++)
        for (int usage = 0; usage <= 4; usage++) {
            CUmemGenericAllocationHandle h = 0;
            CUmemAllocationProp prop = {.type = 1, .location = {.type = 1, .id = 0}};
            prop.allocFlags.compressionType = (unsigned char)c;
            prop.allocFlags.usage = (unsigned short)usage;
            prop.allocFlags.gpuDirectRDMACapable = 1;
            T(N("flags.%d.%d", c, usage), cuMemCreate, &h, GRANULE, &prop, 0);
        }
}

void group_share(void)
{
    CUmemGenericAllocationHandle h, plain, back = 0;
    int fd = -1, again = -1;
    unsigned char fabric[64] = {0};
    unsigned value = 0;
    setup();
    h = created(1, 1);
    plain = created(0, 1);
    static const int types[] = {0, 1, 2, 3, 4, 8, 9, 16};
    for (size_t i = 0; i < COUNT(types); i++) {
        T(N("export.%d", types[i]), cuMemExportToShareableHandle, fabric, h, types[i], 0);
        T(N("export.plain.%d", types[i]), cuMemExportToShareableHandle, fabric, plain, types[i], 0);
    }
    T("export", cuMemExportToShareableHandle, &fd, h, 1, 0);
    V("export.v", "%d cloexec=%d", fd >= 0, !!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
    struct stat st;
    M("export.stat", "%d size=%ld", fstat(fd, &st), (long)st.st_size);
    T("export.again", cuMemExportToShareableHandle, &again, h, 1, 0);
    V("export.again.v", "%d", fd != again);
    T("export.flags", cuMemExportToShareableHandle, &again, h, 1, 1);
    T("export.null", cuMemExportToShareableHandle, NULL, h, 1, 0);
    T("export.nullhandle", cuMemExportToShareableHandle, &again, 0, 1, 0);
    CUdeviceptr p = mapped(h);
    R(cuMemsetD32, p, 42, 16);
    T("import", cuMemImportFromShareableHandle, &back, (void *)(intptr_t)fd, 1);
    V("import.v", "same=%d", back == h);
    CUdeviceptr q = mapped(back);
    T("import.read", cuMemcpyDtoH, &value, q, 4);
    V("import.read.v", "%u other=%d", value, p != q);
    CUmemAllocationProp got;
    memset(&got, 0xff, sizeof got);
    T("import.properties", cuMemGetAllocationPropertiesFromHandle, &got, back);
    V("import.properties.v", "%d %d %d %d", (int)got.type, (int)got.requestedHandleTypes,
        (int)got.location.type,
        got.location.id);
    T("import.export", cuMemExportToShareableHandle, &again, back, 1, 0);
    T("import.again", cuMemImportFromShareableHandle, &back, (void *)(intptr_t)fd, 1);
    T("import.null", cuMemImportFromShareableHandle, NULL, (void *)(intptr_t)fd, 1);
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i] != 8)
            T(N("import.%d", types[i]), cuMemImportFromShareableHandle, &back, (void *)(intptr_t)fd,
                types[i]);
    T("import.fabric", cuMemImportFromShareableHandle, &back, fabric, 8);
    T("import.closed", cuMemImportFromShareableHandle, &back, (void *)(intptr_t)987, 1);
    T("import.negative", cuMemImportFromShareableHandle, &back, (void *)(intptr_t)-1, 1);
    int null = open("/dev/null", O_RDWR);
    T("import.devnull", cuMemImportFromShareableHandle, &back, (void *)(intptr_t)null, 1);
    T("release", cuMemRelease, h);
    T("released.export", cuMemExportToShareableHandle, &again, plain, 1, 0);
    close(fd);
    T("closed.read", cuMemcpyDtoH, &value, q, 4);
    T("sync", cuCtxSynchronize);
}

/* A descriptor that a child inherits; it was forked before cuInit and gets the pages over a pipe of numbers:
 * the descriptor is dup'ed by the child through /proc. */
void group_sharefork(void)
{
    int to_child[2], to_parent[2];
    int told[2];
    char done;
    if (pipe(to_child) || pipe(to_parent))
        return;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        char path[64];
        unsigned value = 0;
        CUmemGenericAllocationHandle h = 0;
        alarm(20);
        close(to_child[1]);
        if (read(to_child[0], told, sizeof told) != (ssize_t)sizeof told)
            _exit(1);
        setup();
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)parent, told[0]);
        int fd = open(path, O_RDWR);
        M("child.open", "%d", fd >= 0);
        if (fd >= 0) {
            CUresult status = R(cuMemImportFromShareableHandle, &h, (void *)(intptr_t)fd, 1);
            M("child.import", "%s", error_name(status));
            if (!status)
                R(cuMemcpyDtoH, &value, mapped(h), 4);
            M("child.read", "%u", value);
        }
        if (write(to_parent[1], "x", 1) != 1)
            _exit(1);
        _exit(0);
    }
    close(to_parent[1]);
    setup();
    CUmemGenericAllocationHandle h = created(1, 1);
    CUdeviceptr p = mapped(h);
    R(cuMemsetD32, p, 42, 16);
    R(cuCtxSynchronize);
    T("export", cuMemExportToShareableHandle, &told[0], h, 1, 0);
    if (write(to_child[1], told, sizeof told) != (ssize_t)sizeof told || read(to_parent[0], &done, 1) != 1)
        M("child", "ended early");
    T("sync", cuCtxSynchronize);
}

void group_sharepool(void)
{
    CUmemoryPool pool = NULL, plain = NULL, def = NULL, back = NULL, again = NULL;
    CUstream s = NULL;
    CUdeviceptr p = 0, q = 0, own = 0, other = 0;
    CUmemPoolPtrExportData data, bad;
    int fd = -1;
    unsigned value = 0;
    unsigned long long words[8];
    setup();
    R(cuStreamCreate, &s, 0);
    CUmemPoolProps props = {.allocType = 1, .handleTypes = 1, .location = {.type = 1, .id = 0}};
    T("create", cuMemPoolCreate, &pool, &props);
    props.handleTypes = 0;
    R(cuMemPoolCreate, &plain, &props);
    R(cuDeviceGetDefaultMemPool, &def, 0);
    for (int type = 0; type <= 9; type++) {
        T(N("export.%d", type), cuMemPoolExportToShareableHandle, words, pool, type, 0);
        T(N("export.plain.%d", type), cuMemPoolExportToShareableHandle, words, plain, type, 0);
    }
    T("export.default", cuMemPoolExportToShareableHandle, words, def, 1, 0);
    T("export", cuMemPoolExportToShareableHandle, &fd, pool, 1, 0);
    V("export.v", "%d", fd >= 0);
    T("export.flags", cuMemPoolExportToShareableHandle, words, pool, 1, 1);
    T("export.null", cuMemPoolExportToShareableHandle, NULL, pool, 1, 0);
    T("export.nullpool", cuMemPoolExportToShareableHandle, words, NULL, 1, 0);
    T("alloc", cuMemAllocFromPoolAsync, &p, 1000, pool, s);
    T("alloc.plain", cuMemAllocFromPoolAsync, &own, 1000, plain, s);
    R(cuMemAlloc, &other, 64);
    R(cuMemsetD32Async, p, 9, 16, s);
    R(cuStreamSynchronize, s);
    memset(&data, 0, sizeof data);
    memset(&bad, 0, sizeof bad);
    T("pointer", cuMemPoolExportPointer, &data, p);
    T("pointer.inner", cuMemPoolExportPointer, &bad, p + 16);
    T("pointer.plain", cuMemPoolExportPointer, &bad, own);
    T("pointer.memalloc", cuMemPoolExportPointer, &bad, other);
    T("pointer.garbage", cuMemPoolExportPointer, &bad, 0x1234);
    T("pointer.zero", cuMemPoolExportPointer, &bad, 0);
    T("pointer.null", cuMemPoolExportPointer, NULL, p);
    T("import", cuMemPoolImportFromShareableHandle, &back, (void *)(intptr_t)fd, 1, 0);
    V("import.v", "same=%d", back == pool);
    for (int type = 0; type <= 9; type++)
        if (type != 1 && type != 8 && type != 9)
            T(N("import.%d", type), cuMemPoolImportFromShareableHandle, &again, (void *)(intptr_t)fd, type,
                0);
    T("import.flags", cuMemPoolImportFromShareableHandle, &again, (void *)(intptr_t)fd, 1, 1);
    T("import.null", cuMemPoolImportFromShareableHandle, NULL, (void *)(intptr_t)fd, 1, 0);
    T("import.closed", cuMemPoolImportFromShareableHandle, &again, (void *)(intptr_t)987, 1, 0);
    T("import.negative", cuMemPoolImportFromShareableHandle, &again, (void *)(intptr_t)-1, 1, 0);
    if (back) {
        T("imported.alloc", cuMemAllocFromPoolAsync, &q, 64, back, s);
        T("imported.trim", cuMemPoolTrimTo, back, 0);
        T("imported.setdevice", cuDeviceSetMemPool, 0, back);
        for (int a = 1; a <= 8; a++) {
            unsigned long long v = 0;
            T(N("imported.get.%d", a), cuMemPoolGetAttribute, back, a, &v);
        }
        CUmemAccess_flags flags = 9;
        CUmemLocation here = at_location(1, 0);
        T("imported.access", cuMemPoolGetAccess, &flags, back, &here);
        V("imported.access.v", "%d", (int)flags);
        T("imported.export", cuMemPoolExportToShareableHandle, words, back, 1, 0);
        T("imported.pointer", cuMemPoolImportPointer, &q, back, &data);
        V("imported.pointer.v", "same=%d", p == q);
        T("imported.read", cuMemcpyDtoH, &value, q, 4);
        V("imported.read.v", "%u", value);
        T("imported.pointer.again", cuMemPoolImportPointer, &own, back, &data);
        T("imported.pointer.zero", cuMemPoolImportPointer, &own, back, &bad);
        T("imported.pointer.null", cuMemPoolImportPointer, NULL, back, &data);
        T("imported.pointer.nulldata", cuMemPoolImportPointer, &own, back, NULL);
        T("imported.free", cuMemFreeAsync, q, s);
        T("imported.sync", cuStreamSynchronize, s);
        T("imported.destroy", cuMemPoolDestroy, back);
    }
    T("pointer.own.pool", cuMemPoolImportPointer, &q, pool, &data);
    T("pointer.nullpool", cuMemPoolImportPointer, &q, NULL, &data);
    T("free", cuMemFreeAsync, p, s);
    T("destroy", cuMemPoolDestroy, pool);
    T("sync", cuCtxSynchronize);
}
