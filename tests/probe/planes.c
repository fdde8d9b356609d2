/* Arrays of video formats whose memory the program maps: mapping, by tiles and as a whole. */
#include "planes.h"

CUstream stream;
CUmemGenericAllocationHandle memory;
/* An array of bytes with a row of tiles for each tile of the memory: it shows what lies there. */
static CUarray witness;
static unsigned char host[MOST], back[MOST];

struct map tiles(void *array, unsigned x, unsigned y, unsigned w, unsigned h, uint64_t offset)
{
    struct map m;
    memset(&m, 0, sizeof m);
    m.resource = CU_RESOURCE_TYPE_ARRAY;
    m.array = array;
    m.at.level.x = x;
    m.at.level.y = y;
    m.at.level.w = w;
    m.at.level.h = h;
    m.at.level.d = 1;
    m.operation = 1;
    m.handle = memory;
    m.offset = offset;
    m.devices = 1;
    return m;
}

struct map tail(void *array, unsigned layer, uint64_t at, uint64_t size, uint64_t offset)
{
    struct map m = tiles(array, 0, 0, 0, 0, offset);
    m.subresource = 1;
    memset(&m.at, 0, sizeof m.at);
    m.at.tail.layer = layer;
    m.at.tail.offset = at;
    m.at.tail.size = size;
    return m;
}

CUresult put(const char *name, struct map m)
{
    return W(step(name), "cuMemMapArrayAsync", A(&m), 1, A(stream));
}

CUresult take(const char *name, struct map m)
{
    m.operation = 2;
    m.handle = 0;
    m.offset = 0;
    return put(name, m);
}

/* Copies bytes of a slice between the host and an array, with rows on the host without gaps. */
static CUresult copy(CUarray a, size_t x, size_t y, size_t z, size_t w, size_t h, int to_array)
{
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.WidthInBytes = w;
    c.Height = h;
    c.Depth = 1;
    if (to_array) {
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = host;
        c.srcPitch = w;
        c.srcHeight = h;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = a;
        c.dstXInBytes = x;
        c.dstY = y;
        c.dstZ = z;
    } else {
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        c.srcArray = a;
        c.srcXInBytes = x;
        c.srcY = y;
        c.srcZ = z;
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
        c.dstHost = back;
        c.dstPitch = w;
        c.dstHeight = h;
    }
    return R(cuMemcpy3D, &c);
}

/* A byte of the pattern; never 0. */
static unsigned char pattern(size_t x, size_t y, unsigned seed)
{
    return (unsigned char)(1 + (x * 7 + y * 13 + seed * 31) % 255);
}

void fill(const char *name, CUarray a, size_t z, size_t w, size_t h, unsigned seed)
{
    if (!begin(step(name)))
        return;
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++)
            host[y * w + x] = pattern(x, y, seed);
    report(copy(a, 0, 0, z, w, h, 1));
}

void look(const char *name, CUarray a, size_t z, size_t w, size_t h, unsigned seed)
{
    if (!begin(step(name)))
        return;
    memset(back, 0xee, w * h);
    if (report(copy(a, 0, 0, z, w, h, 0)))
        return;
    size_t same = 0, zero = 0;
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            same += back[y * w + x] == pattern(x, y, seed);
            zero += back[y * w + x] == 0;
        }
    V(N("%s.v", name), "pattern %zu zero %zu other %zu", same, zero, w * h - same - zero);
}

void memory_of(const char *name)
{
    char line[512] = "";
    if (!begin(step(name)))
        return;
    if (copy(witness, 0, 0, 0, 256, 256 * TILES, 0)) {
        V(name, "unreadable");
        return;
    }
    for (unsigned tile = 0; tile < TILES; tile++) {
        unsigned count = 0;
        for (unsigned i = 0; i < TILE; i++)
            count += back[tile * TILE + i] != 0;
        if (count)
            append(line, sizeof line, "%s%u:%u", line[0] ? " " : "", tile, count);
    }
    V(name, "%s", line[0] ? line : "empty");
}

void clear_memory(void)
{
    memset(host, 0, TILE * TILES);
    copy(witness, 0, 0, 0, 256, 256 * TILES, 1);
}

