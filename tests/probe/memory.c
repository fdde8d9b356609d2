/* Device, host and managed memory, pointer attributes, arrays. */
#include "probe.h"
#include <unistd.h>

void group_memory(void)
{
    CUdeviceptr p = 0, q = 0, base = 0;
    size_t pitch = 0, size = 0, free_ = 0, total = 0, before = 0;
    setup();
    T("info", cuMemGetInfo, &free_, &total);
    V("info.ordered", "%d", free_ > 0 && free_ <= total);
    T("info.nullfree", cuMemGetInfo, NULL, &total);
    T("info.nulltotal", cuMemGetInfo, &free_, NULL);
    T("info.nulls", cuMemGetInfo, NULL, NULL);
    before = free_;
    T("alloc.0", cuMemAlloc, &p, 0);
    T("alloc.null", cuMemAlloc, NULL, 16);
    T("alloc.1", cuMemAlloc, &p, 1);
    V("alloc.1.aligned", "256=%d 512=%d", p % 256 == 0, p % 512 == 0);
    T("alloc.1.again", cuMemAlloc, &q, 1);
    V("alloc.distance", "%d", q - p == 512);
    T("range", cuMemGetAddressRange, &base, &size, p);
    V("range.v", "base=%d size=%zu", base == p, size);
    T("range.inside.outside", cuMemGetAddressRange, &base, &size, p + 1);
    T("free.inner", cuMemFree, p + 1);
    T("free", cuMemFree, p);
    T("free.again", cuMemFree, p);
    T("free.0", cuMemFree, 0);
    T("free.garbage", cuMemFree, 0x1234);
    T("free.host", cuMemFree, (CUdeviceptr)&p);
    T("range.freed", cuMemGetAddressRange, &base, &size, p);
    T("range.0", cuMemGetAddressRange, &base, &size, 0);
    T("range.garbage", cuMemGetAddressRange, &base, &size, 0x1234);
    T("memset.freed", cuMemsetD8, p, 0, 1);
    R(cuMemFree, q);
    T("alloc.1000", cuMemAlloc, &p, 1000);
    T("range.1000", cuMemGetAddressRange, &base, &size, p + 999);
    V("range.1000.v", "%d %zu", base == p, size);
    T("range.1000.end", cuMemGetAddressRange, &base, &size, p + 1000);
    T("range.nullbase", cuMemGetAddressRange, NULL, &size, p);
    T("range.nullsize", cuMemGetAddressRange, &base, NULL, p);
    T("range.nulls", cuMemGetAddressRange, NULL, NULL, p);
    T("alloc.huge", cuMemAlloc, &q, (size_t)1 << 50);
    T("alloc.max", cuMemAlloc, &q, SIZE_MAX);
    T("alloc.total", cuMemAlloc, &q, total);
    T("alloc.64m", cuMemAlloc, &q, (size_t)64 << 20);
    R(cuMemGetInfo, &free_, &total);
    V("info.after", "%d", before - free_ >= (size_t)64 << 20);
    T("free.64m", cuMemFree, q);
    static const struct { size_t w, h; unsigned e; } pitches[] = {
        {1, 1, 4}, {100, 10, 4}, {512, 4, 4}, {513, 4, 8}, {1000, 3, 16}, {4097, 2, 4}, {100, 10, 0}, {100, 10, 1}, {100, 10, 2},
        {100, 10, 3}, {100, 10, 32}, {0, 10, 4}, {10, 0, 4}, {0, 0, 4}, {(size_t)1 << 31, 1, 4}, {(size_t)1 << 40, 1 << 20, 4}};
    for (size_t i = 0; i < COUNT(pitches); i++) {
        q = 0;
        pitch = 0;
        CUresult status = T(N("pitch.%zu.%zu.%u", pitches[i].w, pitches[i].h, pitches[i].e), cuMemAllocPitch, &q, &pitch,
                            pitches[i].w, pitches[i].h, pitches[i].e);
        if (!status) {
            R(cuMemGetAddressRange, &base, &size, q);
            V(N("pitch.%zu.%zu.%u.v", pitches[i].w, pitches[i].h, pitches[i].e), "%zu size=%zu", pitch, size);
            R(cuMemFree, q);
        }
    }
    T("pitch.nullptr", cuMemAllocPitch, NULL, &pitch, 10, 10, 4);
    T("pitch.nullpitch", cuMemAllocPitch, &q, NULL, 10, 10, 4);
    T("sync", cuCtxSynchronize);
}

