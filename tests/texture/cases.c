/* The cases of a texture recording. */
#include "record.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct texcase cases[4096];
int case_count;

struct texcase *add_case(const struct texcase *like, const char *format, ...)
{
    va_list args;
    if (case_count == (int)(sizeof cases / sizeof *cases))
        abort();
    struct texcase *c = &cases[case_count++];
    *c = *like;
    va_start(args, format);
    vsnprintf(c->name, sizeof c->name, format, args);
    va_end(args);
    return c;
}

void set_op(struct texcase *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->op, sizeof c->op, format, args);
    va_end(args);
}

#define R4 "{%%r0, %%r1, %%r2, %%r3}"
static const char *const geometry[] = {"1d", "2d", "3d"};
static const char *const at[] = {"{%c0}", "{%c0, %c1}", "{%c0, %c1, %c2, %c3}"};
static const char *const at_layer[] = {"{%c0, %c1}", "{%c0, %c1, %c2, %c3}"};

struct format { CUarray_format format; const char *name; unsigned channels; /* 0: 1, 2 and 4 */ };
static const struct format formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, "u8", 0}, {CU_AD_FORMAT_UNSIGNED_INT16, "u16", 0}, {CU_AD_FORMAT_UNSIGNED_INT32, "u32", 0},
    {CU_AD_FORMAT_SIGNED_INT8, "s8", 0}, {CU_AD_FORMAT_SIGNED_INT16, "s16", 0}, {CU_AD_FORMAT_SIGNED_INT32, "s32", 0},
    {CU_AD_FORMAT_HALF, "f16", 0}, {CU_AD_FORMAT_FLOAT, "f32", 0},
    {(CUarray_format)0xc0, "unorm8x1", 1}, {(CUarray_format)0xc1, "unorm8x2", 2}, {(CUarray_format)0xc2, "unorm8x4", 4},
    {(CUarray_format)0xc3, "unorm16x1", 1}, {(CUarray_format)0xc4, "unorm16x2", 2}, {(CUarray_format)0xc5, "unorm16x4", 4},
    {(CUarray_format)0xc6, "snorm8x1", 1}, {(CUarray_format)0xc7, "snorm8x2", 2}, {(CUarray_format)0xc8, "snorm8x4", 4},
    {(CUarray_format)0xc9, "snorm16x1", 1}, {(CUarray_format)0xca, "snorm16x2", 2}, {(CUarray_format)0xcb, "snorm16x4", 4},
};
enum { FORMATS = sizeof formats / sizeof *formats };
static const char *const address_name[] = {"wrap", "clamp", "mirror", "border"};
static const char *const filter_name[] = {"point", "linear"};

void set_address(struct texcase *c, int mode)
{
    c->texture.addressMode[0] = c->texture.addressMode[1] = c->texture.addressMode[2] = (CUaddress_mode)mode;
}

struct texcase basic_case(void)
{
    struct texcase c = {.results = 4, .place = ARRAY, .format = CU_AD_FORMAT_FLOAT, .channels = 1, .levels = 1, .width = 16, .height = 8,
                        .where = EDGES, .dims = 2, .count = 128};
    set_op(&c, "tex.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}];");
    set_address(&c, CU_TR_ADDRESS_MODE_CLAMP);
    return c;
}

static void format_cases(void)
{
    static const struct { const char *name, *type; unsigned flags; } reads[] = {
        {"norm", "f32", 0}, {"srgb", "f32", CU_TRSF_SRGB}, {"int.u32", "u32", CU_TRSF_READ_AS_INTEGER}, {"int.s32", "s32", CU_TRSF_READ_AS_INTEGER},
        {"int.f32", "f32", CU_TRSF_READ_AS_INTEGER}, {"norm.s32", "s32", 0}};
    for (int f = 0; f < FORMATS; f++)
        for (unsigned channels = 1; channels <= 4; channels *= 2) {
            if (formats[f].channels && formats[f].channels != channels)
                continue;
            for (size_t r = 0; r < sizeof reads / sizeof *reads; r++) {
                struct texcase b = basic_case(), *c = add_case(&b, "format.%s.%u.%s", formats[f].name, channels, reads[r].name);
                c->format = formats[f].format;
                c->channels = channels;
                c->where = INTEGERS;
                c->width = 32;
                c->count = 64;
                c->texture.flags = reads[r].flags;
                set_op(c, "tex.2d.v4.%s.s32 " R4 ", [%%h, {%%c0, %%c1}];", reads[r].type);
            }
            if (channel_bytes(formats[f].format) < 4 || formats[f].format == CU_AD_FORMAT_FLOAT) {
                for (int srgb = 0; srgb < 2; srgb++) {
                    struct texcase b = basic_case(), *c = add_case(&b, "format.%s.%u.linear%s", formats[f].name, channels, srgb ? ".srgb" : "");
                    c->format = formats[f].format;
                    c->channels = channels;
                    c->where = SCATTER;
                    c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
                    c->texture.flags = srgb ? CU_TRSF_SRGB : 0;
                    if (srgb && channel_bytes(formats[f].format) != 1)
                        case_count--;
                }
            }
        }
    /* Every value of the narrow formats. */
    static const int all[] = {0, 3, 6, 1, 4};
    for (size_t k = 0; k < 5; k++)
        for (int srgb = 0; srgb < (k == 0 ? 2 : 1); srgb++) {
            struct texcase b = basic_case(), *c = add_case(&b, "all.%s%s", formats[all[k]].name, srgb ? ".srgb" : "");
            c->format = formats[all[k]].format;
            c->channels = 1;
            c->width = channel_bytes(c->format) == 1 ? 256 : 1024;
            c->height = 0;
            c->dims = 1;
            c->fill = RAMP;
            if (channel_bytes(c->format) == 2)
                c->fill = RANDOM;
            c->where = SWEEP;
            c->from = 0.5;
            c->step = 1;
            c->results = 1;
            c->count = (int)c->width;
            c->texture.flags = srgb ? CU_TRSF_SRGB : 0;
            set_op(c, "{ .reg .b32 %%w<3>; tex.1d.v4.f32.f32 {%%r0, %%w0, %%w1, %%w2}, [%%h, {%%c0}]; }");
        }
    /* Special values. */
    for (int half = 0; half < 2; half++)
        for (int linear = 0; linear < 2; linear++) {
            struct texcase b = basic_case(), *c = add_case(&b, "special.%s.%s", half ? "f16" : "f32", filter_name[linear]);
            c->format = half ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
            c->fill = SPECIAL;
            c->where = SCATTER;
            c->count = 320;
            c->texture.filterMode = (CUfilter_mode)linear;
        }
    /* Results as f16. */
    for (int k = 0; k < 4; k++) {
        static const int of[] = {7, 6, 0, 1};
        struct texcase b = basic_case(), *c = add_case(&b, "f16x2.%s", formats[of[k]].name);
        c->format = formats[of[k]].format;
        c->channels = 4;
        c->results = 2;
        c->where = SCATTER;
        c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
        set_op(c, "tex.2d.v2.f16x2.f32 {%%r0, %%r1}, [%%h, {%%c0, %%c1}];");
    }
}