/* Memory for tiles, and the array that shows it. */
void prepare(const char *name)
{
    CUmemAllocationProp prop = {.type = 1, .location = {.type = 1, .id = 0}};
    CUDA_ARRAY3D_DESCRIPTOR d = {256, 256 * TILES, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_SPARSE};
    setup();
    R(cuStreamCreate, &stream, 0);
    prop.allocFlags.usage = 1;
    R(cuMemCreate, &memory, MOST, &prop, 0);
    R(cuArray3DCreate, &witness, &d);
    put(N("%s.witness", name), tiles(witness, 0, 0, 256, 256 * TILES, 0));
    clear_memory();
}

const struct planar images[] = {
    {NV12, 1, {{1024, 512, 256, 256}, {512, 256, 256, 128}}},
    {P010, 2, {{1024, 512, 256, 128}, {512, 256, 128, 128}}}};

void look_both(const char *name, const struct planar *i, CUarray luma, CUarray chroma, size_t z)
{
    look(N("%s.luma", name), luma, z, i->plane[0].w * i->size, i->plane[0].h, 1);
    look(N("%s.chroma", name), chroma, z, i->plane[1].w * 2 * i->size, i->plane[1].h, 2);
}

void fill_both(const char *name, const struct planar *i, CUarray luma, CUarray chroma, size_t z)
{
    fill(N("%s.luma", name), luma, z, i->plane[0].w * i->size, i->plane[0].h, 1);
    fill(N("%s.chroma", name), chroma, z, i->plane[1].w * 2 * i->size, i->plane[1].h, 2);
}

