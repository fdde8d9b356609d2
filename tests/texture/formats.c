/* The cases of compressed formats, ten-bit formats, pairs of values, texels with weight zero, and separate
 * samplers. */
#include "record.h"
#include <stdio.h>
#include <string.h>

#define R4 "{%%r0, %%r1, %%r2, %%r3}"
static const struct block { int format; unsigned channels; const char *name; } blocks[] = {
    {0x91, 4, "bc1"}, {0x92, 4, "bc1s"}, {0x93, 4, "bc2"}, {0x94, 4, "bc2s"}, {0x95, 4, "bc3"}, {0x96, 4, "bc3s"}, {0x97, 1, "bc4"}, {0x98, 1, "bc4n"},
    {0x99, 2, "bc5"}, {0x9a, 2, "bc5n"}, {0x9b, 3, "bc6"}, {0x9c, 3, "bc6n"}, {0x9d, 4, "bc7"}, {0x9e, 4, "bc7s"}, {0x50, 4, "tens"}};
enum { BLOCKS_COUNT = sizeof blocks / sizeof *blocks };
static const char *const address_name[] = {"wrap", "clamp", "mirror", "border"};
static const char *const filter_name[] = {"point", "linear"};

static struct texcase of(int f)
{
    static const float border[] = {0.25f, -0.5f, 3.75f, 0.625f};
    struct texcase b = basic_case();
    b.format = (CUarray_format)blocks[f].format;
    b.channels = blocks[f].channels;
    b.width = 21;
    b.height = 13;
    memcpy(b.texture.borderColor, border, sizeof border);
    b.texture.flags = strchr(blocks[f].name, 's') && f < 14 ? CU_TRSF_SRGB : 0; /* objects of these exist only with sRGB */
    return b;
}

static void texel_cases(int f)
{
    struct texcase b = of(f), *c = add_case(&b, "%s.plain", blocks[f].name);
    c->texture.flags = 0;
    c->where = TEXELS;
    c = add_case(&b, "%s.texels", blocks[f].name);
    c->width = 64;
    c->height = 64;
    c->where = TEXELS;
    c->count = 4096;
    set_op(c, "tex.2d.v4.f32.s32 " R4 ", [%%h, {%%c0, %%c1}];");
    if (f >= 10 && f < 14) {
        c->height = 128;
        c->count = 8192;
    }
    static const struct { const char *name, *type; unsigned flags; } reads[] = {
        {"srgb", "f32", CU_TRSF_SRGB}, {"int.u32", "u32", CU_TRSF_READ_AS_INTEGER}, {"int.s32", "s32", CU_TRSF_READ_AS_INTEGER}, {"int.f32", "f32", CU_TRSF_READ_AS_INTEGER}};
    for (size_t r = 0; r < sizeof reads / sizeof *reads; r++) {
        c = add_case(&b, "%s.%s", blocks[f].name, reads[r].name);
        c->where = TEXELS;
        c->texture.flags |= reads[r].flags;
        set_op(c, "tex.2d.v4.%s.s32 " R4 ", [%%h, {%%c0, %%c1}];", reads[r].type);
    }
    c = add_case(&b, "%s.integers", blocks[f].name);
    c->where = INTEGERS;
    set_op(c, "tex.2d.v4.f32.s32 " R4 ", [%%h, {%%c0, %%c1}];");
}

static void filter_cases(int f)
{
    for (int mode = 0; mode < 4; mode++)
        for (int linear = 0; linear < 2; linear++) {
            struct texcase b = of(f), *c = add_case(&b, "%s.%s.%s", blocks[f].name, address_name[mode], filter_name[linear]);
            set_address(c, mode);
            c->texture.filterMode = (CUfilter_mode)linear;
            c->texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
            c->where = mode == 1 && linear ? SCATTER : EDGES;
            c->count = mode == 1 && linear ? 512 : 160;
        }
    struct texcase b = of(f), *c;
    b.where = SCATTER;
    b.texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    b.texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    c = add_case(&b, "%s.linear.srgb", blocks[f].name);
    c->texture.flags |= CU_TRSF_SRGB;
    c = add_case(&b, "%s.linear.int", blocks[f].name);
    c->texture.flags |= CU_TRSF_READ_AS_INTEGER;
    c = add_case(&b, "%s.f16x2", blocks[f].name);
    c->results = 2;
    set_op(c, "tex.2d.v2.f16x2.f32 {%%r0, %%r1}, [%%h, {%%c0, %%c1}];");
    for (int k = 0; k < 4; k++) {
        c = add_case(&b, "%s.gather.%c", blocks[f].name, "rgba"[k]);
        c->array_flags = CUDA_ARRAY3D_TEXTURE_GATHER;
        set_op(c, "tld4.%c.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}];", "rgba"[k]);
    }
}