static void sweep_cases(void)
{
    static const struct { int format; const char *name; } of[] = {{7, "f32"}, {0, "u8"}, {3, "s8"}, {1, "u16"}, {4, "s16"}, {6, "f16"}};
    for (size_t k = 0; k < 6; k++)
        for (int dims = 1; dims <= 3; dims++)
            for (int random = 0; random < 2; random++) {
                struct texcase b = basic_case(), *c = add_case(&b, "sweep.%s.%s.%s", of[k].name, geometry[dims - 1], random ? "random" : "step");
                c->format = formats[of[k].format].format;
                c->width = 8;
                c->height = dims > 1 ? 8 : 0;
                c->depth = dims > 2 ? 4 : 0;
                c->dims = dims;
                c->fill = random ? RANDOM : STEP;
                c->where = SWEEP;
                c->from = random ? 0.5 : 1.5;
                c->step = random ? 5.0 / 1024 : dims == 1 ? 1.0 / 2048 : 1.0 / 1024;
                c->count = dims == 1 && !random ? 2048 : 1024;
                c->results = 1;
                c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
                set_op(c, "{ .reg .b32 %%w<3>; tex.%s.v4.f32.f32 {%%r0, %%w0, %%w1, %%w2}, [%%h, %s]; }", geometry[dims - 1], at[dims - 1]);
            }
    /* Slices that nearly cancel show how many bits of each are kept. */
    for (size_t k = 0; k < 6; k += 5)
        for (int fine = 0; fine < 2; fine++) {
            struct texcase b = basic_case(), *c = add_case(&b, "cancel.%s.%s", of[k].name, fine ? "fine" : "coarse");
            c->format = formats[of[k].format].format;
            c->width = c->height = 16;
            c->depth = fine ? 2 : 4;
            c->dims = 3;
            c->fill = CANCELLING;
            c->where = SWEEP;
            c->from = 0.5;
            c->step = fine ? 15.0 / 16384 : 15.0 / 8192;
            c->count = 8192;
            c->results = 1;
            c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
            set_op(c, "{ .reg .b32 %%w<3>; tex.3d.v4.f32.f32 {%%r0, %%w0, %%w1, %%w2}, [%%h, %s]; }", at[2]);
        }
    /* Mapping of coordinates to texels: odd and even widths, normalised or not, near and far. */
    static const struct { size_t width; int normalized; double from, step; int linear; const char *name; } of_x[] = {
        {7, 1, 0.5, 6.0 / 1024, 1, "norm7"}, {100, 1, 3, 1.0 / 256, 1, "norm100"}, {1000, 1, 900, 1.0 / 512, 1, "norm1000"}, {16, 1, -40, 1.0 / 16, 1, "norm16.far"},
        {4096, 0, 4000, 1.0 / 1024, 1, "big"}, {131072, 0, 131000, 1.0 / 16, 1, "biggest"}, {131072, 1, 131000, 1.0 / 16, 1, "biggest.norm"},
        {7, 1, 0.5, 6.0 / 1024, 0, "point.norm7"}, {1000, 1, 900, 1.0 / 512, 0, "point.norm1000"}, {4096, 0, 4000, 1.0 / 1024, 0, "point.big"},
        {131072, 1, 131000, 1.0 / 16, 0, "point.biggest.norm"}, {8, 0, 2 - 1.0 / 256, 1.0 / 131072, 0, "point.border"}, {8, 0, 2 - 1.0 / 256, 1.0 / 131072, 1, "linear.border"},
        {8, 1, 2 - 1.0 / 256, 1.0 / 131072, 1, "linear.border.norm"}};
    for (size_t k = 0; k < sizeof of_x / sizeof *of_x; k++)
        for (int mode = 0; mode < 2; mode++) {
            if (mode == 0 && !of_x[k].normalized)
                continue;
            struct texcase b = basic_case(), *c = add_case(&b, "place.%s.%s", of_x[k].name, address_name[mode]);
            c->width = of_x[k].width;
            c->height = 0;
            c->dims = 1;
            c->fill = RAMP;
            c->where = SWEEP;
            c->from = of_x[k].from;
            c->step = of_x[k].step;
            c->count = 1024;
            c->results = 1;
            c->texture.filterMode = (CUfilter_mode)of_x[k].linear;
            c->texture.flags = of_x[k].normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
            set_address(c, mode);
            set_op(c, "{ .reg .b32 %%w<3>; tex.1d.v4.f32.f32 {%%r0, %%w0, %%w1, %%w2}, [%%h, {%%c0}]; }");
        }
}

