/* Arrays of video formats: what the other groups leave open. Each part has a process of its own, since some
 * copies fault. */
#include "planes.h"

/* A part about a format. */
struct about { unsigned kind; char name[32]; };

static void for_formats(void (*run)(void *), const char *name, unsigned first, unsigned last)
{
    for (unsigned k = first; k <= last; k++) {
        struct about a = {.kind = k};
        snprintf(a.name, sizeof a.name, "%s%s", kinds[k].name, name);
        in_process(run, &a, 20);
    }
}

/* Odd widths and heights alone. */
void group_planareven(void)
{
    static const struct { size_t w, h; } sizes[] = {{65, 32}, {64, 33}, {65, 33}, {66, 34}, {2, 1}, {1, 2}};
    setup();
    for (unsigned k = 0; k <= LAST_PACKED; k++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (unsigned flags = VIDEO; flags <= (VIDEO | DEFERRED); flags += SPARSE) {
                CUDA_ARRAY3D_DESCRIPTOR d = shape(k, sizes[s].w, sizes[s].h, 0, flags);
                CUarray a = NULL;
                CUmipmappedArray m = NULL;
                char name[64];
                snprintf(name, sizeof name, "%s.%zux%zu.%x", kinds[k].name, d.Width, d.Height, flags);
                if (!T(N("%s.create", name), cuArray3DCreate, &a, &d))
                    R(cuArrayDestroy, a);
                if (!T(N("%s.mipmap", name), cuMipmappedArrayCreate, &m, &d, 1))
                    R(cuMipmappedArrayDestroy, m);
            }
    T("sync", cuCtxSynchronize);
}

/* Textures of planes by the flags: integers, coordinates from 0 to 1. Their values as floats or integers. */
static void read_planes(void *data)
{
    struct about *about = data;
    const char *n = about->name;
    CUDA_ARRAY3D_DESCRIPTOR d = shape(about->kind, 64, 32, 0, VIDEO);
    CUarray a = NULL, plane = NULL;
    CUdeviceptr out = 0;
    prepare(n);
    R(cuMemAlloc, &out, 64);
    CUfunction fetch = function(load(ptx_texture), "fetch");
    T(step(N("%s.create", n)), cuArray3DCreate, &a, &d);
    for (unsigned k = 0; k < 3; k++) {
        CUDA_ARRAY3D_DESCRIPTOR got;
        if (R(cuArrayGetPlane, &plane, a, k))
            continue;
        R(cuArray3DGetDescriptor, &got, plane);
        size_t row = got.Width * got.NumChannels * (got.Format == CU_AD_FORMAT_UNSIGNED_INT8 ? 1 : 2);
        fill(N("%s.%u.fill", n, k), plane, 0, row, got.Height, 5 + k);
        for (unsigned flags = 0; flags < 4; flags++)
            for (unsigned filter = 0; filter < 2; filter++) {
                CUDA_RESOURCE_DESC r;
                CUDA_TEXTURE_DESC t;
                CUtexObject object = 0;
                char name[64];
                snprintf(name, sizeof name, "%s.%u.%x.%u", n, k, flags, filter);
                memset(&r, 0, sizeof r);
                memset(&t, 0, sizeof t);
                r.resType = CU_RESOURCE_TYPE_ARRAY;
                r.res.array.hArray = plane;
                t.flags = flags;
                t.filterMode = filter ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
                if (T(step(N("%s.texture", name)), cuTexObjectCreate, &object, &r, &t, NULL))
                    continue;
                unsigned words[4] = {9, 9, 9, 9};
                float x = flags & 2 ? 0.3f : 7.5f, y = flags & 2 ? 0.2f : 3.5f;
                void *args[] = {&out, &object, &x, &y};
                R(cuMemcpyHtoD, out, words, 16);
                T(step(N("%s.run", name)), cuLaunchKernel, fetch, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
                R(cuMemcpyDtoH, words, out, 16);
                V(N("%s.v", name), "%x %x %x %x", words[0], words[1], words[2], words[3]);
            }
    }
    T(step(N("%s.sync", n)), cuCtxSynchronize);
}

void group_planarread(void)
{
    for_formats(read_planes, "", 0, FIRST_PACKED - 1);
}

/* Sparse arrays whose sizes are no multiples of tiles, with layers. */
static void odd_layers(void *data)
{
    struct about *about = data;
    const char *n = about->name;
    size_t bytes = about->kind == NV12 ? 1 : 2;
    CUDA_ARRAY3D_DESCRIPTOR d = shape(about->kind, 300, 300, 2, VIDEO | SPARSE | CUDA_ARRAY3D_LAYERED);
    CUarray a = NULL, luma = NULL, chroma = NULL;
    prepare(n);
    T(step(N("%s.create", n)), cuArray3DCreate, &a, &d);
    all_of(N("%s.of", n), a);
    R(cuArrayGetPlane, &luma, a, 0);
    R(cuArrayGetPlane, &chroma, a, 1);
    for (unsigned layer = 0; layer < 2; layer++) {
        struct map m = tiles(luma, 0, 0, 300, 300, layer * 8 * TILE);
        m.at.level.layer = layer;
        put(N("%s.map.%u", n, layer), m);
    }
    for (unsigned layer = 0; layer < 2; layer++) {
        fill(N("%s.luma.%u.fill", n, layer), luma, layer, 300 * bytes, 300, 1);
        look(N("%s.luma.%u.look", n, layer), luma, layer, 300 * bytes, 300, 1);
        memory_of(N("%s.luma.%u.memory", n, layer));
    }
    for (unsigned layer = 0; layer < 2; layer++) {
        fill(N("%s.chroma.%u.fill", n, layer), chroma, layer, 300 * bytes, 150, 2);
        look(N("%s.chroma.%u.look", n, layer), chroma, layer, 300 * bytes, 150, 2);
        memory_of(N("%s.chroma.%u.memory", n, layer));
    }
    T(step(N("%s.sync", n)), cuCtxSynchronize);
}

/* Sizes at which one plane has a mip tail and another has none. */
static void tails_of(void *data)
{
    struct about *about = data;
    static const struct { size_t w, h; } sizes[] = {
        {256, 256}, {512, 200}, {200, 512}, {300, 200}, {512, 130}, {140, 140}, {1000, 100}, {258, 258}};
    setup();
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (unsigned layers = 0; layers <= 3; layers += 3) {
            unsigned flags = VIDEO | SPARSE | (layers ? CUDA_ARRAY3D_LAYERED : 0);
            CUDA_ARRAY3D_DESCRIPTOR d = shape(about->kind, sizes[s].w, sizes[s].h, layers, flags);
            CUarray a = NULL;
            CUmipmappedArray m = NULL;
            CUDA_ARRAY_SPARSE_PROPERTIES p;
            char name[64];
            snprintf(name, sizeof name, "%s.%zux%zu.%u", about->name, d.Width, d.Height, layers);
            if (!T(N("%s.create", name), cuArray3DCreate, &a, &d)) {
                all_of(N("%s.of", name), a);
                R(cuArrayDestroy, a);
            }
            memset(&p, 0, sizeof p);
            if (T(N("%s.mipmap", name), cuMipmappedArrayCreate, &m, &d, 1))
                continue;
            R(cuMipmappedArrayGetSparseProperties, &p, m);
            V(N("%s.mipmap.v", name), "%u %u tail %u %llu %x", p.tileExtent.width, p.tileExtent.height,
                p.miptailFirstLevel, p.miptailSize, p.flags);
            R(cuMipmappedArrayDestroy, m);
        }
}

void group_planarodd(void)
{
    for_formats(odd_layers, ".odd", NV12, P010);
    for_formats(tails_of, ".tails", 0, LAST_PACKED);
}

/* Packed formats: rows of arrays of all kinds. */
static void packed_plain(void *data)
{
    struct about *about = data;
    const char *n = about->name;
    CUarray a = NULL;
    prepare(n);
    for (size_t width = 64; width <= 66; width++) {
        CUDA_ARRAY3D_DESCRIPTOR d = shape(about->kind, width, 8, 0, VIDEO);
        if (T(step(N("%s.create.%zu", n, width)), cuArray3DCreate, &a, &d))
            continue;
        for (size_t bytes = width; bytes <= 16 * width; bytes *= 2) {
            fill(N("%s.%zu.fill.%zu", n, width, bytes), a, 0, bytes, 8, 3);
            look(N("%s.%zu.look.%zu", n, width, bytes), a, 0, bytes, 8, 3);
        }
        R(cuArrayDestroy, a);
    }
    T(step(N("%s.sync", n)), cuCtxSynchronize);
}

/* A sparse or deferred array and rows of up to `bytes` bytes for each pixel. */
static void packed_mapped(const struct about *about, unsigned flags, size_t bytes)
{
    const char *n = about->name;
    CUDA_ARRAY3D_DESCRIPTOR d = shape(about->kind, 512, 256, 0, VIDEO | flags);
    CUarray a = NULL;
    prepare(n);
    T(step(N("%s.create", n)), cuArray3DCreate, &a, &d);
    all_of(N("%s.of", n), a);
    for (unsigned x = 0; x <= 512 && flags == SPARSE; x += 128)
        put(N("%s.tile.%u", n, x), tiles(a, x, 0, 128, 64, x / 128 * TILE));
    put(N("%s.map", n), tiles(a, 0, 0, 512, 256, 0));
    for (size_t row = 512; row <= 512 * bytes; row *= 2) {
        fill(N("%s.fill.%zu", n, row), a, 0, row, 64, 4);
        look(N("%s.look.%zu", n, row), a, 0, row, 64, 4);
        memory_of(N("%s.memory.%zu", n, row));
    }
    T(step(N("%s.sync", n)), cuCtxSynchronize);
}

static void packed_sparse(void *data) { packed_mapped(data, SPARSE, 2); }
static void packed_sparse_all(void *data) { packed_mapped(data, SPARSE, 8); }
static void packed_deferred(void *data) { packed_mapped(data, DEFERRED, 2); }
static void packed_deferred_all(void *data) { packed_mapped(data, DEFERRED, 8); }

void group_packedof(void)
{
    for_formats(packed_plain, ".plain", FIRST_PACKED, LAST_PACKED);
    for_formats(packed_sparse, ".sparse", FIRST_PACKED, LAST_PACKED);
    for_formats(packed_sparse_all, ".sparse.all", FIRST_PACKED, LAST_PACKED);
    for_formats(packed_deferred, ".deferred", FIRST_PACKED, LAST_PACKED);
    for_formats(packed_deferred_all, ".deferred.all", FIRST_PACKED, LAST_PACKED);
}