void group_memset(void)
{
    CUdeviceptr p = 0;
    static unsigned char host[4096];
    setup();
    R(cuMemAlloc, &p, 4096);
    T("d8", cuMemsetD8, p, 0xab, 4096);
    T("d8.partial", cuMemsetD8, p + 3, 1, 5);
    R(cuMemcpyDtoH, host, p, 16);
    V("d8.v", "%02x %02x %02x %02x %02x", host[2], host[3], host[7], host[8], host[15]);
    T("d16", cuMemsetD16, p, 0x1234, 4);
    T("d32", cuMemsetD32, p + 8, 0xdeadbeef, 2);
    R(cuMemcpyDtoH, host, p, 20);
    V("d16d32.v", "%02x%02x %02x%02x%02x%02x %02x", host[0], host[1], host[8], host[9], host[10], host[11], host[16]);
    T("d8.zero", cuMemsetD8, p, 0, 0);
    T("d8.zero.null", cuMemsetD8, 0, 0, 0);
    T("d8.null", cuMemsetD8, 0, 0, 1);
    T("d8.garbage", cuMemsetD8, 0x1234, 0, 1);
    T("d8.past", cuMemsetD8, p, 0, 4097);
    T("d8.past.offset", cuMemsetD8, p + 4000, 0, 97);
    T("d16.unaligned", cuMemsetD16, p + 1, 0, 4);
    T("d32.unaligned1", cuMemsetD32, p + 1, 0, 4);
    T("d32.unaligned2", cuMemsetD32, p + 2, 0, 4);
    T("d32.past", cuMemsetD32, p, 0, 1025);
    T("d8.host", cuMemsetD8, (CUdeviceptr)host, 0, 16);
    memset(host, 0, sizeof host);
    T("2d8.clear", cuMemsetD8, p, 0, 4096);
    T("2d8", cuMemsetD2D8, p, 64, 7, 10, 3);
    R(cuMemcpyDtoH, host, p, 256);
    V("2d8.v", "%d %d %d %d %d %d", host[0], host[9], host[10], host[64], host[137], host[192]);
    T("2d16", cuMemsetD2D16, p, 64, 0x0102, 10, 3);
    R(cuMemcpyDtoH, host, p, 256);
    V("2d16.v", "%d %d %d %d", host[0], host[19], host[20], host[64]);
    T("2d32", cuMemsetD2D32, p, 64, 0x01020304, 10, 3);
    R(cuMemcpyDtoH, host, p, 256);
    V("2d32.v", "%d %d %d %d", host[0], host[39], host[40], host[64]);
    T("2d8.width.gt.pitch", cuMemsetD2D8, p, 8, 7, 10, 3);
    T("2d8.width.gt.pitch.h1", cuMemsetD2D8, p, 8, 7, 10, 1);
    T("2d8.width0", cuMemsetD2D8, p, 64, 7, 0, 3);
    T("2d8.height0", cuMemsetD2D8, p, 64, 7, 10, 0);
    T("2d8.pitch0", cuMemsetD2D8, p, 0, 7, 10, 3);
    T("2d8.pitch0.h1", cuMemsetD2D8, p, 0, 7, 10, 1);
    T("2d8.null", cuMemsetD2D8, 0, 64, 7, 10, 3);
    T("2d8.past", cuMemsetD2D8, p, 64, 7, 10, 100);
    T("2d8.lastrow", cuMemsetD2D8, p, 64, 7, 64, 64);
    T("2d8.last.partial", cuMemsetD2D8, p + 4032, 128, 7, 64, 1);
    T("2d16.unaligned", cuMemsetD2D16, p + 1, 64, 7, 10, 3);
    T("2d32.pitch.unaligned", cuMemsetD2D32, p, 62, 7, 10, 3);
    T("2d32.unaligned", cuMemsetD2D32, p + 2, 64, 7, 10, 3);
    T("d8.async", cuMemsetD8Async, p, 1, 16, NULL);
    T("d16.async", cuMemsetD16Async, p, 1, 16, NULL);
    T("d32.async", cuMemsetD32Async, p, 1, 16, NULL);
    T("2d8.async", cuMemsetD2D8Async, p, 64, 1, 16, 2, NULL);
    T("2d16.async", cuMemsetD2D16Async, p, 64, 1, 16, 2, NULL);
    T("2d32.async", cuMemsetD2D32Async, p, 64, 1, 16, 2, NULL);
    T("d8.async.garbage", cuMemsetD8Async, 0x1234, 1, 16, NULL);
    T("d8.async.past", cuMemsetD8Async, p, 1, 5000, NULL);
    T("d8.async.deadstream", cuMemsetD8Async, p, 1, 16, (CUstream)0x1234);
    T("sync", cuCtxSynchronize);
}