/* Sparse arrays: tiles of the whole and of its planes. */
static void map_sparse(const struct planar *i)
{
    const char *n = kinds[i->kind].name;
    unsigned w0 = i->plane[0].tw, h0 = i->plane[0].th, w1 = i->plane[1].tw, h1 = i->plane[1].th;
    CUDA_ARRAY3D_DESCRIPTOR d = shape(i->kind, 1024, 512, 0, VIDEO | SPARSE);
    CUarray a = NULL, luma = NULL, chroma = NULL;
    T(N("%s.create", n), cuArray3DCreate, &a, &d);
    T(N("%s.luma", n), cuArrayGetPlane, &luma, a, 0);
    T(N("%s.chroma", n), cuArrayGetPlane, &chroma, a, 1);
    /* A tile of the whole: of which plane is it? */
    put(N("%s.whole", n), tiles(a, 0, 0, w0, h0, 0));
    put(N("%s.whole.second", n), tiles(a, w0, h0, w0, h0, TILE));
    fill_both(N("%s.whole.fill", n), i, luma, chroma, 0);
    look_both(N("%s.whole.look", n), i, luma, chroma, 0);
    memory_of(N("%s.whole.memory", n));
    take(N("%s.whole.unmap", n), tiles(a, 0, 0, 1024, 512, 0));
    clear_memory();
    put(N("%s.whole.all", n), tiles(a, 0, 0, 1024, 512, 0));
    fill_both(N("%s.whole.all.fill", n), i, luma, chroma, 0);
    look_both(N("%s.whole.all.look", n), i, luma, chroma, 0);
    memory_of(N("%s.whole.all.memory", n));
    put(N("%s.whole.chroma", n), tiles(a, 0, 0, w1, h1, 0));
    put(N("%s.whole.beyond", n), tiles(a, 1024, 0, w0, h0, 0));
    put(N("%s.whole.below", n), tiles(a, 0, 512, w0, h0, 0));
    struct map m = tiles(a, 0, 0, w0, h0, 0);
    m.at.level.z = 1;
    put(N("%s.whole.slice", n), m);
    m.at.level.z = 0;
    m.at.level.d = 2;
    put(N("%s.whole.deep", n), m);
    m.at.level.d = 0;
    put(N("%s.whole.flat", n), m);
    m.at.level.d = 1;
    for (unsigned layer = 1; layer <= 2; layer++) {
        m.at.level.layer = layer;
        put(N("%s.whole.layer.%u", n, layer), m);
    }
    m.at.level.layer = 0;
    m.at.level.level = 1;
    put(N("%s.whole.level", n), m);
    put(N("%s.whole.tail", n), tail(a, 0, 0, TILE, 0));
    take(N("%s.whole.all.unmap", n), tiles(a, 0, 0, 1024, 512, 0));
    take(N("%s.whole.all.unmap.again", n), tiles(a, 0, 0, 1024, 512, 0));
    look_both(N("%s.none.look", n), i, luma, chroma, 0);
    clear_memory();
    /* Tiles of the planes. */
    put(N("%s.luma.map", n), tiles(luma, 0, 0, w0, h0, 2 * TILE));
    put(N("%s.luma.part", n), tiles(luma, 0, 0, w0 / 2, h0, 2 * TILE));
    put(N("%s.luma.as.chroma", n), tiles(luma, 0, 0, w1, h1, 2 * TILE));
    put(N("%s.luma.odd", n), tiles(luma, w0 / 2, 0, w0, h0, 2 * TILE));
    put(N("%s.luma.beyond", n), tiles(luma, 1024, 0, w0, h0, 2 * TILE));
    put(N("%s.chroma.map", n), tiles(chroma, 0, 0, w1, h1, 5 * TILE));
    put(N("%s.chroma.as.luma", n), tiles(chroma, 0, 0, w0, h0, 9 * TILE));
    put(N("%s.chroma.part", n), tiles(chroma, 0, 0, w1, h1 / 2, 5 * TILE));
    put(N("%s.chroma.beyond", n), tiles(chroma, 512, 0, w1, h1, 5 * TILE));
    put(N("%s.chroma.below", n), tiles(chroma, 0, 256, w1, h1, 5 * TILE));
    m = tiles(chroma, 0, 0, w1, h1, 5 * TILE);
    m.at.level.layer = 1;
    put(N("%s.chroma.layer", n), m);
    m.at.level.layer = 0;
    m.at.level.level = 1;
    put(N("%s.chroma.level", n), m);
    put(N("%s.luma.tail", n), tail(luma, 0, 0, TILE, 0));
    put(N("%s.chroma.tail", n), tail(chroma, 0, 0, TILE, 0));
    fill_both(N("%s.planes.fill", n), i, luma, chroma, 0);
    look_both(N("%s.planes.look", n), i, luma, chroma, 0);
    memory_of(N("%s.planes.memory", n));
    /* All tiles of the planes in one call. */
    clear_memory();
    struct map two[] = {tiles(luma, 0, 0, 1024, 512, 0), tiles(chroma, 0, 0, 512, 256, 20 * TILE)};
    W(N("%s.two", n), "cuMemMapArrayAsync", A(two), 2, A(stream));
    fill_both(N("%s.two.fill", n), i, luma, chroma, 0);
    look_both(N("%s.two.look", n), i, luma, chroma, 0);
    memory_of(N("%s.two.memory", n));
    two[1].at.level.x = 1;
    two[0].offset = 4 * TILE;
    W(N("%s.two.wrong", n), "cuMemMapArrayAsync", A(two), 2, A(stream));
    look_both(N("%s.two.wrong.look", n), i, luma, chroma, 0);
    /* Unmapping one plane, then the whole. */
    take(N("%s.chroma.unmap", n), tiles(chroma, 0, 0, 512, 256, 0));
    look_both(N("%s.chroma.unmap.look", n), i, luma, chroma, 0);
    put(N("%s.chroma.again", n), tiles(chroma, 0, 0, 512, 256, 20 * TILE));
    look_both(N("%s.chroma.again.look", n), i, luma, chroma, 0);
    take(N("%s.all.unmap", n), tiles(a, 0, 0, 1024, 512, 0));
    look_both(N("%s.all.unmap.look", n), i, luma, chroma, 0);
    memory_of(N("%s.end.memory", n));
    T(N("%s.sync", n), cuCtxSynchronize);
    T(N("%s.destroy.plane", n), cuArrayDestroy, chroma);
    T(N("%s.destroy", n), cuArrayDestroy, a);
}

void group_planarmap(void)
{
    prepare("map");
    for (size_t i = 0; i < IMAGES; i++) {
        clear_memory();
        map_sparse(&images[i]);
    }
}

void make(struct part *p)
{
    CUDA_ARRAY3D_DESCRIPTOR d = shape(p->image->kind, 1024, 512, 0, p->flags);
    prepare(p->name);
    T(step(N("%s.create", p->name)), cuArray3DCreate, &p->a, &d);
    T(step(N("%s.luma", p->name)), cuArrayGetPlane, &p->luma, p->a, 0);
    T(step(N("%s.chroma", p->name)), cuArrayGetPlane, &p->chroma, p->a, 1);
}

void end(struct part *p)
{
    T(step(N("%s.sync", p->name)), cuCtxSynchronize);
    T(step(N("%s.destroy", p->name)), cuArrayDestroy, p->a);
}

struct call { void (*run)(struct part *); struct part *part; };

static void call(void *data)
{
    struct call *c = data;
    c->run(c->part);
}

