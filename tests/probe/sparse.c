/* Sparse and deferred arrays: properties, requirements, mapping; planes; multicast without objects. */
#include "words.h"

static const struct { const char *name; CUDA_ARRAY3D_DESCRIPTOR d; } shapes[] = {
    {"1d", {4096, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0}},
    {"2d8", {1024, 1024, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0}},
    {"2d16", {1024, 1024, 0, CU_AD_FORMAT_HALF, 1, 0}},
    {"2d32", {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, 0}},
    {"2d64", {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 2, 0}},
    {"2d128", {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 4, 0}},
    {"small", {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0}},
    {"odd", {1000, 777, 0, CU_AD_FORMAT_FLOAT, 1, 0}},
    {"3d8", {128, 128, 128, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0}},
    {"3d32", {128, 128, 128, CU_AD_FORMAT_FLOAT, 1, 0}},
    {"3d128", {128, 128, 64, CU_AD_FORMAT_FLOAT, 4, 0}},
    {"layered", {256, 256, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}},
    {"cube", {256, 256, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}},
    {"surface", {256, 256, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST}},
    {"gather", {256, 256, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER}},
    {"1dlayered", {256, 0, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}}};

static void sparse_of(const char *name, const CUDA_ARRAY_SPARSE_PROPERTIES *p)
{
    V(name, "%u %u %u tail %u %llu %u", p->tileExtent.width, p->tileExtent.height, p->tileExtent.depth,
        p->miptailFirstLevel, p->miptailSize, p->flags);
}

void group_sparse(void)
{
    static const unsigned flags[] = {CUDA_ARRAY3D_SPARSE, CUDA_ARRAY3D_DEFERRED_MAPPING,
        CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING, 0};
    CUDA_ARRAY_SPARSE_PROPERTIES sp;
    CUDA_ARRAY_MEMORY_REQUIREMENTS need;
    setup();
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t f = 0; f < COUNT(flags); f++) {
            CUDA_ARRAY3D_DESCRIPTOR d = shapes[i].d, got;
            CUarray a = NULL;
            char name[64];
            snprintf(name, sizeof name, "%s.%x", shapes[i].name, flags[f]);
            d.Flags |= flags[f];
            if (T(N("%s.create", name), cuArray3DCreate, &a, &d))
                continue;
            memset(&sp, 0, sizeof sp);
            if (!T(N("%s.sparse", name), cuArrayGetSparseProperties, &sp, a))
                sparse_of(N("%s.sparse.v", name), &sp);
            memset(&need, 0, sizeof need);
            if (!T(N("%s.need", name), cuArrayGetMemoryRequirements, &need, a, 0))
                V(N("%s.need.v", name), "%zu %zu", need.size, need.alignment);
            R(cuArray3DGetDescriptor, &got, a);
            V(N("%s.flags", name), "%x", got.Flags);
            T(N("%s.destroy", name), cuArrayDestroy, a);
        }
    CUarray a = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = shapes[3].d;
    d.Flags = CUDA_ARRAY3D_SPARSE;
    R(cuArray3DCreate, &a, &d);
    T("sparse.null", cuArrayGetSparseProperties, NULL, a);
    T("sparse.nullarray", cuArrayGetSparseProperties, &sp, NULL);
    T("need.device", cuArrayGetMemoryRequirements, &need, a, 99);
    /* Use before memory is mapped: a copy, an object. */
    CUDA_MEMCPY2D copy;
    static unsigned host[64];
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = 64;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = a;
    copy.WidthInBytes = 64;
    copy.Height = 1;
    CUtexObject object = 0;
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t;
    memset(&r, 0, sizeof r);
    memset(&t, 0, sizeof t);
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = a;
    T("unmapped.texture", cuTexObjectCreate, &object, &r, &t, NULL);
    R(cuArrayDestroy, a);
}