/* Sizes that wrap around pass the range check, and the memset faults. */
void group_memsetwrap(void)
{
    CUdeviceptr p = 0;
    setup();
    R(cuMemAlloc, &p, 4096);
    T("d8", cuMemsetD8, p, 0, SIZE_MAX);
    T("sync", cuCtxSynchronize);
}

void group_hostmem(void)
{
    void *h = NULL, *h2 = NULL;
    CUdeviceptr d = 0;
    unsigned flags = 99;
    setup();
    T("alloc", cuMemHostAlloc, &h, 4096, 0);
    T("alloc.0", cuMemHostAlloc, &h2, 0, 0);
    T("alloc.null", cuMemHostAlloc, NULL, 16, 0);
    T("alloc.badflags", cuMemHostAlloc, &h2, 16, 0x100);
    T("alloc.flag8", cuMemHostAlloc, &h2, 16, 8);
    T("alloc.huge", cuMemHostAlloc, &h2, (size_t)1 << 50, 0);
    T("getflags", cuMemHostGetFlags, &flags, h);
    V("getflags.v", "%u", flags);
    T("getflags.inside", cuMemHostGetFlags, &flags, (char *)h + 100);
    T("getflags.null", cuMemHostGetFlags, NULL, h);
    T("getflags.nullptr", cuMemHostGetFlags, &flags, NULL);
    T("getflags.notpinned", cuMemHostGetFlags, &flags, &flags);
    T("devptr", cuMemHostGetDevicePointer, &d, h, 0);
    V("devptr.same", "%d", d == (CUdeviceptr)h);
    T("devptr.inside", cuMemHostGetDevicePointer, &d, (char *)h + 100, 0);
    V("devptr.inside.same", "%d", d == (CUdeviceptr)h + 100);
    T("devptr.end", cuMemHostGetDevicePointer, &d, (char *)h + 4096, 0);
    T("devptr.flags", cuMemHostGetDevicePointer, &d, h, 1);
    T("devptr.null", cuMemHostGetDevicePointer, NULL, h, 0);
    T("devptr.nullptr", cuMemHostGetDevicePointer, &d, NULL, 0);
    T("devptr.notpinned", cuMemHostGetDevicePointer, &d, &flags, 0);
    for (unsigned f = 1; f <= 7; f++) {
        T(N("alloc.flags%u", f), cuMemHostAlloc, &h2, 64, f);
        R(cuMemHostGetFlags, &flags, h2);
        V(N("alloc.flags%u.v", f), "%u", flags);
        T(N("alloc.flags%u.devptr", f), cuMemHostGetDevicePointer, &d, h2, 0);
        R(cuMemFreeHost, h2);
    }
    T("allochost", cuMemAllocHost, &h2, 64);
    R(cuMemHostGetFlags, &flags, h2);
    V("allochost.flags", "%u", flags);
    T("allochost.0", cuMemAllocHost, &h2, 0);
    T("allochost.null", cuMemAllocHost, NULL, 16);
    CUdeviceptr base;
    size_t size;
    T("range", cuMemGetAddressRange, &base, &size, (CUdeviceptr)h);
    V("range.v", "%d %zu", base == (CUdeviceptr)h, size);
    T("memset", cuMemsetD8, (CUdeviceptr)h, 5, 16);
    R(cuCtxSynchronize);
    V("memset.v", "%d", ((unsigned char *)h)[15]);
    T("freedevice", cuMemFree, (CUdeviceptr)h);
    T("free.inner", cuMemFreeHost, (char *)h + 16);
    T("free", cuMemFreeHost, h);
    T("free.again", cuMemFreeHost, h);
    T("free.null", cuMemFreeHost, NULL);
    T("free.stack", cuMemFreeHost, &flags);
    T("getflags.freed", cuMemHostGetFlags, &flags, h);

    void *page = NULL, *fresh = NULL;
    if (posix_memalign(&page, 4096, 3 * 4096) || posix_memalign(&fresh, 4096, 4096))
        return;
    memset(page, 0, 3 * 4096);
    memset(fresh, 0, 4096);
    T("register", cuMemHostRegister, page, 8192, 0);
    T("register.again", cuMemHostRegister, page, 8192, 0);
    T("register.overlap", cuMemHostRegister, (char *)page + 4096, 8192, 0);
    T("register.inside", cuMemHostRegister, (char *)page + 16, 16, 0);
    T("register.null", cuMemHostRegister, NULL, 16, 0);
    T("register.zero", cuMemHostRegister, fresh, 0, 0);
    T("register.badflags", cuMemHostRegister, fresh, 64, 0x100);
    T("register.unmapped", cuMemHostRegister, (void *)0x10000, 4096, 0);
    T("register.small", cuMemHostRegister, (char *)fresh + 100, 50, 0);
    T("register.small.devptr", cuMemHostGetDevicePointer, &d, (char *)fresh + 100, 0);
    T("register.small.unregister", cuMemHostUnregister, (char *)fresh + 100);
    T("registered.getflags", cuMemHostGetFlags, &flags, page);
    V("registered.getflags.v", "%u", flags);
    T("registered.devptr", cuMemHostGetDevicePointer, &d, page, 0);
    V("registered.devptr.same", "%d", d == (CUdeviceptr)page);
    T("registered.freehost", cuMemFreeHost, page);
    T("unregister.inner", cuMemHostUnregister, (char *)page + 4096);
    T("unregister", cuMemHostUnregister, page);
    T("unregister.again", cuMemHostUnregister, page);
    T("unregister.null", cuMemHostUnregister, NULL);
    T("unregister.never", cuMemHostUnregister, fresh);
    for (unsigned f = 1; f <= 15; f++) {
        CUresult status = T(N("register.flags%u", f), cuMemHostRegister, fresh, 4096, f);
        if (!status) {
            R(cuMemHostGetFlags, &flags, fresh);
            V(N("register.flags%u.v", f), "%u", flags);
            R(cuMemHostUnregister, fresh);
        }
    }
    R(cuMemHostAlloc, &h, 64, 0);
    T("unregister.allocated", cuMemHostUnregister, h);
    T("register.allocated", cuMemHostRegister, h, 64, 0);
    T("sync", cuCtxSynchronize);
}

