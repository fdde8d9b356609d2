/* Instructions in all their spellings: shapes, types of results and coordinates, levels, offsets,
 * comparison values, residency; cache operators, and clamp modes of surfaces; queries through a module's
 * reference. */
#include "record.h"
#include <stdio.h>
#include <string.h>

/* A shape, and the coordinates of its instructions. */
static const struct shape {
    const char *geometry, *at, *offset, *gradient;
    int dims, layered, cube;
    size_t height, depth;
    unsigned flags;
} shapes[] = {
    {"1d", "{%c0}", "{-3}", "{%c4}, {%c8}", 1, 0, 0, 0, 0, 0},
    {"2d", "{%c0, %c1}", "{2, -1}", "{%c4, %c5}, {%c8, %c9}", 2, 0, 0, 16, 0, 0},
    {"3d", "{%c0, %c1, %c2, %c3}", "{1, 3, -2, 0}", "{%c4, %c5, %c6, %c7}, {%c8, %c9, %c10, %c11}", 3, 0, 0, 16, 8, 0},
    {"a1d", "{%c0, %c1}", "{2}", "{%c4}, {%c8}", 1, 1, 0, 0, 5, CUDA_ARRAY3D_LAYERED},
    {"a2d", "{%c0, %c1, %c2, %c3}", "{-2, 3}", "{%c4, %c5}, {%c8, %c9}", 2, 1, 0, 16, 5, CUDA_ARRAY3D_LAYERED},
    {"cube", "{%c0, %c1, %c2, %c3}", "", "{%c4, %c5, %c6, %c7}, {%c8, %c9, %c10, %c11}", 3, 0, 1, 16, 6, CUDA_ARRAY3D_CUBEMAP},
    {"acube", "{%c0, %c1, %c2, %c3}", "", "{%c4, %c5, %c6, %c7}, {%c8, %c9, %c10, %c11}", 3, 1, 1, 16, 18, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct texcase of(const struct shape *s)
{
    struct texcase c = basic_case();
    c.width = 16;
    c.height = s->height;
    c.depth = s->depth;
    c.dims = s->dims;
    c.layered = s->layered;
    c.array_flags = s->flags;
    c.count = 128;
    return c;
}

/* A result's registers, and the conversion to words. */
static const struct result {
    const char *words, *registers, *after;
    int results;
} results[] = {
    {"v4.f32", "{%r0, %r1, %r2, %r3}", "", 4}, {"v4.u32", "{%r0, %r1, %r2, %r3}", "", 4}, {"v4.s32", "{%r0, %r1, %r2, %r3}", "", 4},
    {"v4.f16", "{%s0, %s1, %s2, %s3}", " mov.b32 %r0, {%s0, %s1}; mov.b32 %r1, {%s2, %s3};", 2}, {"v2.f16x2", "{%r0, %r1}", "", 2}};

enum { OFFSET = 1, COMPARED = 2, RESIDENT = 4 };

static void fetch(const struct shape *s, int mode, const struct result *r, int whole, int more)
{
    static const char *const modes[] = {"", ".base", ".level", ".grad"}, *const names[] = {"", ".offset", ".compare", ".offset.compare", ".resident"};
    int integer = r->words[3] == 'u' || r->words[3] == 's', unsigned_ = r->words[3] == 'u';
    struct texcase b = of(s), *c = add_case(&b, "tex%s.%s.%s.%s%s%s", modes[mode], s->geometry, r->words, whole ? "s32" : "f32", names[more & 3], more & RESIDENT ? names[4] : "");
    char level[64] = "", tail[64] = "", into[64];
    c->results = r->results;
    if (mode) {
        c->place = MIPMAP;
        c->levels = 4;
        c->texture.maxMipmapLevelClamp = 10;
    }
    if (integer) {
        c->format = unsigned_ ? CU_AD_FORMAT_UNSIGNED_INT32 : CU_AD_FORMAT_SIGNED_INT16;
        c->channels = unsigned_ ? 1 : 4;
        c->texture.flags = CU_TRSF_READ_AS_INTEGER;
    } else {
        c->channels = 4;
        c->format = r->words[1] == '2' || r->words[3] != 'f' ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    }
    c->where = whole ? INTEGERS : mode == 2 ? LEVELS : mode == 3 ? ALONG : s->cube ? CUBE : EDGES;
    c->from = mode == 3 ? 0.03125 : -1;
    c->step = mode == 3 ? 1.0 / 16 : 5.0 / 128;
    if (!whole) {
        c->texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
        c->texture.filterMode = integer ? CU_TR_FILTER_MODE_POINT : CU_TR_FILTER_MODE_LINEAR;
    }
    if (s->cube && !whole)
        c->count = 256;
    if (mode == 2)
        snprintf(level, sizeof level, ", %%c4");
    if (mode == 3)
        snprintf(level, sizeof level, ", %s", s->gradient);
    snprintf(tail, sizeof tail, "%s%s%s", more & OFFSET ? ", " : "", more & OFFSET ? s->offset : "", more & COMPARED ? ", 0f3F000000" : "");
    snprintf(into, sizeof into, "%s%s", r->registers, more & RESIDENT ? "|%p1" : "");
    if (more & RESIDENT)
        c->results++;
    set_op(c, "tex%s.%s.%s.%s %s, [%%h, %s]%s%s;%s%s", modes[mode], s->geometry, r->words, whole ? "s32" : "f32", into, s->at, level, tail, r->after,
           !(more & RESIDENT) ? "" : r->results == 4 ? " selp.b32 %r4, 7, 8, %p1;" : " selp.b32 %r2, 7, 8, %p1;");
}

static void fetches(void)
{
    for (int k = 0; k < SHAPES; k++)
        for (int mode = 0; mode < 4; mode++) {
            const struct shape *s = &shapes[k];
            /* Derivatives of integers are meaningless. */
            for (int r = 0; r < 5; r++)
                for (int whole = 0; whole < (s->cube || mode == 3 ? 1 : 2); whole++)
                    fetch(s, mode, &results[r], whole, 0);
            if (s->cube) {
                fetch(s, mode, &results[0], 0, COMPARED);
                fetch(s, mode, &results[0], 0, COMPARED | RESIDENT);
                fetch(s, mode, &results[4], 0, COMPARED);
                fetch(s, mode, &results[4], 0, RESIDENT);
                continue;
            }
            fetch(s, mode, &results[0], 0, OFFSET);
            if (mode < 3)
                fetch(s, mode, &results[1], 1, OFFSET);
            fetch(s, mode, &results[4], 0, OFFSET | RESIDENT);
            if (s->dims == 3)
                continue;
            fetch(s, mode, &results[0], 0, COMPARED);
            fetch(s, mode, &results[2], 0, COMPARED | RESIDENT);
            fetch(s, mode, &results[3], 0, OFFSET | COMPARED);
            fetch(s, mode, &results[4], 0, COMPARED);
            fetch(s, mode, &results[4], 0, OFFSET | COMPARED | RESIDENT);
        }
}

static void gathers(void)
{
    static const int of_shape[] = {1, 4, 5, 6};
    static const char *const types[] = {"f32", "u32", "s32"};
    for (int k = 0; k < 4; k++)
        for (int comp = 0; comp < 4; comp++)
            for (int t = 0; t < 3; t++)
                for (int more = 0; more < 4; more++) {
                    const struct shape *s = &shapes[of_shape[k]];
                    static const char *const names[] = {"", ".offset", ".compare", ".offset.compare.resident"};
                    /* Each component with each type, and every other combination once per shape. */
                    if ((more && (comp + t) % 4 != more) || (s->cube && (more & OFFSET)))
                        continue;
                    struct texcase b = of(s), *c = add_case(&b, "tld4.%c.%s.%s%s", "rgba"[comp], s->geometry, types[t], names[more]);
                    c->format = t == 0 ? CU_AD_FORMAT_HALF : t == 1 ? CU_AD_FORMAT_UNSIGNED_INT16 : CU_AD_FORMAT_SIGNED_INT8;
                    c->channels = 4;
                    c->array_flags |= s->cube || s->layered ? 0 : CUDA_ARRAY3D_TEXTURE_GATHER;
                    c->texture.flags = (t ? CU_TRSF_READ_AS_INTEGER : 0) | (s->cube ? CU_TRSF_NORMALIZED_COORDINATES : 0);
                    c->texture.filterMode = t ? CU_TR_FILTER_MODE_POINT : CU_TR_FILTER_MODE_LINEAR;
                    c->where = s->cube ? CUBE : EDGES;
                    c->results = more == 3 ? 5 : 4;
                    set_op(c, "tld4.%c.%s.v4.%s.f32 {%%r0, %%r1, %%r2, %%r3}%s, [%%h, %s]%s%s%s;%s", "rgba"[comp], s->geometry, types[t], more == 3 ? "|%p1" : "", s->at,
                           more & OFFSET ? ", " : "", more & OFFSET ? s->offset : "", more & COMPARED ? ", 0f3F000000" : "", more == 3 ? " selp.b32 %r4, 7, 8, %p1;" : "");
                }
}

/* An element of a surface: the instruction's words, the registers, and the moves to and from words. */
static const struct element {
    const char *words, *registers, *after, *before;
    CUarray_format format;
    unsigned channels;
    int results;
} elements[] = {
    {"b8", "{%s0}", "cvt.u32.u8 %r0, %s0;", "cvt.u16.u32 %s0, %c4;", CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
    {"v2.b16", "{%s0, %s1}", "cvt.u32.u16 %r0, %s0; cvt.u32.u16 %r1, %s1;", "cvt.u16.u32 %s0, %c4; cvt.u16.u32 %s1, %c5;", CU_AD_FORMAT_HALF, 2, 2},
    {"b32", "{%r0}", "", "mov.b32 %r0, %c4;", CU_AD_FORMAT_UNSIGNED_INT32, 1, 1},
    {"v4.b32", "{%r0, %r1, %r2, %r3}", "", "mov.b32 %r0, %c4; mov.b32 %r1, %c5; mov.b32 %r2, %c6; mov.b32 %r3, %c7;", CU_AD_FORMAT_SIGNED_INT32, 4, 4},
    {"v2.b64", "{%q0, %q1}", "mov.b64 {%r0, %r1}, %q0; mov.b64 {%r2, %r3}, %q1;", "mov.b64 %q0, {%c4, %c5}; mov.b64 %q1, {%c6, %c7};", CU_AD_FORMAT_FLOAT, 4, 4}};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static void surfaces(void)
{
    static const char *const loads[] = {".ca", ".cg", ".cs", ".cv", ""}, *const stores[] = {".wb", ".cg", ".cs", ".wt", ""}, *const outside[] = {"trap", "zero", "clamp"};
    for (int k = 0; k < 5; k++)
        for (int cop = 0; cop < 5; cop++)
            for (int e = 0; e < ELEMENTS; e++) {
                const struct shape *s = &shapes[k];
                const struct element *o = &elements[e];
                const char *clamp = outside[(k + cop + e) % 3];
                struct texcase b = of(s), *c = add_case(&b, "suld.spelling%s.%s.%s.%s", loads[cop], s->geometry, o->words, clamp);
                c->surface = 1;
                c->where = *clamp == 't' ? INSIDE : BYTES;
                c->format = o->format;
                c->channels = o->channels;
                c->results = o->results;
                set_op(c, "suld.b.%s%s.%s.%s %s, [%%h, %s]; %s", s->geometry, loads[cop], o->words, clamp, o->registers, s->at, o->after);
                c = add_case(c, "sust.spelling%s.%s.%s.%s", stores[cop], s->geometry, o->words, clamp);
                c->surface = 2;
                c->results = 1;
                set_op(c, "%s sust.b.%s%s.%s.%s [%%h, %s], %s; mov.b32 %%r0, 1;", o->before, s->geometry, stores[cop], o->words, clamp, s->at, o->registers);
            }
    /* Formatted stores. */
    for (int k = 0; k < 5; k++)
        for (int n = 1; n <= 4; n *= 2)
            for (int f = 0; f < 3; f++) {
                static const CUarray_format formats[] = {CU_AD_FORMAT_FLOAT, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT8};
                const struct shape *s = &shapes[k];
                const char *clamp = outside[(k + n + f) % 3];
                struct texcase b = of(s), *c = add_case(&b, "sust.p.%s.%d.%s.%d", s->geometry, n, clamp, f);
                c->surface = 2;
                c->where = *clamp == 't' ? INSIDE : BYTES;
                c->format = formats[f];
                c->channels = (unsigned)n;
                c->results = 1;
                set_op(c, "sust.p.%s%s.b32.%s [%%h, %s], {%s}; mov.b32 %%r0, 1;", s->geometry, n == 1 ? "" : n == 2 ? ".v2" : ".v4", clamp, s->at,
                       n == 1 ? "%c4" : n == 2 ? "%c4, %c5" : "%c4, %c5, %c6, %c7");
            }
    static const struct { const char *kind, *op, *type; int wide; } reductions[] = {
        {"b", "add", "u32", 0}, {"b", "add", "s32", 0}, {"b", "add", "u64", 1}, {"b", "min", "u32", 0}, {"b", "min", "s32", 0}, {"b", "min", "u64", 1}, {"b", "min", "s64", 1},
        {"b", "max", "u32", 0}, {"b", "max", "s32", 0}, {"b", "max", "u64", 1}, {"b", "max", "s64", 1}, {"b", "and", "b32", 0}, {"b", "or", "b32", 0}, {"p", "add", "b32", 0},
        {"p", "and", "b32", 0}, {"p", "or", "b32", 0}, {"p", "min", "b32", 0}, {"p", "max", "b32", 0}, {"p", "min", "b64", 1}, {"p", "max", "b64", 1}};
    for (int k = 0; k < 3; k++)
        for (size_t r = 0; r < sizeof reductions / sizeof *reductions; r++) {
            const struct shape *s = &shapes[k];
            const char *clamp = outside[(k + r) % 3];
            struct texcase b = of(s), *c = add_case(&b, "sured.spelling.%s.%s.%s.%s.%s", reductions[r].kind, reductions[r].op, s->geometry, reductions[r].type, clamp);
            c->surface = 2;
            c->where = *clamp == 't' ? INSIDE : BYTES;
            c->format = *reductions[r].type == 's' ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
            c->channels = reductions[r].wide ? 2 : 1;
            c->results = 1;
            c->count = 512;
            set_op(c, "mov.b64 %%q0, {%%c4, %%c5}; sured.%s.%s.%s.%s.%s [%%h, %s], %s; mov.b32 %%r0, 1;", reductions[r].kind, reductions[r].op, s->geometry, reductions[r].type, clamp, s->at,
                   reductions[r].wide ? "%q0" : "%c4");
        }
}

/* Through a reference in the module, about which the hardware's compiler knows more than about a handle. */
static void references(void)
{
    static const char *const queries[] = {"width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size", "num_mipmap_levels", "num_samples",
                                          "memory_layout"};
    for (int surface = 0; surface < 2; surface++)
        for (int k = 0; k < 5; k++)
            for (int q = 0; q < 10; q++) {
                /* Queries that only textures, or only surfaces, support. */
                if (surface ? q == 5 || q == 7 || q == 8 : q == 9)
                    continue;
                struct texcase b = of(&shapes[k]), *c = add_case(&b, "%s.reference.%s.%s", surface ? "suq" : "txq", shapes[k].geometry, queries[q]);
                c->surface = surface;
                c->reference = 1;
                c->where = QUERY;
                c->count = c->results = 1;
                set_op(c, "%s.%s.b32 %%r0, [t];", surface ? "suq" : "txq", queries[q]);
            }
    struct texcase b = of(&shapes[1]), *c = add_case(&b, "tex.reference");
    c->reference = 1;
    set_op(c, "tex.2d.v4.f32.f32 {%%r0, %%r1, %%r2, %%r3}, [t, {%%c0, %%c1}];");
}

void make_spelling_cases(void)
{
    fetches();
    gathers();
    surfaces();
    references();
}
