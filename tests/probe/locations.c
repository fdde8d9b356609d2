/* Memory by location: pools of each, the current and default pools, advice, prefetches, discards. */
#include "words.h"

static const struct { const char *name; int type, id; } places[] = {
    {"none", 0, 0}, {"none7", 0, 7}, {"device", 1, 0}, {"device99", 1, 99}, {"device-1", 1, -1},
    {"host", 2, 0},
    {"host7", 2, 7}, {"numa", 3, 0}, {"numa99", 3, 99}, {"numa-1", 3, -1}, {"current", 4, 0},
    {"current7", 4, 7},
    {"five", 5, 0}, {"many", 99, 0}};

/* Pools of each location and type, of sizes, for each way of sharing. */
void group_poolprops(void)
{
    static const size_t sizes[] = {0, 1, 4096, 1 << 20, 2 << 20, 3 << 20, 32 << 20, 33 << 20, (size_t)1 << 40,
        ~(size_t)0};
    CUstream s = NULL;
    setup();
    R(cuStreamCreate, &s, 0);
    for (size_t i = 0; i < COUNT(places); i++)
        for (int type = 0; type <= 3; type++) {
            CUmemoryPool pool = NULL;
            CUmemPoolProps props = {.allocType = type,
                .location = {.type = places[i].type, .id = places[i].id}};
            if (!T(N("%s.%d", places[i].name, type), cuMemPoolCreate, &pool, &props))
                R(cuMemPoolDestroy, pool);
        }
    for (int place = 1; place <= 3; place++)
        for (int types = 0; types <= 16; types++) {
            CUmemoryPool pool = NULL;
            CUmemPoolProps props = {.allocType = 1, .handleTypes = types,
                .location = {.type = place, .id = 0}};
            if (!T(N("handles.%d.%d", place, types), cuMemPoolCreate, &pool, &props))
                R(cuMemPoolDestroy, pool);
        }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUmemoryPool pool = NULL;
        CUdeviceptr p = 0, q = 0;
        CUmemPoolProps props = {.allocType = 1, .location = {.type = 1, .id = 0}, .maxSize = sizes[i]};
        if (T(N("size.%zu", i), cuMemPoolCreate, &pool, &props))
            continue;
        T(N("size.%zu.small", i), cuMemAllocFromPoolAsync, &p, 16, pool, s);
        T(N("size.%zu.2m", i), cuMemAllocFromPoolAsync, &q, 2 << 20, pool, s);
        T(N("size.%zu.33m", i), cuMemAllocFromPoolAsync, &q, (33 << 20) + 1, pool, s);
        T(N("size.%zu.65m", i), cuMemAllocFromPoolAsync, &q, (65 << 20) + 1, pool, s);
        R(cuStreamSynchronize, s);
        R(cuMemPoolDestroy, pool);
    }
    for (int usage = 0; usage <= 4; usage++) {
        CUmemoryPool pool = NULL;
        CUmemPoolProps props = {.allocType = 1, .location = {.type = 1, .id = 0},
            .usage = (unsigned short)usage};
        T(N("usage.%d", usage), cuMemPoolCreate, &pool, &props);
    }
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = {.allocType = 1, .location = {.type = 1, .id = 0}};
    props.reserved[0] = 1;
    T("reserved", cuMemPoolCreate, &pool, &props);
    props.reserved[0] = 0;
    props.win32SecurityAttributes = (void *)8;
    T("security", cuMemPoolCreate, &pool, &props);
    T("sync", cuCtxSynchronize);
}