void group_managed(void)
{
    CUdeviceptr p = 0, q = 0;
    setup();
    T("alloc", cuMemAllocManaged, &p, 4096, CU_MEM_ATTACH_GLOBAL);
    T("alloc.host", cuMemAllocManaged, &q, 4096, CU_MEM_ATTACH_HOST);
    T("alloc.flags0", cuMemAllocManaged, &q, 4096, 0);
    T("alloc.flags3", cuMemAllocManaged, &q, 4096, 3);
    T("alloc.single", cuMemAllocManaged, &q, 4096, CU_MEM_ATTACH_SINGLE);
    T("alloc.zero", cuMemAllocManaged, &q, 0, CU_MEM_ATTACH_GLOBAL);
    T("alloc.null", cuMemAllocManaged, NULL, 16, CU_MEM_ATTACH_GLOBAL);
    CUdeviceptr base;
    size_t size;
    T("range", cuMemGetAddressRange, &base, &size, p + 5);
    V("range.v", "%d %zu", base == p, size);
    for (unsigned i = 0; i < 16; i++)
        ((unsigned *)p)[i] = i;
    CUmodule m = load(ptx_main);
    unsigned n = 16;
    void *args[] = {&p, &n};
    T("launch", cuLaunchKernel, function(m, "scale"), 1, 1, 1, 16, 1, 1, 0, NULL, args, NULL);
    T("sync", cuCtxSynchronize);
    V("launch.v", "%u %u", ((unsigned *)p)[1], ((unsigned *)p)[15]);
    T("memset", cuMemsetD8, p, 9, 16);
    R(cuCtxSynchronize);
    V("memset.v", "%u", ((unsigned char *)p)[15]);
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}, host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0},
                  bad = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 99};
    T("prefetch", cuMemPrefetchAsync, p, 4096, here, 0, NULL);
    T("prefetch.host", cuMemPrefetchAsync, p, 4096, host, 0, NULL);
    T("prefetch.baddev", cuMemPrefetchAsync, p, 4096, bad, 0, NULL);
    T("prefetch.flags", cuMemPrefetchAsync, p, 4096, here, 1, NULL);
    T("prefetch.zero", cuMemPrefetchAsync, p, 0, here, 0, NULL);
    T("prefetch.toolong", cuMemPrefetchAsync, p, 1 << 30, here, 0, NULL);
    for (int a = 0; a <= 9; a++)
        T(N("advise.%d", a), cuMemAdvise, p, 4096, a, here);
    T("advise.null", cuMemAdvise, 0, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here);
    T("advise.baddev", cuMemAdvise, p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, bad);
    int v = -9;
    for (int a = 0; a <= 9; a++) {
        CUresult status = T(N("rangeattr.%d", a), cuMemRangeGetAttribute, &v, 4, a, p, 4096);
        if (!status)
            V(N("rangeattr.%d.v", a), "%d", v);
    }
    T("rangeattr.size3", cuMemRangeGetAttribute, &v, 3, 1, p, 4096);
    T("rangeattr.null", cuMemRangeGetAttribute, NULL, 4, 1, p, 4096);
    T("attach", cuStreamAttachMemAsync, NULL, p, 0, CU_MEM_ATTACH_GLOBAL);
    T("attach.length", cuStreamAttachMemAsync, NULL, p, 4096, CU_MEM_ATTACH_HOST);
    T("attach.badlength", cuStreamAttachMemAsync, NULL, p, 100, CU_MEM_ATTACH_HOST);
    T("attach.badflags", cuStreamAttachMemAsync, NULL, p, 0, 9);
    T("attach.single.null", cuStreamAttachMemAsync, NULL, p, 0, CU_MEM_ATTACH_SINGLE);
    CUdeviceptr device = 0;
    R(cuMemAlloc, &device, 4096);
    T("advise.device", cuMemAdvise, device, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here);
    T("prefetch.device", cuMemPrefetchAsync, device, 4096, here, 0, NULL);
    T("free", cuMemFree, p);
    T("free.again", cuMemFree, p);
    T("sync.end", cuCtxSynchronize);
}