void group_sparsemip(void)
{
    static const unsigned flags[] = {CUDA_ARRAY3D_SPARSE, CUDA_ARRAY3D_DEFERRED_MAPPING, 0};
    CUDA_ARRAY_SPARSE_PROPERTIES sp;
    CUDA_ARRAY_MEMORY_REQUIREMENTS need;
    CUmipmappedArray m = NULL;
    setup();
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t f = 0; f < COUNT(flags); f++)
            for (unsigned levels = 1; levels <= 8; levels += 7) {
                CUDA_ARRAY3D_DESCRIPTOR d = shapes[i].d;
                char name[64];
                snprintf(name, sizeof name, "%s.%x.%u", shapes[i].name, flags[f], levels);
                d.Flags |= flags[f];
                m = NULL;
                if (T(N("%s.create", name), cuMipmappedArrayCreate, &m, &d, levels))
                    continue;
                memset(&sp, 0, sizeof sp);
                if (!T(N("%s.sparse", name), cuMipmappedArrayGetSparseProperties, &sp, m))
                    sparse_of(N("%s.sparse.v", name), &sp);
                memset(&need, 0, sizeof need);
                if (!T(N("%s.need", name), cuMipmappedArrayGetMemoryRequirements, &need, m, 0))
                    V(N("%s.need.v", name), "%zu %zu", need.size, need.alignment);
                CUarray level = NULL;
                T(N("%s.level", name), cuMipmappedArrayGetLevel, &level, m, 0);
                if (level) {
                    memset(&sp, 0, sizeof sp);
                    T(N("%s.level.sparse", name), cuArrayGetSparseProperties, &sp, level);
                }
                T(N("%s.destroy", name), cuMipmappedArrayDestroy, m);
            }
    CUDA_ARRAY3D_DESCRIPTOR d = shapes[3].d;
    d.Flags = CUDA_ARRAY3D_SPARSE;
    R(cuMipmappedArrayCreate, &m, &d, 4);
    T("sparse.null", cuMipmappedArrayGetSparseProperties, NULL, m);
    T("sparse.nullarray", cuMipmappedArrayGetSparseProperties, &sp, NULL);
    T("need.null", cuMipmappedArrayGetMemoryRequirements, NULL, m, 0);
    T("need.nullarray", cuMipmappedArrayGetMemoryRequirements, &need, NULL, 0);
    T("need.device", cuMipmappedArrayGetMemoryRequirements, &need, m, 99);
}