static void address_cases(void)
{
    for (int dims = 1; dims <= 3; dims++)
        for (int mode = 0; mode < 4; mode++)
            for (int normalized = 0; normalized < 2; normalized++)
                for (int linear = 0; linear < 2; linear++)
                    for (int format = 0; format < (dims == 2 ? 2 : 1); format++) {
                        struct texcase b = basic_case(), *c = add_case(&b, "address.%s.%s.%s.%s.%s", geometry[dims - 1], address_name[mode], normalized ? "norm" : "texels",
                                                             filter_name[linear], format ? "u8" : "f32");
                        c->dims = dims;
                        c->channels = format ? 4 : 1;
                        c->format = format ? CU_AD_FORMAT_UNSIGNED_INT8 : CU_AD_FORMAT_FLOAT;
                        c->height = dims > 1 ? 8 : 0;
                        c->depth = dims > 2 ? 4 : 0;
                        c->count = 256;
                        c->texture.filterMode = (CUfilter_mode)linear;
                        c->texture.flags = normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
                        set_address(c, mode);
                        static const float border[] = {0.25f, -2.5f, 3.75f, 0.625f};
                        memcpy(c->texture.borderColor, border, sizeof border);
                        set_op(c, "tex.%s.v4.f32.f32 " R4 ", [%%h, %s];", geometry[dims - 1], at[dims - 1]);
                    }
    /* Modes that differ between axes, borders of integers, integer coordinates, sizes of one. */
    for (int linear = 0; linear < 2; linear++) {
        struct texcase b = basic_case(), *c = add_case(&b, "address.mixed.%s", filter_name[linear]);
        c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
        c->texture.filterMode = (CUfilter_mode)linear;
        c->texture.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
        c->texture.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
        c->count = 256;
        c = add_case(c, "address.odd.%s", filter_name[linear]);
        c->width = 13;
        c->height = 5;
        c->texture.addressMode[1] = CU_TR_ADDRESS_MODE_MIRROR;
        c = add_case(c, "address.one.%s", filter_name[linear]);
        c->width = 1;
        c->height = 1;
    }
    for (int f = 0; f < 6; f++) {
        struct texcase b = basic_case(), *c = add_case(&b, "border.%s", formats[f].name);
        static const float border[] = {0.25f, -2.5f, 300.75f, 0.625f};
        c->format = formats[f].format;
        c->channels = f & 1 ? 2 : 4;
        memcpy(c->texture.borderColor, border, sizeof border);
        set_address(c, CU_TR_ADDRESS_MODE_BORDER);
        c->texture.flags = CU_TRSF_READ_AS_INTEGER;
        c->count = 64;
        set_op(c, "tex.2d.v4.%s.f32 " R4 ", [%%h, {%%c0, %%c1}];", f < 3 ? "u32" : "s32");
        if (f == 2 || f == 5)
            continue;
        c = add_case(c, "border.%s.linear", formats[f].name);
        c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
        c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
        c->count = 128;
        set_op(c, "tex.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}];");
    }
    for (int mode = 0; mode < 4; mode++)
        for (int dims = 1; dims <= 3; dims++)
            for (int normalized = 0; normalized < 2; normalized++) {
                struct texcase b = basic_case(), *c = add_case(&b, "integers.%s.%s.%s", geometry[dims - 1], address_name[mode], normalized ? "norm" : "texels");
                c->dims = dims;
                c->height = dims > 1 ? 8 : 0;
                c->depth = dims > 2 ? 4 : 0;
                c->where = INTEGERS;
                c->fill = RAMP;
                c->texture.flags = normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
                c->texture.filterMode = normalized ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
                set_address(c, mode);
                set_op(c, "tex.%s.v4.f32.s32 " R4 ", [%%h, %s];", geometry[dims - 1], at[dims - 1]);
            }
    for (int dims = 1; dims <= 3; dims++) {
        struct texcase b = basic_case(), *c = add_case(&b, "offset.%s", geometry[dims - 1]);
        c->dims = dims;
        c->height = dims > 1 ? 8 : 0;
        c->depth = dims > 2 ? 4 : 0;
        c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
        set_op(c, "tex.%s.v4.f32.f32 " R4 ", [%%h, %s], %s;", geometry[dims - 1], at[dims - 1], dims == 1 ? "{-3}" : dims == 2 ? "{2, -1}" : "{1, 3, -2, 0}");
    }
    /* Memory that is not an array. */
    for (int f = 0; f < 8; f++)
        for (int mode = 0; mode < 4; mode += f == 7 ? 1 : 4) {
            struct texcase b = basic_case(), *c = add_case(&b, "linear.%s.%s", formats[f].name, address_name[mode]);
            c->place = LINEAR;
            c->format = formats[f].format;
            c->channels = f % 2 ? 4 : 2;
            c->width = 40;
            c->height = 0;
            c->dims = 1;
            c->where = INTEGERS;
            c->texture.flags = f < 6 ? CU_TRSF_READ_AS_INTEGER : 0;
            set_address(c, mode);
            set_op(c, "tex.1d.v4.%s.s32 " R4 ", [%%h, {%%c0}];", f < 3 ? "u32" : f < 6 ? "s32" : "f32");
        }
    for (int linear = 0; linear < 2; linear++)
        for (int mode = 0; mode < 4; mode++) {
            struct texcase b = basic_case(), *c = add_case(&b, "pitch.%s.%s", address_name[mode], filter_name[linear]);
            c->place = PITCH;
            c->format = CU_AD_FORMAT_UNSIGNED_INT8;
            c->channels = 4;
            c->width = 24;
            c->height = 10;
            c->count = 256;
            c->texture.flags = mode % 2 == 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0;
            c->texture.filterMode = (CUfilter_mode)linear;
            set_address(c, mode);
        }
}

