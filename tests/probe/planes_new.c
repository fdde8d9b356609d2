/* Arrays and mipmaps of video formats: which can be made, their planes, tiles and required memory. */
#include "planes.h"
#include <stdarg.h>

const struct kind kinds[] = {
    {"nv12", 0xb0, 3}, {"p010", 0x9f, 3}, {"p016", 0xa1, 3}, {"nv16", 0xa2, 3}, {"p210", 0xa3, 3},
    {"p216", 0xa4, 3}, {"yuv8", 0xb2, 3}, {"yuv16", 0xb3, 3}, {"two8", 0xb4, 3}, {"two16", 0xb5, 3},
    {"yuy2", 0xa5, 4}, {"y210", 0xa6, 2}, {"y216", 0xa7, 2}, {"ayuv", 0xa8, 4}, {"y410", 0xa9, 1},
    {"y416", 0xb1, 4}, {"float", 0x20, 4}};

CUDA_ARRAY3D_DESCRIPTOR shape(unsigned kind, size_t w, size_t h, size_t depth, unsigned flags)
{
    CUarray_format format = (CUarray_format)kinds[kind].format;
    CUDA_ARRAY3D_DESCRIPTOR d = {w, h, depth, format, kinds[kind].channels, flags};
    return d;
}

void append(char *line, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t length = strlen(line);
    vsnprintf(line + length, size - length, format, args);
    va_end(args);
}

/* Sparse properties and requirements: statuses and values. */
static void describe(char *line, size_t size, CUarray a)
{
    CUDA_ARRAY_SPARSE_PROPERTIES p;
    CUDA_ARRAY_MEMORY_REQUIREMENTS m;
    memset(&p, 0, sizeof p);
    memset(&m, 0, sizeof m);
    int sparse = (int)R(cuArrayGetSparseProperties, &p, a);
    int need = (int)R(cuArrayGetMemoryRequirements, &m, a, 0);
    append(line, size, "sparse %d", sparse);
    if (!sparse)
        append(line, size, " %u %u %u tail %u %llu %x", p.tileExtent.width, p.tileExtent.height,
            p.tileExtent.depth, p.miptailFirstLevel, p.miptailSize, p.flags);
    append(line, size, " need %d", need);
    if (!need)
        append(line, size, " %zu %zu", m.size, m.alignment);
}

void all_of(const char *name, CUarray a)
{
    char line[1024] = "";
    if (!begin(name))
        return;
    describe(line, sizeof line, a);
    for (unsigned k = 0; k < 4; k++) {
        CUarray plane = NULL;
        CUDA_ARRAY3D_DESCRIPTOR d;
        int status = (int)R(cuArrayGetPlane, &plane, a, k);
        if (status) {
            append(line, sizeof line, "; %d", status);
            continue;
        }
        memset(&d, 0, sizeof d);
        status = (int)R(cuArray3DGetDescriptor, &d, plane);
        append(line, sizeof line, "; plane %d %zux%zux%zu %x %u %x ", status, d.Width, d.Height, d.Depth,
            (unsigned)d.Format, d.NumChannels, d.Flags);
        describe(line, sizeof line, plane);
    }
    V(name, "%s", line);
}