void in_parts(void (*run)(struct part *), const char *name, const unsigned *flags, size_t count)
{
    for (size_t i = 0; i < IMAGES; i++)
        for (size_t f = 0; f < count; f++) {
            struct part part = {.image = &images[i], .flags = flags[f]};
            struct call c = {run, &part};
            snprintf(part.name, sizeof part.name, "%s.%s%x", kinds[images[i].kind].name, name, flags[f]);
            in_process(call, &c, 20);
        }
}

/* The whole at once, then other places for its planes. */
static void deferred_whole(struct part *p)
{
    const char *n = p->name;
    size_t size = p->image->size;
    make(p);
    put(N("%s.map", n), tiles(p->a, 0, 0, 1024, 512, TILE));
    fill(N("%s.fill.luma", n), p->luma, 0, 1024 * size, 512, 1);
    look(N("%s.look.luma", n), p->luma, 0, 1024 * size, 512, 1);
    memory_of(N("%s.memory.luma", n));
    fill(N("%s.fill.chroma", n), p->chroma, 0, 1024 * size, 256, 2);
    memory_of(N("%s.memory.chroma", n));
    look_both(N("%s.both", n), p->image, p->luma, p->chroma, 0);
    put(N("%s.then.chroma", n), tiles(p->chroma, 0, 0, 512, 256, 24 * TILE));
    look_both(N("%s.then.look", n), p->image, p->luma, p->chroma, 0);
    fill_both(N("%s.then.fill", n), p->image, p->luma, p->chroma, 0);
    memory_of(N("%s.then.memory", n));
    clear_memory();
    put(N("%s.then.luma", n), tiles(p->luma, 0, 0, 1024, 512, 0));
    fill_both(N("%s.last.fill", n), p->image, p->luma, p->chroma, 0);
    look_both(N("%s.last.look", n), p->image, p->luma, p->chroma, 0);
    memory_of(N("%s.last.memory", n));
    end(p);
}

/* Plane by plane, then the whole. */
static void deferred_planes(struct part *p)
{
    const char *n = p->name;
    make(p);
    put(N("%s.chroma.map", n), tiles(p->chroma, 0, 0, 512, 256, 20 * TILE));
    put(N("%s.luma.map", n), tiles(p->luma, 0, 0, 1024, 512, 2 * TILE));
    fill_both(N("%s.fill", n), p->image, p->luma, p->chroma, 0);
    look_both(N("%s.look", n), p->image, p->luma, p->chroma, 0);
    memory_of(N("%s.memory", n));
    put(N("%s.whole.map", n), tiles(p->a, 0, 0, 1024, 512, 0));
    fill_both(N("%s.whole.fill", n), p->image, p->luma, p->chroma, 0);
    look_both(N("%s.whole.look", n), p->image, p->luma, p->chroma, 0);
    memory_of(N("%s.whole.memory", n));
    end(p);
}

/* Wrong parts and memory; nothing is copied. */
static void deferred_wrong(struct part *p)
{
    const char *n = p->name;
    CUarray a, luma, chroma;
    make(p);
    a = p->a, luma = p->luma, chroma = p->chroma;
    uint64_t unit = (uint64_t)p->image->size * 4 * TILE;
    put(N("%s.whole.part", n), tiles(a, 0, 0, 256, 256, 0));
    put(N("%s.whole.empty", n), tiles(a, 0, 0, 0, 0, 0));
    put(N("%s.whole.beyond", n), tiles(a, 4096, 4096, 1024, 512, 0));
    put(N("%s.chroma.part", n), tiles(chroma, 0, 0, 1, 1, 0));
    put(N("%s.chroma.whole", n), tiles(chroma, 0, 0, 1024, 512, 0));
    struct map m = tiles(a, 0, 0, 1024, 512, 0);
    m.at.level.layer = 1;
    put(N("%s.whole.layer", n), m);
    m.at.level.layer = 0;
    m.at.level.level = 1;
    put(N("%s.whole.level", n), m);
    put(N("%s.whole.tail", n), tail(a, 0, 0, TILE, 0));
    put(N("%s.luma.tail", n), tail(luma, 0, 0, TILE, 0));
    /* Memory: too little for the whole, but enough for a plane. */
    put(N("%s.whole.end", n), tiles(a, 0, 0, 1024, 512, MOST - 2 * unit));
    put(N("%s.whole.fits", n), tiles(a, 0, 0, 1024, 512, MOST - 3 * unit));
    put(N("%s.whole.almost", n), tiles(a, 0, 0, 1024, 512, MOST - 3 * unit + TILE));
    put(N("%s.luma.end", n), tiles(luma, 0, 0, 1024, 512, MOST - 2 * unit));
    put(N("%s.luma.short", n), tiles(luma, 0, 0, 1024, 512, MOST - unit));
    put(N("%s.chroma.end", n), tiles(chroma, 0, 0, 512, 256, MOST - unit));
    put(N("%s.chroma.short", n), tiles(chroma, 0, 0, 512, 256, MOST - TILE));
    put(N("%s.whole.odd", n), tiles(a, 0, 0, 1024, 512, 4096));
    struct map two[] = {tiles(luma, 0, 0, 1024, 512, 0), tiles(chroma, 0, 0, 512, 256, 4096)};
    W(step(N("%s.two", n)), "cuMemMapArrayAsync", A(two), 2, A(stream));
    take(N("%s.luma.unmap", n), tiles(luma, 0, 0, 1024, 512, 0));
    take(N("%s.chroma.unmap", n), tiles(chroma, 0, 0, 512, 256, 0));
    take(N("%s.whole.unmap", n), tiles(a, 0, 0, 1024, 512, 0));
    take(N("%s.whole.unmap.again", n), tiles(a, 0, 0, 1024, 512, 0));
    T(step(N("%s.destroy.plane", n)), cuArrayDestroy, luma);
    end(p);
}