/* The default and the current pool of each location. */
void group_poolof(void)
{
    CUmemoryPool def = NULL, cur = NULL, p = NULL, own = NULL;
    setup();
    R(cuDeviceGetDefaultMemPool, &def, 0);
    R(cuDeviceGetMemPool, &cur, 0);
    for (size_t i = 0; i < COUNT(places); i++)
        for (int type = 0; type <= 3; type++) {
            CUmemLocation at = at_location(places[i].type, places[i].id);
            p = NULL;
            if (!T(N("default.%s.%d", places[i].name, type), cuMemGetDefaultMemPool, &p, &at, type))
                V(N("default.%s.%d.v", places[i].name, type), "device's=%d null=%d", p == def, p == NULL);
            CUmemoryPool first = p;
            p = NULL;
            if (!T(N("get.%s.%d", places[i].name, type), cuMemGetMemPool, &p, &at, type))
                V(N("get.%s.%d.v", places[i].name, type), "device's=%d null=%d default=%d", p == cur,
                    p == NULL, p == first);
        }
    CUmemLocation here = at_location(1, 0);
    T("default.null", cuMemGetDefaultMemPool, NULL, &here, 1);
    T("default.nullat", cuMemGetDefaultMemPool, &p, NULL, 1);
    T("get.null", cuMemGetMemPool, NULL, &here, 1);
    T("get.nullat", cuMemGetMemPool, &p, NULL, 1);
    CUmemPoolProps props = {.allocType = 1, .location = {.type = 1, .id = 0}};
    R(cuMemPoolCreate, &own, &props);
    for (size_t i = 0; i < COUNT(places); i++)
        for (int type = 0; type <= 2; type++) {
            CUmemLocation at = at_location(places[i].type, places[i].id);
            T(N("set.%s.%d", places[i].name, type), cuMemSetMemPool, &at, type, own);
        }
    T("set", cuMemSetMemPool, &here, 1, own);
    R(cuDeviceGetMemPool, &p, 0);
    V("set.v", "%d", p == own);
    R(cuMemGetMemPool, &p, &here, 1);
    V("set.get.v", "%d", p == own);
    T("set.default", cuMemSetMemPool, &here, 1, def);
    T("set.null", cuMemSetMemPool, &here, 1, NULL);
    T("set.nullat", cuMemSetMemPool, NULL, 1, own);
    for (int type = 2; type <= 4; type++) {
        CUmemoryPool other = NULL;
        CUmemLocation at = at_location(type, 0);
        props.location = at;
        if (R(cuMemPoolCreate, &other, &props))
            continue;
        T(N("setown.%d", type), cuMemSetMemPool, &at, 1, other);
        T(N("setown.%d.device", type), cuMemSetMemPool, &here, 1, other);
        T(N("setown.%d.destroy", type), cuMemPoolDestroy, other);
        T(N("setown.%d.get", type), cuMemGetMemPool, &p, &at, 1);
    }
    T("sync", cuCtxSynchronize);
}