void group_pointer(void)
{
    CUdeviceptr device = 0, managed = 0, global = 0, pooled = 0;
    void *pinned = NULL, *page = NULL;
    int plain = 0;
    size_t z;
    CUcontext context = setup();
    R(cuMemAlloc, &device, 1000);
    R(cuMemAllocManaged, &managed, 1000, CU_MEM_ATTACH_GLOBAL);
    R(cuMemHostAlloc, &pinned, 1000, 0);
    if (posix_memalign(&page, 4096, 4096))
        return;
    memset(page, 0, 4096);
    R(cuMemHostRegister, page, 4096, 0);
    R(cuModuleGetGlobal, &global, &z, load(ptx_main), "g_bytes");
    R(cuMemAllocAsync, &pooled, 1000, NULL);
    const struct { const char *name; CUdeviceptr p; } pointers[] = {
        {"device", device}, {"device.inner", device + 10}, {"managed", managed}, {"pinned", (CUdeviceptr)pinned},
        {"pinned.inner", (CUdeviceptr)pinned + 10}, {"registered", (CUdeviceptr)page}, {"global", global}, {"pooled", pooled},
        {"plain", (CUdeviceptr)&plain}, {"null", 0}, {"garbage", 0x1234}};
    for (size_t i = 0; i < COUNT(pointers); i++)
        for (int a = 0; a <= 23; a++) {
            unsigned long long v[4] = {0x5a5a5a5a5a5a5a5aULL, 0, 0, 0};
            CUdeviceptr p = pointers[i].p;
            const char *who = pointers[i].name;
            CUresult status = T(N("%s.%d", who, a), cuPointerGetAttribute, v, a, p);
            if (status)
                continue;
            const char *name = N("%s.%d.v", who, a);
            switch (a) {
            case CU_POINTER_ATTRIBUTE_CONTEXT:
                V(name, "%s", (CUcontext)v[0] == context ? "current" : v[0] ? "other" : "null");
                break;
            case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            case CU_POINTER_ATTRIBUTE_HOST_POINTER:
                V(name, "%s", v[0] == p ? "same" : v[0] ? "other" : "null");
                break;
            case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
                if (a != CU_POINTER_ATTRIBUTE_RANGE_START_ADDR || i != 6)
                    V(name, "%s", v[0] == p ? "same" : v[0] == p - 10 ? "minus10" : v[0] ? "other" : "null");
                break;
            case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
            case CU_POINTER_ATTRIBUTE_BUFFER_ID:
            case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
            case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
                V(name, "%s", v[0] ? "nonzero" : "null");
                break;
            case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
                if (a == CU_POINTER_ATTRIBUTE_MAPPING_SIZE || i == 6)
                    M(name, "%llu", v[0]);
                else
                    V(name, "%llu", v[0]);
                break;
            case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
            case CU_POINTER_ATTRIBUTE_MAPPED:
                V(name, "%d", (int)(v[0] & 0xff));
                break;
            case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
            case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
            case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
                M(name, "%d", (int)(v[0] & 0xff));
                break;
            default:
                V(name, "%d", (int)v[0]);
            }
        }
    T("null.out", cuPointerGetAttribute, NULL, 2, device);
    CUpointer_attribute two[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned type = 99;
    int ordinal = 99;
    void *data[] = {&type, &ordinal};
    T("many", cuPointerGetAttributes, 2, two, data, device);
    V("many.v", "%u %d", type, ordinal);
    type = ordinal = 99;
    T("many.plain", cuPointerGetAttributes, 2, two, data, (CUdeviceptr)&plain);
    V("many.plain.v", "%u %d", type, ordinal);
    T("many.zero", cuPointerGetAttributes, 0, two, data, device);
    T("many.nullattrs", cuPointerGetAttributes, 2, NULL, data, device);
    T("many.nulldata", cuPointerGetAttributes, 2, two, NULL, device);
    CUpointer_attribute wrong[] = {(CUpointer_attribute)99};
    T("many.wrong", cuPointerGetAttributes, 1, wrong, data, device);
    int yes = 1;
    T("set.syncmemops", cuPointerSetAttribute, &yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device);
    T("set.syncmemops.plain", cuPointerSetAttribute, &yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)&plain);
    T("set.readonly", cuPointerSetAttribute, &yes, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device);
    T("set.null", cuPointerSetAttribute, NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device);
    R(cuMemFree, device);
    T("freed", cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device);
    T("sync", cuCtxSynchronize);
}