static void shape_cases(int f)
{
    struct texcase b = of(f), *c;
    b.texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    b.texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    b.texture.maxMipmapLevelClamp = 10;
    b.texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    b.where = LEVELS;
    b.from = -0.5;
    b.step = 5.0 / 192;
    b.count = 192;
    c = add_case(&b, "%s.mip", blocks[f].name);
    c->place = MIPMAP;
    c->levels = 5;
    set_op(c, "tex.level.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}], %%c4;");
    c = add_case(c, "%s.mip.layers", blocks[f].name);
    c->levels = 3;
    c->depth = 3;
    c->array_flags = CUDA_ARRAY3D_LAYERED;
    c->layered = 1;
    set_op(c, "tex.level.a2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}], %%c4;");
    c = add_case(&b, "%s.layers", blocks[f].name);
    c->where = EDGES;
    c->depth = 4;
    c->array_flags = CUDA_ARRAY3D_LAYERED;
    c->layered = 1;
    set_op(c, "tex.a2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}];");
    c = add_case(&b, "%s.cube", blocks[f].name);
    c->where = CUBE;
    c->dims = 3;
    c->width = c->height = 8;
    c->depth = 6;
    c->array_flags = CUDA_ARRAY3D_CUBEMAP;
    c->texture.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    c->count = 256;
    set_op(c, "tex.cube.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}];");
    c = add_case(&b, "%s.3d", blocks[f].name);
    c->where = SCATTER;
    c->dims = 3;
    c->depth = 5;
    set_op(c, "tex.3d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}];");
    c = add_case(&b, "%s.1d", blocks[f].name);
    c->where = SCATTER;
    c->dims = 1;
    c->height = 0;
    set_op(c, "tex.1d.v4.f32.f32 " R4 ", [%%h, {%%c0}];");
    c = add_case(&b, "%s.1d.layers", blocks[f].name);
    c->where = SCATTER;
    c->dims = 1;
    c->height = 0;
    c->depth = 3;
    c->layered = 1;
    c->array_flags = CUDA_ARRAY3D_LAYERED;
    set_op(c, "tex.a1d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}];");
    for (int q = 0; q < 2; q++) {
        c = add_case(&b, "%s.txq.%s", blocks[f].name, q ? "height" : "width");
        c->where = QUERY;
        c->place = MIPMAP;
        c->levels = 3;
        c->count = 4;
        c->results = 1;
        set_op(c, "txq.level.%s.b32 %%r0, [%%h], %%c4;", q ? "height" : "width");
    }
}

/* Integer arrays viewed as compressed formats. */
static void block_view_cases(void)
{
    static const struct { int view; unsigned channels; const char *name; } views[] = {
        {0x19, 2, "bc1"}, {0x1a, 4, "bc2"}, {0x1b, 4, "bc3"}, {0x1c, 2, "bc4"}, {0x1d, 2, "bc4n"}, {0x1e, 4, "bc5"}, {0x1f, 4, "bc5n"}, {0x20, 4, "bc6"},
        {0x21, 4, "bc6n"}, {0x22, 4, "bc7"}};
    for (size_t k = 0; k < sizeof views / sizeof *views; k++) {
        struct texcase b = basic_case(), *c = add_case(&b, "view.%s", views[k].name);
        c->format = CU_AD_FORMAT_UNSIGNED_INT32;
        c->channels = views[k].channels;
        c->view = (CUresourceViewFormat)views[k].view;
        c->width = 20;
        c->height = 12;
        c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
        c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
        c->where = SCATTER;
        c = add_case(c, "view.%s.srgb", views[k].name);
        c->texture.flags |= CU_TRSF_SRGB;
        c = add_case(c, "view.%s.int", views[k].name);
        c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_READ_AS_INTEGER;
        c = add_case(c, "view.%s.mip", views[k].name);
        c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
        c->place = MIPMAP;
        c->levels = 3;
        c->width = 32;
        c->height = 16;
        c->where = LEVELS;
        c->step = 3.0 / 128;
        c->texture.maxMipmapLevelClamp = 10;
        set_op(c, "tex.level.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}], %%c4;");
    }
}

