/* Arrays of video formats: packed rows, copies, textures, mipmaps, destruction. */
#include "planes.h"

/* Packed formats: the bytes of their rows, and which tiles they have. */
void group_packedrow(void)
{
    prepare("packed");
    for (unsigned k = FIRST_PACKED; k <= LAST_PACKED; k++) {
        const char *n = kinds[k].name;
        CUDA_ARRAY3D_DESCRIPTOR d = shape(k, 64, 32, 0, VIDEO);
        CUarray a = NULL;
        T(N("%s.create", n), cuArray3DCreate, &a, &d);
        for (size_t bytes = 64; bytes <= 512; bytes *= 2) {
            fill(N("%s.fill.%zu", n, bytes), a, 0, bytes, 32, 3);
            look(N("%s.look.%zu", n, bytes), a, 0, bytes, 32, 3);
        }
        static const size_t units[] = {1, 2, 4, 8};
        for (size_t u = 0; u < COUNT(units); u++)
            look(N("%s.unit.%zu", n, units[u]), a, 0, units[u], 32, 3);
        T(N("%s.destroy", n), cuArrayDestroy, a);
        for (size_t width = 15; width <= 17; width++) {
            d = shape(k, width, 8, 0, VIDEO);
            if (T(N("%s.create.%zu", n, width), cuArray3DCreate, &a, &d))
                continue;
            const size_t rows[] = {2 * width - 2, 2 * width, 2 * width + 2, 4 * width};
            for (size_t r = 0; r < COUNT(rows); r++) {
                fill(N("%s.odd.%zu.fill.%zu", n, width, rows[r]), a, 0, rows[r], 8, 3);
                look(N("%s.odd.%zu.look.%zu", n, width, rows[r]), a, 0, rows[r], 8, 3);
            }
            R(cuArrayDestroy, a);
        }
        /* Where the tiles of a row end. */
        d = shape(k, 1024, 256, 0, VIDEO | SPARSE);
        clear_memory();
        T(N("%s.sparse", n), cuArray3DCreate, &a, &d);
        for (unsigned x = 0; x <= 1024; x += 128)
            put(N("%s.sparse.%u", n, x), tiles(a, x, 0, 128, 128, x / 128 * TILE));
        put(N("%s.sparse.flat", n), tiles(a, 0, 128, 128, 64, 16 * TILE));
        put(N("%s.sparse.rest", n), tiles(a, 0, 0, 1024, 256, 0));
        for (size_t bytes = 2048; bytes <= 8192; bytes *= 2) {
            fill(N("%s.sparse.fill.%zu", n, bytes), a, 0, bytes, 64, 4);
            look(N("%s.sparse.look.%zu", n, bytes), a, 0, bytes, 64, 4);
            memory_of(N("%s.sparse.memory.%zu", n, bytes));
        }
        R(cuArrayDestroy, a);
        d = shape(k, 1024, 256, 0, VIDEO | DEFERRED);
        T(N("%s.deferred", n), cuArray3DCreate, &a, &d);
        put(N("%s.deferred.map", n), tiles(a, 0, 0, 1024, 256, 0));
        clear_memory();
        fill(N("%s.deferred.fill", n), a, 0, 2048, 256, 5);
        look(N("%s.deferred.look", n), a, 0, 2048, 256, 5);
        R(cuArrayDestroy, a);
    }
    T("sync", cuCtxSynchronize);
}