/* Copies of planes without memory: never mapped; unmapped alone and with the whole. */
static void deferred_none(struct part *p)
{
    make(p);
    look_both(N("%s.look", p->name), p->image, p->luma, p->chroma, 0);
    end(p);
}

static void deferred_unmapped(struct part *p)
{
    const char *n = p->name;
    make(p);
    put(N("%s.map", n), tiles(p->a, 0, 0, 1024, 512, 0));
    fill_both(N("%s.fill", n), p->image, p->luma, p->chroma, 0);
    take(N("%s.chroma.unmap", n), tiles(p->chroma, 0, 0, 512, 256, 0));
    look_both(N("%s.look", n), p->image, p->luma, p->chroma, 0);
    take(N("%s.whole.unmap", n), tiles(p->a, 0, 0, 1024, 512, 0));
    look_both(N("%s.whole.look", n), p->image, p->luma, p->chroma, 0);
    memory_of(N("%s.memory", n));
    end(p);
}

void group_planardefer(void)
{
    static const unsigned flags[] = {VIDEO | DEFERRED};
    in_parts(deferred_whole, "whole.", flags, 1);
    in_parts(deferred_planes, "planes.", flags, 1);
    in_parts(deferred_wrong, "wrong.", flags, 1);
    in_parts(deferred_none, "none.", flags, 1);
    in_parts(deferred_unmapped, "unmapped.", flags, 1);
}

/* Layers: 1024x512, two of them. */
static void map_layers(const struct planar *i)
{
    const char *n = kinds[i->kind].name;
    unsigned w0 = i->plane[0].tw, h0 = i->plane[0].th, w1 = i->plane[1].tw, h1 = i->plane[1].th;
    CUDA_ARRAY3D_DESCRIPTOR d = shape(i->kind, 1024, 512, 2, VIDEO | SPARSE | CUDA_ARRAY3D_LAYERED);
    CUarray a = NULL, luma = NULL, chroma = NULL;
    T(N("%s.create", n), cuArray3DCreate, &a, &d);
    T(N("%s.luma", n), cuArrayGetPlane, &luma, a, 0);
    T(N("%s.chroma", n), cuArrayGetPlane, &chroma, a, 1);
    for (unsigned layer = 0; layer <= 3; layer++) {
        struct map m = tiles(a, 0, 0, w0, h0, layer * TILE);
        m.at.level.layer = layer;
        put(N("%s.whole.%u", n, layer), m);
        m = tiles(luma, 0, 0, w0, h0, (4 + layer) * TILE);
        m.at.level.layer = layer;
        put(N("%s.luma.%u", n, layer), m);
        m = tiles(chroma, 0, 0, w1, h1, (8 + layer) * TILE);
        m.at.level.layer = layer;
        put(N("%s.chroma.%u", n, layer), m);
    }
    for (size_t z = 0; z < 2; z++) {
        fill_both(N("%s.fill.%zu", n, z), i, luma, chroma, z);
        look_both(N("%s.look.%zu", n, z), i, luma, chroma, z);
        memory_of(N("%s.memory.%zu", n, z));
    }
    look(N("%s.luma.beyond", n), luma, 2, 64, 4, 1);
    T(N("%s.destroy", n), cuArrayDestroy, a);
}