static void pair_cases(void)
{
    static const struct { int format; unsigned flags; const char *name; } pairs[] = {
        {CU_AD_FORMAT_SIGNED_INT8, 0, "s8"}, {0xc6, 0, "snorm8"}, {CU_AD_FORMAT_UNSIGNED_INT8, 0, "u8"}, {CU_AD_FORMAT_UNSIGNED_INT8, CU_TRSF_SRGB, "u8.srgb"}, {0x50, 0, "tens"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        int tens = pairs[k].format == 0x50;
        struct texcase b = basic_case(), *c = add_case(&b, "pairs.%s", pairs[k].name);
        c->format = (CUarray_format)pairs[k].format;
        c->channels = tens ? 4 : 1;
        c->width = tens ? 2048 : 512;
        c->height = 4;
        c->fill = PAIRS;
        c->where = BETWEEN;
        c->count = tens ? 16384 : 4096;
        c->texture.flags = pairs[k].flags;
        c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
        if (!tens) {
            c->results = 1;
            set_op(c, "{ .reg .b32 %%w<3>; tex.2d.v4.f32.f32 {%%r0, %%w0, %%w1, %%w2}, [%%h, {%%c0, %%c1}]; }");
        }
    }
    /* Every pair of endpoints. */
    for (int k = 0; k < 2; k++) {
        struct texcase b = of(k ? 4 : 0), *c = add_case(&b, "endpoints.%s", k ? "bc3" : "bc1");
        c->width = 512;
        c->height = 256;
        c->fill = ENDPOINTS;
        c->where = BLOCKS;
        c->count = 16384;
        set_op(c, "tex.2d.v4.f32.s32 " R4 ", [%%h, {%%c0, %%c1}];");
    }
}

/* Texels that are not finite and have weight zero. */
static void centre_cases(void)
{
    static const char *const ops[] = {"tex.1d.v4.f32.f32 " R4 ", [%%h, {%%c0}];", "tex.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}];",
                                      "tex.3d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}];"};
    for (int half = 0; half < 2; half++)
        for (int dims = 1; dims <= 3; dims++)
            for (int mode = 0; mode < 4; mode++) {
                struct texcase b = basic_case(), *c = add_case(&b, "centres.%s.%dd.%s", half ? "f16" : "f32", dims, address_name[mode]);
                c->format = half ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
                c->fill = SPECIAL;
                c->where = CENTRES;
                c->width = dims == 1 ? 64 : 8;
                c->height = dims > 1 ? 8 : 0;
                c->depth = dims > 2 ? 4 : 0;
                c->dims = dims;
                c->count = dims == 1 ? 128 : dims == 2 ? 256 : 2048;
                c->results = 1;
                c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
                c->texture.flags = mode % 2 ? 0 : CU_TRSF_NORMALIZED_COORDINATES;
                set_address(c, mode);
                set_op(c, ops[dims - 1]);
            }
    for (int linear = 0; linear < 2; linear++) {
        struct texcase b = basic_case(), *c = add_case(&b, "centres.level.%s", filter_name[linear]);
        c->place = MIPMAP;
        c->levels = 3;
        c->fill = SPECIAL;
        c->where = CENTRES;
        c->count = 1280;
        c->results = 1;
        c->texture.filterMode = (CUfilter_mode)linear;
        c->texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
        c->texture.maxMipmapLevelClamp = 10;
        c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
        set_op(c, "tex.level.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}], %%c4;");
    }
}

/* Samplers declared in a module: their modes against those of the object. */
static void sampler_cases(void)
{
    static const char *const modes[] = {"wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"};
    static char text[32][256];
    int n = 0;
    for (int linear = 0; linear < 2; linear++)
        for (int mode = 0; mode < 5; mode++)
            for (int force = 0; force < 2; force++) {
                snprintf(text[n], sizeof text[n], ".global .texref t;\n.global .samplerref s = {addr_mode_0 = %s, addr_mode_1 = %s, addr_mode_2 = wrap, filter_mode = %s%s};\n",
                         modes[mode], modes[mode], linear ? "linear" : "nearest", force ? ", force_unnormalized_coords = 1" : "");
                for (int normalized = 0; normalized < 2; normalized++) {
                    struct texcase b = basic_case(), *c = add_case(&b, "sampler.%s.%s%s.%s", modes[mode], filter_name[linear], force ? ".force" : "", normalized ? "norm" : "texels");
                    static const float border[] = {0.25f, -2.5f, 3.75f, 0.625f};
                    memcpy(c->texture.borderColor, border, sizeof border);
                    c->texture.filterMode = (CUfilter_mode)!linear;
                    set_address(c, mode == 0 ? CU_TR_ADDRESS_MODE_BORDER : CU_TR_ADDRESS_MODE_WRAP);
                    c->texture.flags = normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
                    c->samplers = text[n];
                    set_op(c, "tex.2d.v4.f32.f32 " R4 ", [%%h, s, {%%c0, %%c1}];");
                }
                n++;
            }
    static const struct { const char *name, *op; int reference; } others[] = {
        {"register", "mov.u64 %%q0, s; tex.2d.v4.f32.f32 " R4 ", [%%h, %%q0, {%%c0, %%c1}];", 0}, {"reference", "tex.2d.v4.f32.f32 " R4 ", [t, s, {%%c0, %%c1}];", 1},
        {"gather", "tld4.r.2d.v4.f32.f32 " R4 ", [%%h, s, {%%c0, %%c1}];", 0}, {"plain", "tex.2d.v4.f32.f32 " R4 ", [%%h, p, {%%c0, %%c1}];", 0},
        {"none", "tex.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}];", 0}, {"none.reference", "tex.2d.v4.f32.f32 " R4 ", [t, {%%c0, %%c1}];", 1},
        {"integers", "cvt.rzi.s32.f32 %%c0, %%c0; cvt.rzi.s32.f32 %%c1, %%c1; tex.2d.v4.f32.s32 " R4 ", [%%h, s, {%%c0, %%c1}];", 0},
        {"txq.filter", "txq.filter_mode.b32 %%r0, [s];", 0}, {"txq.address", "txq.addr_mode_0.b32 %%r0, [s];", 0},
        {"txq.address.1", "txq.addr_mode_1.b32 %%r0, [s];", 0}, {"txq.force", "txq.force_unnormalized_coords.b32 %%r0, [s];", 0},
        {"txq.filter.plain", "txq.filter_mode.b32 %%r0, [p];", 0}, {"txq.normalized", "txq.normalized_coords.b32 %%r0, [t];", 1}, {"txq.width", "txq.width.b32 %%r0, [t];", 1}};
    static const char two[] = ".global .texref t;\n.global .samplerref s = {addr_mode_0 = mirror, addr_mode_1 = clamp_to_border, addr_mode_2 = wrap, filter_mode = linear};\n.global .samplerref p;\n";
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        struct texcase b = basic_case(), *c = add_case(&b, "samplers.%s", others[k].name);
        c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
        c->samplers = two;
        c->reference = others[k].reference;
        if (k == 2)
            c->array_flags = CUDA_ARRAY3D_TEXTURE_GATHER;
        set_op(c, others[k].op);
    }
}

void make_format_cases(void)
{
    for (int f = 0; f < BLOCKS_COUNT; f++) {
        texel_cases(f);
        filter_cases(f);
        shape_cases(f);
    }
    block_view_cases();
    pair_cases();
    centre_cases();
    sampler_cases();
}