static void layer_cases(void)
{
    for (int dims = 1; dims <= 2; dims++)
        for (int linear = 0; linear < 2; linear++)
            for (int integer = 0; integer < 2; integer++) {
                struct texcase b = basic_case(), *c = add_case(&b, "layers.%s.%s.%s", geometry[dims - 1], filter_name[linear], integer ? "s32" : "f32");
                c->dims = dims;
                c->layered = 1;
                c->array_flags = CUDA_ARRAY3D_LAYERED;
                c->height = dims > 1 ? 8 : 0;
                c->depth = 5;
                c->where = integer ? INTEGERS : EDGES;
                c->texture.flags = integer || !linear ? 0 : CU_TRSF_NORMALIZED_COORDINATES;
                c->texture.filterMode = (CUfilter_mode)linear;
                set_op(c, "tex.a%s.v4.f32.%s " R4 ", [%%h, %s];", geometry[dims - 1], integer ? "s32" : "f32", at_layer[dims - 1]);
            }
    for (int layered = 0; layered < 2; layered++)
        for (int linear = 0; linear < 2; linear++)
            for (int seamless = 0; seamless < 2; seamless++) {
                struct texcase b = basic_case(), *c = add_case(&b, "cube.%s.%s%s", layered ? "layers" : "one", filter_name[linear], seamless ? ".seamless" : "");
                c->dims = 3;
                c->layered = layered;
                c->array_flags = CUDA_ARRAY3D_CUBEMAP | (layered ? CUDA_ARRAY3D_LAYERED : 0);
                c->width = c->height = 8;
                c->depth = layered ? 18 : 6;
                c->where = CUBE;
                c->count = 512;
                c->texture.filterMode = (CUfilter_mode)linear;
                c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES | (seamless ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
                set_op(c, layered ? "tex.acube.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}];" : "tex.cube.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}];");
            }
    struct texcase b = basic_case(), *c = add_case(&b, "cube.level");
    c->place = MIPMAP;
    c->levels = 4;
    c->dims = 3;
    c->array_flags = CUDA_ARRAY3D_CUBEMAP;
    c->width = c->height = 8;
    c->depth = 6;
    c->where = CUBE;
    c->count = 256;
    c->texture.maxMipmapLevelClamp = 8;
    c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    c->texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    set_op(c, "tex.level.cube.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}], %%c4;");
}

static void level_cases(void)
{
    for (int dims = 1; dims <= 3; dims++)
        for (int filter = 0; filter < 4; filter++) {
            struct texcase b = basic_case(), *c = add_case(&b, "level.%s.%s.%s", geometry[dims - 1], filter_name[filter & 1], filter_name[filter >> 1]);
            c->place = MIPMAP;
            c->levels = 5;
            c->width = 32;
            c->height = dims > 1 ? 16 : 0;
            c->depth = dims > 2 ? 8 : 0;
            c->dims = dims;
            c->where = LEVELS;
            c->from = -1;
            c->step = 7.0 / 512;
            c->count = 512;
            c->results = 1;
            c->texture.filterMode = (CUfilter_mode)(filter & 1);
            c->texture.mipmapFilterMode = (CUfilter_mode)(filter >> 1);
            c->texture.maxMipmapLevelClamp = 10;
            c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
            set_op(c, "{ .reg .b32 %%w<3>; tex.level.%s.v4.f32.f32 {%%r0, %%w0, %%w1, %%w2}, [%%h, %s], %%c4; }", geometry[dims - 1], at[dims - 1]);
        }
    static const struct { const char *name; float bias, least, most; int levels; } of[] = {
        {"fine", 0, 0, 10, 0}, {"bias", 0.75f, 0, 10, 0}, {"bias.down", -1.3f, 0, 10, 0}, {"bias.huge", 40, 0, 10, 0}, {"clamp", 0, 0.6f, 2.3f, 0},
        {"clamp.low", 0, 0, 0, 0}, {"clamp.beyond", 0, 6, 10, 0}, {"clamp.crossed", 0, 3, 1, 0}};
    for (int linear = 0; linear < 2; linear++)
        for (size_t k = 0; k < sizeof of / sizeof *of; k++)
            for (int grad = 0; grad < 2; grad++) {
                struct texcase b = basic_case(), *c = add_case(&b, "lod.%s.%s.%s", grad ? "grad" : "level", of[k].name, filter_name[linear]);
                c->place = MIPMAP;
                c->levels = 5;
                c->width = c->height = 16;
                c->fill = LEVEL;
                c->where = grad ? GRADIENTS : LEVELS;
                c->from = -1;
                c->step = k == 0 ? 1.0 / 512 : 7.0 / 512;
                c->count = k == 0 ? 4096 : 512;
                c->results = 1;
                c->texture.mipmapFilterMode = (CUfilter_mode)linear;
                c->texture.mipmapLevelBias = of[k].bias;
                c->texture.minMipmapLevelClamp = of[k].least;
                c->texture.maxMipmapLevelClamp = of[k].most;
                c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
                set_op(c, grad ? "{ .reg .b32 %%w<3>; tex.grad.2d.v4.f32.f32 {%%r0, %%w0, %%w1, %%w2}, [%%h, {%%c0, %%c1}], {%%c4, %%c5}, {%%c8, %%c9}; }"
                           : "{ .reg .b32 %%w<3>; tex.level.2d.v4.f32.f32 {%%r0, %%w0, %%w1, %%w2}, [%%h, {%%c0, %%c1}], %%c4; }");
            }
    struct texcase b = basic_case(), *c;
    for (int k = 0; k < 3; k++) {
        c = add_case(&b, "lod.grad.%s", (const char *[]){"along", "slant", "pair"}[k]);
        c->place = MIPMAP;
        c->levels = 5;
        c->width = c->height = 16;
        c->fill = LEVEL;
        c->where = (enum where)(ALONG + k);
        c->from = 0;
        c->step = 2.0 / 2048;
        c->count = k ? 1024 : 2048;
        c->results = 1;
        c->texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
        c->texture.maxMipmapLevelClamp = 10;
        c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
        set_op(c, "{ .reg .b32 %%w<3>; tex.grad.2d.v4.f32.f32 {%%r0, %%w0, %%w1, %%w2}, [%%h, {%%c0, %%c1}], {%%c4, %%c5}, {%%c8, %%c9}; }");
    }
    c = add_case(&b, "level.base");
    c->place = MIPMAP;
    c->levels = 4;
    c->texture.maxMipmapLevelClamp = 4;
    c->texture.minMipmapLevelClamp = 1;
    c->texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    c = add_case(c, "level.base.bias");
    c->texture.minMipmapLevelClamp = 0;
    c->texture.mipmapLevelBias = 2;
    c = add_case(c, "level.base.anisotropy");
    c->texture.maxAnisotropy = 16;
    c = add_case(c, "level.s32");
    c->texture.maxAnisotropy = 0;
    c->texture.mipmapLevelBias = 0;
    c->texture.flags = 0;
    c->texture.filterMode = CU_TR_FILTER_MODE_POINT;
    c->where = INTEGERS;
    set_op(c, "tex.level.2d.v4.f32.s32 " R4 ", [%%h, {%%c0, %%c1}], %%c4;");
    c = add_case(c, "level.of.plain");
    c->where = LEVELS;
    c->from = 0;
    c->step = 0.125;
    set_op(c, "tex.level.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}], %%c4;");
    c->place = ARRAY;
    c->levels = 1;
    c = add_case(c, "level.layers");
    c->place = MIPMAP;
    c->levels = 4;
    c->depth = 3;
    c->array_flags = CUDA_ARRAY3D_LAYERED;
    c->layered = 1;
    c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    c->texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    set_op(c, "tex.level.a2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}], %%c4;");
}

static void gather_cases(void)
{
    static const struct { int format; unsigned channels; const char *type; unsigned flags; } of[] = {
        {7, 4, "f32", 0}, {0, 4, "f32", 0}, {1, 2, "u32", CU_TRSF_READ_AS_INTEGER}, {5, 1, "s32", CU_TRSF_READ_AS_INTEGER}};
    for (size_t k = 0; k < 4; k++)
        for (int mode = 0; mode < 4; mode++)
            for (int r = 0; r < 4; r++) {
                if (r && mode != 1)
                    continue;
                struct texcase b = basic_case(), *c = add_case(&b, "gather.%s.%s.%c", formats[of[k].format].name, address_name[mode], "rgba"[r]);
                c->format = formats[of[k].format].format;
                c->channels = of[k].channels;
                c->array_flags = CUDA_ARRAY3D_TEXTURE_GATHER;
                c->texture.flags = of[k].flags | (mode % 2 ? 0 : CU_TRSF_NORMALIZED_COORDINATES);
                c->texture.filterMode = of[k].flags & CU_TRSF_READ_AS_INTEGER ? CU_TR_FILTER_MODE_POINT : CU_TR_FILTER_MODE_LINEAR;
                set_address(c, mode);
                c->count = 256;
                set_op(c, "tld4.%c.2d.v4.%s.f32 " R4 ", [%%h, {%%c0, %%c1}];", "rgba"[r], of[k].type);
            }
    struct texcase b = basic_case(), *c = add_case(&b, "gather.sweep");
    c->array_flags = CUDA_ARRAY3D_TEXTURE_GATHER;
    c->fill = RAMP;
    c->where = SWEEP;
    c->from = 2.5 - 1.0 / 128;
    c->step = 1.0 / 32768;
    c->count = 512;
    set_op(c, "tld4.r.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}];");
    c = add_case(c, "gather.offset");
    c->where = EDGES;
    c->count = 128;
    set_op(c, "tld4.r.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}], {3, -2};");
    c = add_case(c, "gather.layers");
    c->array_flags = CUDA_ARRAY3D_LAYERED;
    c->depth = 3;
    c->layered = 1;
    set_op(c, "tld4.r.a2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}];");
    c = add_case(c, "gather.cube");
    c->array_flags = CUDA_ARRAY3D_CUBEMAP;
    c->width = c->height = 8;
    c->depth = 6;
    c->layered = 0;
    c->dims = 3;
    c->where = CUBE;
    c->count = 256;
    c->texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    set_op(c, "tld4.r.cube.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1, %%c2, %%c3}];");
}

static void query_cases(void)
{
    static const char *const queries[] = {"width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size", "num_mipmap_levels",
                                          "num_samples", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2", "force_unnormalized_coords"};
    static const struct { const char *name; enum place place; size_t w, h, d; unsigned flags; int format; unsigned channels; } of[] = {
        {"1d", ARRAY, 20, 0, 0, 0, 0, 1}, {"2d", ARRAY, 20, 12, 0, 0, 1, 2}, {"3d", ARRAY, 20, 12, 7, 0, 7, 4}, {"a1d", ARRAY, 20, 0, 3, CUDA_ARRAY3D_LAYERED, 5, 1},
        {"a2d", ARRAY, 20, 12, 3, CUDA_ARRAY3D_LAYERED, 6, 2}, {"cube", ARRAY, 12, 12, 6, CUDA_ARRAY3D_CUBEMAP, 2, 1},
        {"acube", ARRAY, 12, 12, 18, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 4, 4}, {"mip", MIPMAP, 20, 12, 0, 0, 7, 1}, {"linear", LINEAR, 40, 0, 0, 0, 3, 4},
        {"pitch", PITCH, 20, 12, 0, 0, 0, 4}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int surface = 0; surface < 2; surface++)
            for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
                /* Queries that the driver refuses: one case each. */
                if ((surface && of[k].place != ARRAY) || (q > 2 && k != 1) || (q > 2 && surface && q != 3))
                    continue;
                struct texcase b = basic_case(), *c = add_case(&b, "%s.%s.%s", surface ? "suq" : "txq", of[k].name, queries[q]);
                c->surface = surface;
                c->place = of[k].place;
                c->width = of[k].w;
                c->height = of[k].h;
                c->depth = of[k].d;
                c->levels = of[k].place == MIPMAP ? 3 : 1;
                c->array_flags = of[k].flags;
                c->format = formats[of[k].format].format;
                c->channels = of[k].channels;
                c->texture.flags = CU_TRSF_READ_AS_INTEGER;
                c->where = QUERY;
                c->count = 1;
                c->results = 1;
                set_op(c, "%s.%s.b32 %%r0, [%%h];", surface ? "suq" : "txq", queries[q]);
                if (!surface && q < 3) {
                    c = add_case(c, "txq.%s.%s.level", of[k].name, queries[q]);
                    c->count = 4;
                    set_op(c, "txq.level.%s.b32 %%r0, [%%h], %%c4;", queries[q]);
                }
            }
    static const char *const kinds[] = {"texref", "samplerref", "surfref"};
    for (int k = 0; k < 3; k++)
        for (int surface = 0; surface < 2; surface++) {
            struct texcase b = basic_case(), *c = add_case(&b, "istypep.%s.of.%s", kinds[k], surface ? "surface" : "texture");
            c->surface = surface;
            c->where = QUERY;
            c->count = c->results = 1;
            set_op(c, "istypep.%s %%p1, %%h; selp.b32 %%r0, 1, 0, %%p1;", kinds[k]);
        }
}

static void surface_cases(void)
{
    static const char *const clamps[] = {"zero", "clamp"};
    static const struct { const char *geometry; int dims, layered; const char *at; size_t h, d; unsigned flags; } shapes[] = {
        {"1d", 1, 0, "{%c0}", 0, 0, 0}, {"2d", 2, 0, "{%c0, %c1}", 8, 0, 0}, {"3d", 3, 0, "{%c0, %c1, %c2, %c3}", 8, 4, 0},
        {"a1d", 1, 1, "{%c0, %c1}", 0, 3, CUDA_ARRAY3D_LAYERED}, {"a2d", 2, 1, "{%c0, %c1, %c2, %c3}", 8, 3, CUDA_ARRAY3D_LAYERED}};
    static const struct { const char *bits, *into, *after; unsigned channels; int format, results; const char *from; } widths[] = {
        {"b8", "{%s0}", "cvt.u32.u8 %r0, %s0;", 1, 0, 1, "cvt.u16.u32 %s0, %c4;"},
        {"v2.b8", "{%s0, %s1}", "cvt.u32.u8 %r0, %s0; cvt.u32.u8 %r1, %s1;", 2, 0, 2, "cvt.u16.u32 %s0, %c4; cvt.u16.u32 %s1, %c5;"},
        {"v4.b8", "{%s0, %s1, %s2, %s3}", "cvt.u32.u8 %r0, %s0; cvt.u32.u8 %r1, %s1; cvt.u32.u8 %r2, %s2; cvt.u32.u8 %r3, %s3;", 4, 0, 4,
         "cvt.u16.u32 %s0, %c4; cvt.u16.u32 %s1, %c5; cvt.u16.u32 %s2, %c6; cvt.u16.u32 %s3, %c7;"},
        {"b16", "{%s0}", "cvt.u32.u16 %r0, %s0;", 1, 1, 1, "cvt.u16.u32 %s0, %c4;"},
        {"v2.b16", "{%s0, %s1}", "cvt.u32.u16 %r0, %s0; cvt.u32.u16 %r1, %s1;", 2, 6, 2, "cvt.u16.u32 %s0, %c4; cvt.u16.u32 %s1, %c5;"},
        {"v4.b16", "{%s0, %s1, %s2, %s3}", "cvt.u32.u16 %r0, %s0; cvt.u32.u16 %r1, %s1; cvt.u32.u16 %r2, %s2; cvt.u32.u16 %r3, %s3;", 4, 4, 4,
         "cvt.u16.u32 %s0, %c4; cvt.u16.u32 %s1, %c5; cvt.u16.u32 %s2, %c6; cvt.u16.u32 %s3, %c7;"},
        {"b32", "{%r0}", "", 1, 2, 1, "mov.b32 %r0, %c4;"},
        {"v2.b32", "{%r0, %r1}", "", 2, 7, 2, "mov.b32 %r0, %c4; mov.b32 %r1, %c5;"},
        {"v4.b32", "{%r0, %r1, %r2, %r3}", "", 4, 5, 4, "mov.b32 %r0, %c4; mov.b32 %r1, %c5; mov.b32 %r2, %c6; mov.b32 %r3, %c7;"},
        {"b64", "{%q0}", "mov.b64 {%r0, %r1}, %q0;", 2, 7, 2, "mov.b64 %q0, {%c4, %c5};"},
        {"v2.b64", "{%q0, %q1}", "mov.b64 {%r0, %r1}, %q0; mov.b64 {%r2, %r3}, %q1;", 4, 7, 4, "mov.b64 %q0, {%c4, %c5}; mov.b64 %q1, {%c6, %c7};"}};
    enum { WIDTHS = sizeof widths / sizeof *widths };
    struct texcase b = basic_case();
    b.where = BYTES;
    b.surface = 1;
    for (int s = 0; s < 5; s++)
        for (int m = 0; m < 2; m++)
            for (int w = 0; w < WIDTHS; w += s == 1 ? 1 : 3) {
                struct texcase *c = add_case(&b, "suld.%s.%s.%s", shapes[s].geometry, widths[w].bits, clamps[m]);
                c->dims = shapes[s].dims;
                c->layered = shapes[s].layered;
                c->height = shapes[s].h;
                c->depth = shapes[s].d;
                c->array_flags = shapes[s].flags;
                c->format = formats[widths[w].format].format;
                c->channels = widths[w].channels;
                c->results = widths[w].results;
                set_op(c, "suld.b.%s.%s.%s %s, [%%h, %s]; %s", shapes[s].geometry, widths[w].bits, clamps[m], widths[w].into, shapes[s].at, widths[w].after);
                c = add_case(c, "sust.%s.%s.%s", shapes[s].geometry, widths[w].bits, clamps[m]);
                c->surface = 2;
                c->count = 192;
                c->results = 1;
                set_op(c, "%s sust.b.%s.%s.%s [%%h, %s], %s; mov.b32 %%r0, 1;", widths[w].from, shapes[s].geometry, widths[w].bits, clamps[m], shapes[s].at, widths[w].into);
            }
    /* An element size other than the instruction's. */
    static const int other[][2] = {{6, 0}, {0, 2}, {3, 2}, {8, 0}, {6, 5}};
    for (size_t k = 0; k < 5; k++) {
        struct texcase *c = add_case(&b, "suld.mixed.%s.of.%s", widths[other[k][0]].bits, widths[other[k][1]].bits);
        c->format = formats[widths[other[k][1]].format].format;
        c->channels = widths[other[k][1]].channels;
        c->results = widths[other[k][0]].results;
        set_op(c, "suld.b.2d.%s.zero %s, [%%h, {%%c0, %%c1}]; %s", widths[other[k][0]].bits, widths[other[k][0]].into, widths[other[k][0]].after);
    }
    for (int w = 1; w < 4; w++) {
        struct texcase *c = add_case(&b, "suld.misaligned.%s", widths[w].bits);
        c->format = formats[widths[w].format].format;
        c->channels = widths[w].channels;
        c->results = widths[w].results;
        set_op(c, "suld.b.2d.%s.zero %s, [%%h, {%%c0, %%c1}]; %s", widths[w].bits, widths[w].into, widths[w].after);
    }
    /* Formatted stores: coordinates in elements, converted values. */
    static const char *const stores[] = {"f32", "u32", "s32", "b32"};
    for (int t = 0; t < 4; t++)
        for (int f = 0; f < 8; f++)
            for (int v = 0; v < 2; v++) {
                if (v && f % 3)
                    continue;
                if (t != 3) /* only .b32 is legal */
                    continue;
                struct texcase *c = add_case(&b, "sust.p.%s%s.to.%s", v ? "" : "v4.", stores[t], formats[f].name);
                c->surface = 2;
                c->format = formats[f].format;
                c->channels = v ? 1 : f % 2 ? 4 : 2;
                c->count = 160;
                c->results = 1;
                int first = t == 0 ? 8 : 4;
                if (v)
                    set_op(c, "sust.p.2d.%s.zero [%%h, {%%c0, %%c1}], {%%c%d}; mov.b32 %%r0, 1;", stores[t], first);
                else
                    set_op(c, "sust.p.2d.v4.%s.zero [%%h, {%%c0, %%c1}], {%%c%d, %%c%d, %%c%d, %%c%d}; mov.b32 %%r0, 1;", stores[t], first, first + 1, first + 2, first + 3);
            }
    /* Reductions; several threads access the same element. */
    static const char *const operations[] = {"add", "min", "max", "and", "or"};
    static const char *const types[] = {"u32", "s32", "b32", "u64", "s64", "b64"};
    for (int p = 0; p < 2; p++)
        for (int o = 0; o < 5; o++)
            for (int t = 0; t < 6; t++) {
                int bit = o > 2;
                /* .p takes only .b32, add has no .s64, and and or have no .b64 */
                if ((bit && t != 2) || (!bit && t % 3 == 2 && !p) || (p && t != 2) || (o == 0 && t == 4))
                    continue;
                struct texcase *c = add_case(&b, "sured.%c.%s.%s", "bp"[p], operations[o], types[t]);
                c->surface = 2;
                c->format = t % 3 == 1 ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
                c->channels = t > 2 ? 2 : 1;
                c->count = 256;
                c->results = 1;
                set_op(c, "mov.b64 %%q0, {%%c4, %%c5}; sured.%c.%s.2d.%s.%s [%%h, {%%c0, %%c1}], %s; mov.b32 %%r0, 1;", "bp"[p], operations[o], p && bit ? "b32" : types[t],
                   clamps[o % 2], t > 2 ? "%q0" : "%c4");
            }
    for (int s = 0; s < 3; s++) {
        struct texcase *c = add_case(&b, "sured.%s", shapes[s].geometry);
        c->surface = 2;
        c->dims = shapes[s].dims;
        c->layered = shapes[s].layered;
        c->height = shapes[s].h;
        c->depth = shapes[s].d;
        c->array_flags = shapes[s].flags;
        c->format = CU_AD_FORMAT_UNSIGNED_INT32;
        c->results = 1;
        set_op(c, "sured.b.add.%s.u32.zero [%%h, %s], %%c4; mov.b32 %%r0, 1;", shapes[s].geometry, shapes[s].at);
    }
}

static void view_cases(void)
{
    static const struct { int format; unsigned channels; CUresourceViewFormat view; const char *name, *type; unsigned flags; } of[] = {
        {0, 4, CU_RES_VIEW_FORMAT_UINT_4X8, "u8x4.as.u8x4", "f32", 0}, {0, 4, CU_RES_VIEW_FORMAT_SINT_4X8, "u8x4.as.s8x4", "f32", 0},
        {0, 4, CU_RES_VIEW_FORMAT_UINT_1X32, "u8x4.as.u32", "u32", CU_TRSF_READ_AS_INTEGER}, {2, 1, CU_RES_VIEW_FORMAT_FLOAT_1X32, "u32.as.f32", "f32", 0},
        {2, 2, CU_RES_VIEW_FORMAT_FLOAT_4X16, "u32x2.as.f16x4", "f32", 0}, {7, 4, CU_RES_VIEW_FORMAT_FLOAT_4X32, "f32x4.as.f32x4", "f32", 0}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        struct texcase b = basic_case(), *c = add_case(&b, "view.%s", of[k].name);
        c->format = formats[of[k].format].format;
        c->channels = of[k].channels;
        c->view = of[k].view;
        c->texture.flags = of[k].flags;
        c->where = INTEGERS;
        c->count = 64;
        set_op(c, "tex.2d.v4.%s.s32 " R4 ", [%%h, {%%c0, %%c1}];", of[k].type);
    }
    /* A comparison value has no effect. */
    struct texcase b = basic_case(), *c = add_case(&b, "compare");
    c->where = SCATTER;
    set_op(c, "tex.2d.v4.f32.f32 " R4 ", [%%h, {%%c0, %%c1}], 0f3F000000;");
    c = add_case(c, "resident");
    set_op(c, "tex.2d.v4.f32.f32 " R4 "|%%p1, [%%h, {%%c0, %%c1}]; selp.b32 %%r3, 7, 8, %%p1;");
}

void make_cases(void)
{
    format_cases();
    sweep_cases();
    address_cases();
    layer_cases();
    level_cases();
    gather_cases();
    query_cases();
    surface_cases();
    view_cases();
    make_format_cases();
    make_spelling_cases();
}