/* Memory under the tiles of a sparse array and a deferred one. */
void group_sparsemap(void)
{
    CUarray a = NULL, deferred = NULL, plain = NULL;
    CUstream s = NULL;
    CUmemGenericAllocationHandle h = 0, not_for_arrays = 0;
    CUDA_ARRAY3D_DESCRIPTOR d = shapes[3].d;
    struct map m;
    setup();
    R(cuStreamCreate, &s, 0);
    R(cuArray3DCreate, &plain, &d);
    d.Flags = CUDA_ARRAY3D_SPARSE;
    T("create", cuArray3DCreate, &a, &d);
    d.Flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
    T("deferred", cuArray3DCreate, &deferred, &d);
    CUmemAllocationProp prop = {.type = 1, .location = {.type = 1, .id = 0}};
    R(cuMemCreate, &not_for_arrays, 8 << 20, &prop, 0);
    prop.allocFlags.usage = 1;
    T("memory", cuMemCreate, &h, 8 << 20, &prop, 0);
    memset(&m, 0, sizeof m);
    m.resource = CU_RESOURCE_TYPE_ARRAY;
    m.array = a;
    m.at.level.w = 128;
    m.at.level.h = 128;
    m.at.level.d = 1;
    m.operation = 1;
    m.handle = h;
    m.devices = 1;
#define MAP(name) W(name, "cuMemMapArrayAsync", A(&m), 1, A(s))
    W("zero", "cuMemMapArrayAsync", A(&m), 0, A(s));
    W("null", "cuMemMapArrayAsync", 0, 1, A(s));
    W("nullzero", "cuMemMapArrayAsync", 0, 0, A(s));
    W("legacy", "cuMemMapArrayAsync", A(&m), 1, 0);
    MAP("map");
    T("map.sync", cuStreamSynchronize, s);
    static unsigned host[4096], back[4096];
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    host[0] = 42;
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = 64;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = a;
    copy.WidthInBytes = 64;
    copy.Height = 4;
    T("write", cuMemcpy2D, &copy);
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = back;
    copy.dstPitch = 64;
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = a;
    T("read", cuMemcpy2D, &copy);
    V("read.v", "%u", back[0]);
    MAP("again");
    m.at.level.x = 1;
    MAP("odd");
    m.at.level.x = 1024;
    MAP("beyond");
    m.at.level.x = 128;
    m.at.level.w = 100;
    MAP("part");
    m.at.level.w = 0;
    MAP("empty");
    m.at.level.w = 128;
    m.at.level.level = 1;
    MAP("level");
    m.at.level.level = 0;
    m.at.level.layer = 1;
    MAP("layer");
    m.at.level.layer = 0;
    m.handle = not_for_arrays;
    MAP("usage");
    m.handle = 0;
    MAP("nohandle");
    m.handle = h;
    m.offset = 65536;
    MAP("offset");
    m.offset = 3;
    MAP("offset.odd");
    m.offset = 8 << 20;
    MAP("offset.beyond");
    m.offset = 0;
    for (unsigned devices = 0; devices <= 3; devices++) {
        m.devices = devices;
        MAP(N("devices.%u", devices));
    }
    m.devices = 1;
    m.flags = 1;
    MAP("flags");
    m.flags = 0;
    m.reserved[0] = 1;
    MAP("reserved");
    m.reserved[0] = 0;
    m.handle_type = 1;
    MAP("handletype");
    m.handle_type = 0;
    m.subresource = 1;
    MAP("miptail");
    m.subresource = 2;
    MAP("subresource");
    m.subresource = 0;
    for (int type = 0; type <= 4; type++) {
        m.resource = type;
        if (type != 1)
            MAP(N("resource.%d", type));
    }
    m.resource = CU_RESOURCE_TYPE_ARRAY;
    m.array = plain;
    MAP("plain");
    m.array = deferred;
    m.at.level.x = 0;
    m.at.level.w = m.at.level.h = 1024;
    MAP("deferred.map");
    m.array = NULL;
    MAP("nullarray");
    m.array = a;
    m.at.level.w = m.at.level.h = 128;
    for (int operation = 0; operation <= 3; operation++) {
        m.operation = operation;
        MAP(N("operation.%d", operation));
    }
    m.operation = 2;
    m.handle = 0;
    MAP("unmap");
    MAP("unmap.again");
    T("sync", cuCtxSynchronize);
    /* Last: a copy of a tile without memory, which can fault. */
    copy.srcXInBytes = 2048;
    back[0] = 7;
    T("unmapped.read", cuMemcpy2D, &copy);
    V("unmapped.read.v", "%u", back[0]);
    T("unmapped.sync", cuCtxSynchronize);
    T("destroy", cuArrayDestroy, a);
    T("release", cuMemRelease, h);
#undef MAP
}

/* Multicast without objects: only wrong arguments, and granularities. cuMulticastCreate is never called with
 * right ones. */