/* Copies that name the whole array, of every kind of memory; and between planes and linear memory. */
static void copies(struct part *p)
{
    const char *n = p->name;
    size_t size = p->image->size;
    CUdeviceptr linear = 0;
    make(p);
    CUarray a = p->a, luma = p->luma, chroma = p->chroma;
    R(cuMemAlloc, &linear, MOST);
    if (p->flags & (SPARSE | DEFERRED)) {
        put(N("%s.map.luma", n), tiles(luma, 0, 0, 1024, 512, 0));
        put(N("%s.map.chroma", n), tiles(chroma, 0, 0, 512, 256, 16 * TILE));
    }
    fill_both(N("%s.fill", n), p->image, luma, chroma, 0);
    look_both(N("%s.look", n), p->image, luma, chroma, 0);
    /* The whole, as if it were the first plane, or all planes below each other. */
    look(N("%s.whole.look", n), a, 0, 1024 * size, 512, 1);
    look(N("%s.whole.look.part", n), a, 0, 64, 4, 1);
    look(N("%s.whole.look.high", n), a, 0, 1024 * size, 768, 1);
    look(N("%s.whole.look.wide", n), a, 0, 3072 * size, 512, 1);
    fill(N("%s.whole.fill", n), a, 0, 1024 * size, 512, 7);
    fill(N("%s.whole.fill.high", n), a, 0, 1024 * size, 768, 7);
    look(N("%s.whole.then.luma", n), luma, 0, 1024 * size, 512, 7);
    look(N("%s.whole.then.chroma", n), chroma, 0, 1024 * size, 256, 7);
    memory_of(N("%s.memory", n));
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    c.srcArray = chroma;
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstDevice = linear;
    c.dstPitch = 4096;
    c.WidthInBytes = 1024 * size;
    c.Height = 256;
    T(step(N("%s.to.linear", n)), cuMemcpy2D, &c);
    c.srcXInBytes = 1024 * size - 8;
    T(step(N("%s.to.linear.beyond", n)), cuMemcpy2D, &c);
    c.srcXInBytes = 0;
    c.Height = 257;
    T(step(N("%s.to.linear.below", n)), cuMemcpy2D, &c);
    c.Height = 256;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = luma;
    T(step(N("%s.to.plane", n)), cuMemcpy2D, &c);
    c.srcArray = a;
    T(step(N("%s.from.whole", n)), cuMemcpy2D, &c);
    c.srcArray = luma;
    c.dstArray = a;
    T(step(N("%s.to.whole", n)), cuMemcpy2D, &c);
    T(step(N("%s.atod", n)), cuMemcpyAtoD, linear, chroma, 0, 1024);
    T(step(N("%s.dtoa", n)), cuMemcpyDtoA, chroma, 0, linear, 1024);
    T(step(N("%s.atod.whole", n)), cuMemcpyAtoD, linear, a, 0, 1024);
    T(step(N("%s.dtoa.whole", n)), cuMemcpyDtoA, a, 0, linear, 1024);
    end(p);
}

void group_planarcopy(void)
{
    static const unsigned flags[] = {VIDEO, VIDEO | SPARSE, VIDEO | DEFERRED};
    in_parts(copies, "", flags, COUNT(flags));
}

static CUresult texture(const char *name, CUarray a, CUtexObject *object)
{
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t;
    memset(&r, 0, sizeof r);
    memset(&t, 0, sizeof t);
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = a;
    t.flags = CU_TRSF_READ_AS_INTEGER;
    return T(step(name), cuTexObjectCreate, object, &r, &t, NULL);
}