/* Which arrays can be made. */
void group_planarnew(void)
{
    static const unsigned flags[] = {
        0x100, 0x140, 0x180, 0x1c0, 0x102, 0x142, 0x182, 0x108, 0x148, 0x40, 0x80, 0xc0};
    static const struct { size_t w, h; } sizes[] = {
        {1024, 512}, {1000, 334}, {300, 300}, {64, 32}, {1001, 333}};
    setup();
    for (unsigned k = 0; k < KINDS; k++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (size_t f = 0; f < COUNT(flags); f++)
                for (unsigned layers = 0; layers <= 2; layers += 2) {
                    CUDA_ARRAY3D_DESCRIPTOR d =
                        shape(k, sizes[s].w, sizes[s].h, layers, flags[f] | (layers ? 1 : 0));
                    CUarray a = NULL;
                    char name[64];
                    /* Without the video flag no array can be made, in any size. */
                    if (s && !(flags[f] & VIDEO))
                        continue;
                    snprintf(name, sizeof name, "%s.%zux%zu.%x", kinds[k].name, d.Width, d.Height, d.Flags);
                    if (T(N("%s.create", name), cuArray3DCreate, &a, &d))
                        continue;
                    all_of(N("%s.of", name), a);
                    T(N("%s.destroy", name), cuArrayDestroy, a);
                }
    static const struct { const char *name; size_t w, h, depth; unsigned flags; } odd[] = {
        {"row", 256, 0, 0, 0}, {"volume", 256, 128, 4, 0}, {"cube", 256, 256, 6, 4},
        {"cubes", 256, 256, 12, 5}, {"rows", 256, 0, 4, 1}, {"layer", 256, 256, 1, 1}, {"pixel", 1, 1, 0, 0},
        {"two", 2, 2, 0, 0}};
    static const unsigned few[] = {0x100, 0x140, 0x180};
    for (unsigned k = 0; k < KINDS; k++)
        for (size_t s = 0; s < COUNT(odd); s++)
            for (size_t f = 0; f < COUNT(few); f++) {
                CUDA_ARRAY3D_DESCRIPTOR d =
                    shape(k, odd[s].w, odd[s].h, odd[s].depth, few[f] | odd[s].flags);
                CUarray a = NULL;
                char name[64];
                snprintf(name, sizeof name, "%s.%s.%x", kinds[k].name, odd[s].name, few[f]);
                if (T(N("%s.create", name), cuArray3DCreate, &a, &d))
                    continue;
                all_of(N("%s.of", name), a);
                R(cuArrayDestroy, a);
            }
    T("sync", cuCtxSynchronize);
}

/* Mipmaps of video formats. */
void group_planarmip(void)
{
    static const unsigned flags[] = {0x100, 0x140, 0x180, 0x1c0, 0x102, 0x142, 0x182, 0x101, 0x141, 0x181};
    setup();
    for (unsigned k = 0; k < KINDS; k++)
        for (size_t f = 0; f < COUNT(flags); f++)
            for (unsigned levels = 0; levels <= 2; levels++) {
                CUDA_ARRAY3D_DESCRIPTOR d = shape(k, 1024, 512, flags[f] & 1 ? 2 : 0, flags[f]);
                CUmipmappedArray m = NULL;
                CUarray level = NULL;
                CUDA_ARRAY_SPARSE_PROPERTIES p;
                CUDA_ARRAY_MEMORY_REQUIREMENTS need;
                char name[64];
                snprintf(name, sizeof name, "%s.%x.%u", kinds[k].name, flags[f], levels);
                if (T(N("%s.create", name), cuMipmappedArrayCreate, &m, &d, levels))
                    continue;
                memset(&p, 0, sizeof p);
                memset(&need, 0, sizeof need);
                if (!T(N("%s.sparse", name), cuMipmappedArrayGetSparseProperties, &p, m))
                    V(N("%s.sparse.v", name), "%u %u %u tail %u %llu %x", p.tileExtent.width,
                        p.tileExtent.height, p.tileExtent.depth, p.miptailFirstLevel, p.miptailSize, p.flags);
                if (!T(N("%s.need", name), cuMipmappedArrayGetMemoryRequirements, &need, m, 0))
                    V(N("%s.need.v", name), "%zu %zu", need.size, need.alignment);
                if (!T(N("%s.level", name), cuMipmappedArrayGetLevel, &level, m, 0))
                    all_of(N("%s.level.of", name), level);
                T(N("%s.level.1", name), cuMipmappedArrayGetLevel, &level, m, 1);
                T(N("%s.destroy", name), cuMipmappedArrayDestroy, m);
            }
    T("sync", cuCtxSynchronize);
}