/* A deferred array of two layers, mapped as a whole. */
static void deferred_layers(struct part *p)
{
    const struct planar *i = p->image;
    const char *n = p->name;
    CUDA_ARRAY3D_DESCRIPTOR d = shape(i->kind, 256, 256, 2, p->flags);
    CUarray a = NULL, luma = NULL, chroma = NULL;
    prepare(n);
    T(step(N("%s.create", n)), cuArray3DCreate, &a, &d);
    T(N("%s.luma", n), cuArrayGetPlane, &luma, a, 0);
    T(N("%s.chroma", n), cuArrayGetPlane, &chroma, a, 1);
    put(N("%s.map", n), tiles(a, 0, 0, 256, 256, 0));
    for (size_t z = 0; z < 2; z++) {
        fill(N("%s.fill.luma.%zu", n, z), luma, z, 256 * i->size, 256, 1);
        memory_of(N("%s.memory.luma.%zu", n, z));
        fill(N("%s.fill.chroma.%zu", n, z), chroma, z, 256 * i->size, 128, 2);
        memory_of(N("%s.memory.chroma.%zu", n, z));
    }
    look(N("%s.look.luma", n), luma, 0, 256 * i->size, 256, 1);
    look(N("%s.look.chroma", n), chroma, 1, 256 * i->size, 128, 2);
    T(N("%s.destroy", n), cuArrayDestroy, a);
}

/* Mip tails: planes smaller than a tile beside a larger one, or both. */
static void map_tails(const struct planar *i, unsigned w, unsigned h)
{
    char n[32];
    snprintf(n, sizeof n, "%s.%u", kinds[i->kind].name, w);
    CUDA_ARRAY3D_DESCRIPTOR d = shape(i->kind, w, h, 0, VIDEO | SPARSE);
    CUarray a = NULL, luma = NULL, chroma = NULL;
    clear_memory();
    T(N("%s.create", n), cuArray3DCreate, &a, &d);
    T(N("%s.luma", n), cuArrayGetPlane, &luma, a, 0);
    T(N("%s.chroma", n), cuArrayGetPlane, &chroma, a, 1);
    all_of(N("%s.of", n), a);
    CUarray each[] = {a, luma, chroma};
    static const char *const names[] = {"whole", "luma", "chroma"};
    for (unsigned k = 0; k < 3; k++) {
        unsigned half = k == 2 ? 2 : 1;
        put(N("%s.%s.level", n, names[k]), tiles(each[k], 0, 0, w / half, h / half, k * 8 * TILE));
        put(N("%s.%s.tail", n, names[k]), tail(each[k], 0, 0, TILE, k * 8 * TILE + 4 * TILE));
        put(N("%s.%s.tail.second", n, names[k]), tail(each[k], 0, TILE, TILE, k * 8 * TILE + 5 * TILE));
        put(N("%s.%s.tail.layer", n, names[k]), tail(each[k], 1, 0, TILE, k * 8 * TILE + 4 * TILE));
        put(N("%s.%s.tail.part", n, names[k]), tail(each[k], 0, 0, 4096, k * 8 * TILE + 4 * TILE));
        fill(N("%s.%s.fill.luma", n, names[k]), luma, 0, w * i->size, h, 1);
        fill(N("%s.%s.fill.chroma", n, names[k]), chroma, 0, w / 2 * 2 * i->size, h / 2, 2);
        look(N("%s.%s.look.luma", n, names[k]), luma, 0, w * i->size, h, 1);
        look(N("%s.%s.look.chroma", n, names[k]), chroma, 0, w / 2 * 2 * i->size, h / 2, 2);
        memory_of(N("%s.%s.memory", n, names[k]));
    }
    T(N("%s.destroy", n), cuArrayDestroy, a);
}

static void sparse_layers(void *data)
{
    (void)data;
    prepare("sparse");
    for (size_t i = 0; i < IMAGES; i++) {
        clear_memory();
        map_layers(&images[i]);
        map_tails(&images[i], 300, 300);
        map_tails(&images[i], 64, 32);
    }
}

void group_planarlayer(void)
{
    static const unsigned flags[] = {VIDEO | DEFERRED | CUDA_ARRAY3D_LAYERED};
    in_process(sparse_layers, NULL, 20);
    in_parts(deferred_layers, "", flags, 1);
}