/* Managed pools: what can be allocated of them. */
void group_poolmanaged(void)
{
    CUstream s = NULL;
    setup();
    R(cuStreamCreate, &s, 0);
    for (int type = 0; type <= 4; type++) {
        CUmemoryPool pool = NULL;
        CUdeviceptr p = 0;
        CUmemPoolProps props = {.allocType = 2, .location = {.type = type, .id = 0}};
        if (T(N("%d.create", type), cuMemPoolCreate, &pool, &props))
            continue;
        if (!T(N("%d.alloc", type), cuMemAllocFromPoolAsync, &p, 4096, pool, s)) {
            int managed = 9, memory = 9;
            CUmemoryPool of = NULL;
            R(cuStreamSynchronize, s);
            T(N("%d.managed", type), cuPointerGetAttribute, &managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p);
            T(N("%d.memory", type), cuPointerGetAttribute, &memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
            R(cuPointerGetAttribute, &of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p);
            V(N("%d.v", type), "%d %d pool=%d", managed, memory, of == pool);
            T(N("%d.memset", type), cuMemsetD32, p, 3, 16);
            R(cuCtxSynchronize);
            V(N("%d.host", type), "%u", *(unsigned *)p);
            T(N("%d.free", type), cuMemFreeAsync, p, s);
        }
        T(N("%d.destroy", type), cuMemPoolDestroy, pool);
    }
    T("sync", cuCtxSynchronize);
}

/* Advice and prefetches, to each location, of the functions' both versions. */
void group_advise(void)
{
    CUdeviceptr p = 0, device = 0;
    void *host = NULL, *pageable = malloc(1 << 16);
    CUstream s = NULL;
    setup();
    R(cuStreamCreate, &s, 0);
    R(cuMemAllocManaged, &p, 1 << 16, CU_MEM_ATTACH_GLOBAL);
    R(cuMemAlloc, &device, 1 << 16);
    R(cuMemHostAlloc, &host, 1 << 16, 0);
    for (size_t i = 0; i < COUNT(places); i++) {
        CUmemLocation at = at_location(places[i].type, places[i].id);
        for (int advice = 0; advice <= 7; advice++)
            T(N("v2.%s.%d", places[i].name, advice), cuMemAdvise, p, 1 << 16, advice, at);
        for (unsigned flags = 0; flags <= 1; flags++)
            T(N("prefetch2.%s.%u", places[i].name, flags), cuMemPrefetchAsync, p, 1 << 16, at, flags, s);
    }
    static const int devices[] = {0, -1, -2, 1, 99};
    for (size_t i = 0; i < COUNT(devices); i++) {
        for (int advice = 0; advice <= 7; advice++)
            W(N("v1.%d.%d", devices[i], advice), "cuMemAdvise", p, 1 << 16, (uint64_t)advice,
                (uint64_t)(int64_t)devices[i]);
        W(N("prefetch1.%d", devices[i]), "cuMemPrefetchAsync", p, 1 << 16, (uint64_t)(int64_t)devices[i],
            A(s));
    }
    CUmemLocation here = at_location(1, 0);
    const struct { const char *name; CUdeviceptr p; size_t n; } ranges[] = {
        {"device", device, 4096}, {"pinned", (CUdeviceptr)host, 4096},
        {"pageable", (CUdeviceptr)pageable, 4096},
        {"null", 0, 4096}, {"garbage", 0x1230, 4096}, {"zero", p, 0}, {"beyond", p, (1 << 16) + 1},
        {"across", p + 65000, 4096}, {"odd", p + 3, 5}, {"huge", p, ~(size_t)0}};
    for (size_t i = 0; i < COUNT(ranges); i++) {
        T(N("range.%s.advise", ranges[i].name), cuMemAdvise, ranges[i].p, ranges[i].n, 1, here);
        T(N("range.%s.preferred", ranges[i].name), cuMemAdvise, ranges[i].p, ranges[i].n, 3, here);
        T(N("range.%s.prefetch", ranges[i].name), cuMemPrefetchAsync, ranges[i].p, ranges[i].n, here, 0, s);
    }
    T("sync", cuCtxSynchronize);
}

/* Attributes of ranges, several at once. */
void group_rangeattr(void)
{
    CUdeviceptr p = 0, device = 0;
    setup();
    R(cuMemAllocManaged, &p, 1 << 16, CU_MEM_ATTACH_GLOBAL);
    R(cuMemAlloc, &device, 4096);
    for (int round = 0; round < 5; round++) {
        CUmemLocation at = at_location(round == 1 ? 1 : round == 2 ? 2 : round == 3 ? 3 : 1, 0);
        if (round && round < 4)
            R(cuMemAdvise, p, 1 << 16, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, at);
        if (round == 4) {
            R(cuMemAdvise, p, 1 << 15, CU_MEM_ADVISE_SET_READ_MOSTLY, at);
            R(cuMemAdvise, p, 1 << 16, CU_MEM_ADVISE_SET_ACCESSED_BY, at);
        }
        for (int a = 0; a <= 9; a++)
            for (size_t size = 4; size <= 8; size += 4) {
                int values[4] = {77, 77, 77, 77};
                void *data[1] = {values};
                CUmem_range_attribute attribute = a;
                CUresult status = T(N("%d.%d.%zu", round, a, size), cuMemRangeGetAttributes, data, &size,
                    &attribute, 1, p, 1 << 16);
                if (!status)
                    V(N("%d.%d.%zu.v", round, a, size), "%d %d", values[0], values[1]);
            }
    }
    int v[3] = {77, 77, 77};
    void *data[3] = {&v[0], &v[1], &v[2]};
    size_t sizes[3] = {4, 4, 4};
    CUmem_range_attribute which[3] = {1, 2, 4};
    T("three", cuMemRangeGetAttributes, data, sizes, which, 3, p, 1 << 16);
    V("three.v", "%d %d %d", v[0], v[1], v[2]);
    T("zero", cuMemRangeGetAttributes, data, sizes, which, 0, p, 1 << 16);
    T("nulldata", cuMemRangeGetAttributes, NULL, sizes, which, 3, p, 1 << 16);
    T("nullsizes", cuMemRangeGetAttributes, data, NULL, which, 3, p, 1 << 16);
    T("nullwhich", cuMemRangeGetAttributes, data, sizes, NULL, 3, p, 1 << 16);
    T("device", cuMemRangeGetAttributes, data, sizes, which, 3, device, 4096);
    T("null", cuMemRangeGetAttributes, data, sizes, which, 3, 0, 4096);
    T("empty", cuMemRangeGetAttributes, data, sizes, which, 3, p, 0);
    T("beyond", cuMemRangeGetAttributes, data, sizes, which, 3, p, (1 << 16) + 1);
    data[1] = NULL;
    T("nullentry", cuMemRangeGetAttributes, data, sizes, which, 3, p, 1 << 16);
    which[2] = 3;
    data[1] = &v[1];
    for (size_t n = 0; n <= 20; n += 4) {
        int list[8] = {77, 77, 77, 77, 77, 77, 77, 77};
        data[2] = list;
        sizes[2] = n;
        if (!T(N("accessed.%zu", n), cuMemRangeGetAttributes, data, sizes, which, 3, p, 1 << 16))
            V(N("accessed.%zu.v", n), "%d %d %d", list[0], list[1], list[4]);
    }
    W("memattribute", "cuMemGetAttribute", 0, 0, 0);
    W("memattribute2", "cuMemGetAttribute_v2", 0, 0, 0);
}

/* Batches of prefetches and discards. */
void group_prefetchbatch(void)
{
    CUdeviceptr p = 0, q = 0, device = 0;
    CUstream s = NULL, far = NULL;
    CUcontext primary = setup(), second = NULL;
    unsigned value = 9;
    R(cuStreamCreate, &s, 0);
    R(cuMemAllocManaged, &p, 1 << 20, CU_MEM_ATTACH_GLOBAL);
    R(cuMemAllocManaged, &q, 1 << 20, CU_MEM_ATTACH_GLOBAL);
    R(cuMemAlloc, &device, 4096);
    R(cuCtxCreate, &second, NULL, 0, 0);
    R(cuStreamCreate, &far, 0);
    R(cuCtxSetCurrent, primary);
    CUdeviceptr list[3] = {p, q, device}, odd[2] = {p + 3, q + 5};
    size_t sizes[3] = {1 << 20, 1 << 20, 4096}, small[2] = {100, 5}, at[3] = {0, 1, 2}, wrong[2] = {1, 0},
        past[2] = {0, 9};
    CUmemLocation where[2] = {at_location(1, 0), at_location(2, 0)};
    for (int which = 0; which < 2; which++) {
        __typeof__(p_cuMemPrefetchBatchAsync) f = which ? p_cuMemDiscardAndPrefetchBatchAsync
            : p_cuMemPrefetchBatchAsync;
        const char *w = which ? "discardprefetch" : "prefetch";
#define B(name, ...) (begin(N("%s.%s", w, name)) ? report(f(__VA_ARGS__)) : skipped())
        B("one", list, sizes, 1, where, at, 1, 0, s);
        B("two", list, sizes, 2, where, at, 2, 0, s);
        B("same", list, sizes, 2, where, at, 1, 0, s);
        B("device", list, sizes, 3, where, at, 2, 0, s);
        B("order", list, sizes, 2, where, wrong, 2, 0, s);
        B("past", list, sizes, 2, where, past, 2, 0, s);
        B("nozero", list, sizes, 2, where, at + 1, 1, 0, s);
        B("morelocs", list, sizes, 1, where, at, 2, 0, s);
        B("nolocs", list, sizes, 2, where, at, 0, 0, s);
        B("flags", list, sizes, 2, where, at, 1, 1, s);
        B("legacy", list, sizes, 2, where, at, 1, 0, NULL);
        B("legacy1", list, sizes, 2, where, at, 1, 0, CU_STREAM_LEGACY);
        B("perthread", list, sizes, 2, where, at, 1, 0, CU_STREAM_PER_THREAD);
        B("far", list, sizes, 2, where, at, 1, 0, far);
        B("zero", list, sizes, 0, where, at, 1, 0, s);
        B("nulllist", NULL, sizes, 2, where, at, 1, 0, s);
        B("nullsizes", list, NULL, 2, where, at, 1, 0, s);
        B("nullwhere", list, sizes, 2, NULL, at, 1, 0, s);
        B("nullat", list, sizes, 2, where, NULL, 1, 0, s);
        B("odd", odd, small, 2, where, at, 1, 0, s);
        size_t none[2] = {0, 4096}, more[2] = {(1 << 20) + 1, 4096};
        B("empty", list, none, 2, where, at, 1, 0, s);
        B("beyond", list, more, 2, where, at, 1, 0, s);
        CUdeviceptr bad[2] = {p, 0x1230};
        B("garbage", bad, small, 2, where, at, 1, 0, s);
        for (size_t i = 0; i < COUNT(places); i++) {
            CUmemLocation l = at_location(places[i].type, places[i].id);
            B(N("to.%s", places[i].name), list, sizes, 1, &l, at, 1, 0, s);
        }
#undef B
    }
    T("discard.one", cuMemDiscardBatchAsync, list, sizes, 1, 0, s);
    T("discard.two", cuMemDiscardBatchAsync, list, sizes, 2, 0, s);
    T("discard.device", cuMemDiscardBatchAsync, list, sizes, 3, 0, s);
    T("discard.flags", cuMemDiscardBatchAsync, list, sizes, 2, 1, s);
    T("discard.legacy", cuMemDiscardBatchAsync, list, sizes, 2, 0, NULL);
    T("discard.far", cuMemDiscardBatchAsync, list, sizes, 2, 0, far);
    T("discard.zero", cuMemDiscardBatchAsync, list, sizes, 0, 0, s);
    T("discard.null", cuMemDiscardBatchAsync, NULL, sizes, 2, 0, s);
    T("discard.nullsizes", cuMemDiscardBatchAsync, list, NULL, 2, 0, s);
    T("discard.odd", cuMemDiscardBatchAsync, odd, small, 2, 0, s);
    T("sync", cuStreamSynchronize, s);
    T("memset", cuMemsetD32, p, 5, 16);
    T("read", cuMemcpyDtoH, &value, p, 4);
    V("read.v", "%u", value);
    CUgraph g = NULL;
    T("capture", cuStreamBeginCapture, s, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("capture.prefetch", cuMemPrefetchBatchAsync, list, sizes, 1, where, at, 1, 0, s);
    T("capture.discard", cuMemDiscardBatchAsync, list, sizes, 1, 0, s);
    T("capture.prefetch1", cuMemPrefetchAsync, p, 4096, where[0], 0, s);
    T("capture.end", cuStreamEndCapture, s, &g);
    T("end.sync", cuCtxSynchronize);
}