void group_multicast(void)
{
    CUmulticastObjectProp p;
    CUmemGenericAllocationHandle h = 0;
    size_t g = 0;
    CUdeviceptr a = 0;
    setup();
    R(cuMemAlloc, &a, 4096);
    int supported = -1;
    T("attribute", cuDeviceGetAttribute, &supported, 132, 0);
    M("attribute.v", "%d", supported);
    for (unsigned n = 0; n <= 3; n++)
        for (int types = 0; types <= 9; types += types == 1 ? 7 : 1)
            for (int option = 0; option <= 2; option++) {
                memset(&p, 0, sizeof p);
                p.numDevices = n;
                p.size = 2 << 20;
                p.handleTypes = (unsigned long long)types;
                char name[64];
                snprintf(name, sizeof name, "granularity.%u.%d.%d", n, types, option);
                if (!T(name, cuMulticastGetGranularity, &g, &p, option))
                    M(N("%s.v", name), "%zu", g);
            }
    for (size_t i = 0; i < 4; i++) {
        static const size_t sizes[] = {0, 1, 4096, (size_t)1 << 50};
        p.numDevices = 2;
        p.handleTypes = 1;
        p.size = sizes[i];
        T(N("granularity.size.%zu", i), cuMulticastGetGranularity, &g, &p, 0);
    }
    p.size = 2 << 20;
    p.flags = 1;
    T("granularity.flags", cuMulticastGetGranularity, &g, &p, 0);
    T("granularity.null", cuMulticastGetGranularity, NULL, &p, 0);
    T("granularity.nullprop", cuMulticastGetGranularity, &g, NULL, 0);
    T("create.nullprop", cuMulticastCreate, &h, NULL);
    T("create.nulls", cuMulticastCreate, NULL, NULL);
    T("add.null", cuMulticastAddDevice, 0, 0);
    T("add.baddevice", cuMulticastAddDevice, 0, 99);
    T("bindmem.null", cuMulticastBindMem, 0, 0, 0, 0, 2 << 20, 0);
    T("bindaddr.null", cuMulticastBindAddr, 0, 0, a, 4096, 0);
    T("unbind.null", cuMulticastUnbind, 0, 0, 0, 2 << 20);
    CUmemAllocationProp prop = {.type = 1, .location = {.type = 1, .id = 0}};
    R(cuMemCreate, &h, 2 << 20, &prop, 0);
    T("add.memory", cuMulticastAddDevice, h, 0);
    T("bindmem.memory", cuMulticastBindMem, h, 0, h, 0, 2 << 20, 0);
    T("bindaddr.memory", cuMulticastBindAddr, h, 0, a, 4096, 0);
    T("unbind.memory", cuMulticastUnbind, h, 0, 0, 2 << 20);
    T("sync", cuCtxSynchronize);
}

/* Planes of arrays that have none, or several. */
void group_planes(void)
{
    static const struct { const char *name; unsigned format, channels, flags; } kinds[] = {
        {"float", CU_AD_FORMAT_FLOAT, 1, 0}, {"nv12", 0xb0, 3, 0}, {"nv12.flag", 0xb0, 3, 0x100},
        {"nv12.surface", 0xb0, 3, CUDA_ARRAY3D_SURFACE_LDST}, {"nv12.1", 0xb0, 1, 0x100},
        {"nv16", 0xa5, 3, 0x100}, {"p010", 0x9f, 3, 0x100}, {"p016", 0xa1, 3, 0x100},
        {"yuv444", 0xad, 3, 0x100}};
    setup();
    for (size_t i = 0; i < COUNT(kinds); i++) {
        CUarray a = NULL, plane = NULL;
        CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 64, .Height = 32, .Format = kinds[i].format,
            .NumChannels = kinds[i].channels, .Flags = kinds[i].flags};
        if (T(N("%s.create", kinds[i].name), cuArray3DCreate, &a, &d))
            continue;
        for (unsigned n = 0; n <= 3; n++)
            if (!T(N("%s.plane.%u", kinds[i].name, n), cuArrayGetPlane, &plane, a, n)) {
                CUDA_ARRAY3D_DESCRIPTOR got;
                memset(&got, 0, sizeof got);
                T(N("%s.plane.%u.descriptor", kinds[i].name, n), cuArray3DGetDescriptor, &got, plane);
                V(N("%s.plane.%u.v", kinds[i].name, n), "%zux%zux%zu %x %u %x", got.Width, got.Height,
                    got.Depth,
                    (unsigned)got.Format, got.NumChannels, got.Flags);
                T(N("%s.plane.%u.plane", kinds[i].name, n), cuArrayGetPlane, &plane, plane, 0);
            }
        T(N("%s.null", kinds[i].name), cuArrayGetPlane, NULL, a, 0);
        T(N("%s.destroy", kinds[i].name), cuArrayDestroy, a);
    }
    CUarray plane = NULL;
    T("nullarray", cuArrayGetPlane, &plane, NULL, 0);
}