void group_array(void)
{
    CUarray a = NULL, b = NULL;
    static float host[256], back[256];
    CUdeviceptr p = 0;
    setup();
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1}, got;
    T("create", cuArrayCreate, &a, &d);
    T("create.nullout", cuArrayCreate, NULL, &d);
    T("create.nulldesc", cuArrayCreate, &b, NULL);
    memset(&got, 0, sizeof got);
    T("getdescriptor", cuArrayGetDescriptor, &got, a);
    V("getdescriptor.v", "%zu %zu %d %u", got.Width, got.Height, (int)got.Format, got.NumChannels);
    T("getdescriptor.null", cuArrayGetDescriptor, NULL, a);
    T("getdescriptor.nullarray", cuArrayGetDescriptor, &got, NULL);
    static const struct { const char *name; size_t w, h; int format; unsigned channels; } tries[] = {
        {"w0", 0, 8, CU_AD_FORMAT_FLOAT, 1}, {"h0", 16, 0, CU_AD_FORMAT_FLOAT, 1}, {"ch0", 16, 8, CU_AD_FORMAT_FLOAT, 0},
        {"ch3", 16, 8, CU_AD_FORMAT_FLOAT, 3}, {"ch2", 16, 8, CU_AD_FORMAT_HALF, 2}, {"ch4", 16, 8, CU_AD_FORMAT_UNSIGNED_INT8, 4},
        {"ch5", 16, 8, CU_AD_FORMAT_FLOAT, 5}, {"badformat", 16, 8, 0x7777, 1}, {"w.huge", 1 << 20, 8, CU_AD_FORMAT_FLOAT, 1},
        {"h.huge", 16, 1 << 20, CU_AD_FORMAT_FLOAT, 1}};
    for (size_t i = 0; i < COUNT(tries); i++) {
        CUDA_ARRAY_DESCRIPTOR t = {.Width = tries[i].w, .Height = tries[i].h, .Format = tries[i].format, .NumChannels = tries[i].channels};
        b = NULL;
        if (!T(N("create.%s", tries[i].name), cuArrayCreate, &b, &t))
            R(cuArrayDestroy, b);
    }
    CUDA_ARRAY3D_DESCRIPTOR d3 = {.Width = 8, .Height = 4, .Depth = 2, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 2};
    T("create3d", cuArray3DCreate, &b, &d3);
    CUDA_ARRAY3D_DESCRIPTOR got3;
    memset(&got3, 0, sizeof got3);
    T("get3d", cuArray3DGetDescriptor, &got3, b);
    V("get3d.v", "%zu %zu %zu %d %u %u", got3.Width, got3.Height, got3.Depth, (int)got3.Format, got3.NumChannels, got3.Flags);
    T("get3d.of2d", cuArray3DGetDescriptor, &got3, a);
    V("get3d.of2d.v", "%zu %zu %zu", got3.Width, got3.Height, got3.Depth);
    T("get2d.of3d", cuArrayGetDescriptor, &got, b);
    T("destroy3d", cuArrayDestroy, b);
    d3.Flags = 0x40000000;
    T("create3d.badflags", cuArray3DCreate, &b, &d3);
    d3.Flags = CUDA_ARRAY3D_LAYERED;
    T("create3d.layered", cuArray3DCreate, &b, &d3);
    d3.Flags = CUDA_ARRAY3D_CUBEMAP;
    T("create3d.cubemap.bad", cuArray3DCreate, &b, &d3);
    for (int i = 0; i < 256; i++)
        host[i] = (float)i;
    R(cuMemAlloc, &p, sizeof host);
    R(cuMemcpyHtoD, p, host, sizeof host);
    T("htoa", cuMemcpyHtoA, a, 0, host, 64);
    T("atoh", cuMemcpyAtoH, back, a, 0, 64);
    V("atoh.v", "%g %g", back[1], back[15]);
    T("htoa.past", cuMemcpyHtoA, a, 0, host, 1024);
    T("htoa.offset", cuMemcpyHtoA, a, 8, host, 16);
    T("htoa.rows", cuMemcpyHtoA, a, 0, host, 128);
    T("dtoa", cuMemcpyDtoA, a, 0, p, 64);
    T("atod", cuMemcpyAtoD, p, a, 0, 64);
    T("atoa", cuMemcpyAtoA, a, 0, a, 32, 32);
    T("htoa.zero", cuMemcpyHtoA, a, 0, host, 0);
    T("htoa.null", cuMemcpyHtoA, NULL, 0, host, 16);
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 64, .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a, .WidthInBytes = 64, .Height = 8};
    T("copy2d", cuMemcpy2D, &c);
    c.Height = 9;
    T("copy2d.toohigh", cuMemcpy2D, &c);
    c.Height = 8;
    c.WidthInBytes = 65;
    T("copy2d.toowide", cuMemcpy2D, &c);
    CUDA_MEMCPY2D r = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = back,
                       .dstPitch = 64, .WidthInBytes = 64, .Height = 8};
    T("copy2d.back", cuMemcpy2D, &r);
    V("copy2d.back.v", "%g %g", back[17], back[127]);
    CUmipmappedArray mip = NULL;
    d3.Flags = 0;
    T("mipmap", cuMipmappedArrayCreate, &mip, &d3, 3);
    T("mipmap.level", cuMipmappedArrayGetLevel, &b, mip, 1);
    R(cuArray3DGetDescriptor, &got3, b);
    V("mipmap.level.v", "%zu %zu %zu", got3.Width, got3.Height, got3.Depth);
    T("mipmap.level.bad", cuMipmappedArrayGetLevel, &b, mip, 99);
    T("mipmap.destroy", cuMipmappedArrayDestroy, mip);
    T("destroy", cuArrayDestroy, a);
    T("destroy.again", cuArrayDestroy, a);
    T("destroy.null", cuArrayDestroy, NULL);
    T("sync", cuCtxSynchronize);
}