static void run(const char *name, CUfunction f, void **args)
{
    T(step(name), cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
}

static const struct { float x, y; } points[] = {{0, 0}, {255, 100}, {300, 20}, {511, 255}};

/* Reads a plane by a texture at some points. */
static void fetches(const char *of, CUfunction fetch, CUdeviceptr out, CUtexObject object)
{
    char name[64];
    snprintf(name, sizeof name, "%s", of);
    for (size_t p = 0; p < COUNT(points) && object; p++) {
        unsigned got[4] = {9, 9, 9, 9};
        float x = points[p].x, y = points[p].y;
        void *args[] = {&out, &object, &x, &y};
        R(cuMemcpyHtoD, out, got, 16);
        run(N("%s.%zu", name, p), fetch, args);
        T(step(N("%s.%zu.sync", name, p)), cuCtxSynchronize);
        R(cuMemcpyDtoH, got, out, 16);
        V(N("%s.%zu.v", name, p), "%u %u", got[0], got[1]);
    }
}

/* Textures and surfaces of planes. */
static void objects(struct part *p)
{
    const char *n = p->name;
    CUtexObject object[3] = {0, 0, 0};
    CUsurfObject surface = 0;
    CUdeviceptr out = 0;
    CUDA_RESOURCE_DESC r;
    make(p);
    CUarray plane[] = {p->luma, p->chroma};
    CUmodule m = load(ptx_texture);
    CUfunction fetch = function(m, "fetch"), read = function(m, "load");
    R(cuMemAlloc, &out, 64);
    memset(&r, 0, sizeof r);
    texture(N("%s.whole", n), p->a, &object[2]);
    r.res.array.hArray = p->a;
    T(step(N("%s.whole.surface", n)), cuSurfObjectCreate, &surface, &r);
    /* One object before its plane has memory, one after. */
    texture(N("%s.luma.texture", n), plane[0], &object[0]);
    if (p->flags & (SPARSE | DEFERRED)) {
        put(N("%s.map.luma", n), tiles(plane[0], 0, 0, 1024, 512, 0));
        put(N("%s.map.chroma", n), tiles(plane[1], 0, 0, 512, 256, 16 * TILE));
        T(step(N("%s.map.sync", n)), cuStreamSynchronize, stream);
    }
    texture(N("%s.chroma.texture", n), plane[1], &object[1]);
    fill_both(N("%s.fill", n), p->image, plane[0], plane[1], 0);
    fetches(N("%s.luma.fetch", n), fetch, out, object[0]);
    fetches(N("%s.chroma.fetch", n), fetch, out, object[1]);
    for (unsigned k = 0; k < 2; k++) {
        r.res.array.hArray = plane[k];
        surface = 0;
        if (T(step(N("%s.surface.%u", n, k)), cuSurfObjectCreate, &surface, &r))
            continue;
        unsigned got = 0, x = 16, y = 3;
        void *args[] = {&out, &surface, &x, &y};
        run(N("%s.load.%u", n, k), read, args);
        R(cuMemcpyDtoH, &got, out, 4);
        V(N("%s.load.%u.v", n, k), "%x", got);
    }
    end(p);
}

/* A texture of a plane of which no tile has memory, then one. */
static void some_tiles(struct part *p)
{
    const char *n = p->name;
    CUtexObject object = 0;
    CUdeviceptr out = 0;
    make(p);
    CUfunction fetch = function(load(ptx_texture), "fetch");
    R(cuMemAlloc, &out, 64);
    texture(N("%s.texture", n), p->chroma, &object);
    put(N("%s.map", n), tiles(p->chroma, 0, 0, p->image->plane[1].tw, p->image->plane[1].th, 0));
    fill(N("%s.fill", n), p->chroma, 0, 1024 * p->image->size, 256, 2);
    fetches(N("%s.fetch", n), fetch, out, object);
    take(N("%s.unmap", n), tiles(p->chroma, 0, 0, 512, 256, 0));
    fetches(N("%s.none", n), fetch, out, object);
    end(p);
}

void group_planartex(void)
{
    static const unsigned flags[] = {VIDEO, VIDEO | SPARSE, VIDEO | DEFERRED,
        VIDEO | CUDA_ARRAY3D_SURFACE_LDST, VIDEO | DEFERRED | CUDA_ARRAY3D_SURFACE_LDST};
    in_parts(objects, "", flags, COUNT(flags));
    in_parts(some_tiles, "some.", flags + 1, 1);
}

/* A mipmap of one level and its planes. */
static void mipmap(struct part *p)
{
    const char *n = p->name;
    CUDA_ARRAY3D_DESCRIPTOR d = shape(p->image->kind, 1024, 512, 0, p->flags);
    CUmipmappedArray m = NULL;
    CUarray level = NULL, luma = NULL, chroma = NULL;
    prepare(n);
    T(step(N("%s.create", n)), cuMipmappedArrayCreate, &m, &d, 1);
    T(step(N("%s.level", n)), cuMipmappedArrayGetLevel, &level, m, 0);
    T(step(N("%s.luma", n)), cuArrayGetPlane, &luma, level, 0);
    T(step(N("%s.chroma", n)), cuArrayGetPlane, &chroma, level, 1);
    struct map all = tiles(m, 0, 0, 1024, 512, 0);
    all.resource = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    put(N("%s.map", n), all);
    put(N("%s.map.level", n), tiles(level, 0, 0, 1024, 512, 0));
    put(N("%s.map.luma", n), tiles(luma, 0, 0, 1024, 512, 0));
    put(N("%s.map.chroma", n), tiles(chroma, 0, 0, 512, 256, 16 * TILE));
    put(N("%s.map.tail", n), tail(chroma, 0, 0, TILE, 0));
    fill_both(N("%s.fill", n), p->image, luma, chroma, 0);
    look_both(N("%s.look", n), p->image, luma, chroma, 0);
    memory_of(N("%s.memory", n));
    T(step(N("%s.destroy.level", n)), cuArrayDestroy, level);
    T(step(N("%s.destroy", n)), cuMipmappedArrayDestroy, m);
    T(step(N("%s.sync", n)), cuCtxSynchronize);
}

void group_planarmipmap(void)
{
    static const unsigned flags[] = {VIDEO, VIDEO | SPARSE, VIDEO | DEFERRED};
    in_parts(mipmap, "", flags, COUNT(flags));
}

/* The whole destroyed before its planes. */
void group_planardead(void)
{
    static const unsigned flags[] = {VIDEO, VIDEO | SPARSE, VIDEO | DEFERRED};
    prepare("dead");
    for (size_t f = 0; f < COUNT(flags); f++) {
        CUDA_ARRAY3D_DESCRIPTOR d = shape(NV12, 1024, 512, 0, flags[f]), got;
        CUarray a = NULL, luma = NULL, chroma = NULL, again = NULL;
        CUDA_ARRAY_SPARSE_PROPERTIES p;
        CUDA_ARRAY_MEMORY_REQUIREMENTS need;
        R(cuArray3DCreate, &a, &d);
        T(N("%x.luma", flags[f]), cuArrayGetPlane, &luma, a, 0);
        T(N("%x.chroma", flags[f]), cuArrayGetPlane, &chroma, a, 1);
        T(N("%x.again", flags[f]), cuArrayGetPlane, &again, a, 1);
        V(N("%x.again.v", flags[f]), "%d", again == chroma);
        T(N("%x.plane.of.plane", flags[f]), cuArrayGetPlane, &again, luma, 0);
        if (flags[f] != VIDEO)
            put(N("%x.map", flags[f]), tiles(luma, 0, 0, 1024, 512, 0));
        fill(N("%x.fill", flags[f]), luma, 0, 1024, 512, 1);
        /* A plane cannot be destroyed alone. */
        T(N("%x.destroy.plane", flags[f]), cuArrayDestroy, luma);
        look(N("%x.look", flags[f]), luma, 0, 1024, 512, 1);
        T(N("%x.destroy", flags[f]), cuArrayDestroy, a);
        T(N("%x.sync", flags[f]), cuCtxSynchronize);
        T(N("%x.dead.descriptor", flags[f]), cuArray3DGetDescriptor, &got, luma);
        T(N("%x.dead.plane", flags[f]), cuArrayGetPlane, &again, a, 0);
        T(N("%x.dead.sparse", flags[f]), cuArrayGetSparseProperties, &p, luma);
        T(N("%x.dead.need", flags[f]), cuArrayGetMemoryRequirements, &need, luma, 0);
        put(N("%x.dead.map", flags[f]), tiles(luma, 0, 0, 1024, 512, 0));
        T(N("%x.dead.destroy", flags[f]), cuArrayDestroy, chroma);
    }
}

/* The memory's handle is released while it is mapped. */
void group_planarfreed(void)
{
    prepare("freed");
    CUDA_ARRAY3D_DESCRIPTOR d = shape(NV12, 1024, 512, 0, VIDEO | SPARSE);
    CUarray a = NULL, luma = NULL;
    R(cuArray3DCreate, &a, &d);
    R(cuArrayGetPlane, &luma, a, 0);
    put("map", tiles(luma, 0, 0, 1024, 512, 0));
    T("sync", cuStreamSynchronize, stream);
    T("release", cuMemRelease, memory);
    fill("fill", luma, 0, 1024, 512, 1);
    look("look", luma, 0, 1024, 512, 1);
    T("destroy", cuArrayDestroy, a);
    T("end", cuCtxSynchronize);
}
