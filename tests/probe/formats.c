/* Arrays of compressed and planar formats, copies of blocks, views, and samplers of modules. */
#include "probe.h"

static CUresult make(const char *name, CUarray *a, size_t w, size_t h, size_t d, int format, unsigned channels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR s = {.Width = w, .Height = h, .Depth = d, .Format = (CUarray_format)format, .NumChannels = channels, .Flags = flags};
    *a = NULL;
    return T(name, cuArray3DCreate, a, &s);
}

static const struct { int format; unsigned channels; const char *name; } compressed[] = {
    {0x91, 4, "bc1"}, {0x92, 4, "bc1s"}, {0x93, 4, "bc2"}, {0x94, 4, "bc2s"}, {0x95, 4, "bc3"}, {0x96, 4, "bc3s"}, {0x97, 1, "bc4"}, {0x98, 1, "bc4n"},
    {0x99, 2, "bc5"}, {0x9a, 2, "bc5n"}, {0x9b, 3, "bc6"}, {0x9c, 3, "bc6n"}, {0x9d, 4, "bc7"}, {0x9e, 4, "bc7s"}, {0x50, 4, "tens"}};

/* The shapes that compressed formats allow. */
void group_blocks(void)
{
    static const struct { const char *name; size_t w, h, d; unsigned flags; } shapes[] = {
        {"2d", 16, 8, 0, 0}, {"odd", 13, 7, 0, 0}, {"one", 1, 1, 0, 0}, {"1d", 16, 0, 0, 0}, {"3d", 16, 8, 4, 0}, {"a1d", 16, 0, 3, 1}, {"a2d", 16, 8, 3, 1}, {"cube", 8, 8, 6, 4},
        {"acube", 8, 8, 12, 5}, {"cube.odd", 6, 6, 6, 4}, {"surface", 16, 8, 0, 2}, {"gather", 16, 8, 0, 8}, {"color", 16, 8, 0, 32}, {"wide", 131072, 4, 0, 0}, {"wider", 131073, 4, 0, 0}, {"high", 4, 65537, 0, 0}};
    CUarray a;
    setup();
    for (size_t f = 0; f < COUNT(compressed); f++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            if (s > 6 && f % 6 && f != COUNT(compressed) - 1)
                continue;
            if (make(N("%s.%s", compressed[f].name, shapes[s].name), &a, shapes[s].w, shapes[s].h, shapes[s].d, compressed[f].format, compressed[f].channels, shapes[s].flags))
                continue;
            CUDA_ARRAY3D_DESCRIPTOR got;
            memset(&got, 0, sizeof got);
            R(cuArray3DGetDescriptor, &got, a);
            V(N("%s.%s.v", compressed[f].name, shapes[s].name), "%zu %zu %zu %x %u %x", got.Width, got.Height, got.Depth, (int)got.Format, got.NumChannels, got.Flags);
            CUDA_ARRAY_MEMORY_REQUIREMENTS need;
            memset(&need, 0, sizeof need);
            CUresult r = R(cuArrayGetMemoryRequirements, &need, a, 0);
            M(N("%s.%s.size", compressed[f].name, shapes[s].name), "%d %zu %zu", (int)r, need.size, need.alignment);
            R(cuArrayDestroy, a);
        }
        for (unsigned levels = 1; levels <= 6; levels += 5) {
            CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = (CUarray_format)compressed[f].format, .NumChannels = compressed[f].channels};
            CUmipmappedArray m = NULL;
            if (T(N("%s.mip.%u", compressed[f].name, levels), cuMipmappedArrayCreate, &m, &d, levels))
                continue;
            for (unsigned l = 0; l < 6; l++) {
                CUDA_ARRAY3D_DESCRIPTOR got;
                memset(&got, 0, sizeof got);
                if (!T(N("%s.mip.%u.%u", compressed[f].name, levels, l), cuMipmappedArrayGetLevel, &a, m, l)) {
                    R(cuArray3DGetDescriptor, &got, a);
                    V(N("%s.mip.%u.%u.v", compressed[f].name, levels, l), "%zu %zu", got.Width, got.Height);
                }
            }
            R(cuMipmappedArrayDestroy, m);
        }
    }
    T("sync", cuCtxSynchronize);
}

static unsigned char host[4096], back[4096];

static CUresult copy(const char *name, CUarray a, int to, size_t x, size_t y, size_t width, size_t height)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = to ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = to ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = host, c.srcPitch = to ? 64 : 0, c.srcArray = a, c.dstArray = a, c.dstHost = back, c.dstPitch = to ? 0 : 64;
    if (to)
        c.dstXInBytes = x, c.dstY = y;
    else
        c.srcXInBytes = x, c.srcY = y;
    c.WidthInBytes = width;
    c.Height = height;
    return T(name, cuMemcpy2D, &c);
}

/* 16 x 12 texels of BC1 are 3 rows of 4 blocks of 8 bytes: what is the unit of copies? */
void group_blockcopy(void)
{
    CUarray a;
    setup();
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i * 7 + i / 64);
    make("array", &a, 16, 12, 0, 0x91, 4, 0);
    static const struct { const char *name; size_t x, y, w, h; } tries[] = {
        {"all", 0, 0, 32, 3}, {"row", 0, 0, 32, 1}, {"rows.4", 0, 0, 32, 4}, {"rows.12", 0, 0, 32, 12}, {"rows.13", 0, 0, 32, 13}, {"wide", 0, 0, 40, 1}, {"wider", 0, 0, 128, 1}, {"half", 0, 0, 4, 1},
        {"middle", 8, 1, 16, 2}, {"low", 8, 2, 16, 2}, {"lower", 0, 3, 8, 1}, {"y.4", 0, 4, 8, 1}, {"y.11", 0, 11, 8, 1}, {"x.odd", 4, 0, 8, 1}, {"x.end", 32, 0, 8, 1}};
    for (size_t i = 0; i < COUNT(tries); i++) {
        memset(back, 0xee, sizeof back);
        CUresult r = copy(N("to.%s", tries[i].name), a, 1, tries[i].x, tries[i].y, tries[i].w, tries[i].h);
        if (copy(N("from.%s", tries[i].name), a, 0, tries[i].x, tries[i].y, tries[i].w, tries[i].h) || r)
            continue;
        V(N("%s.v", tries[i].name), "%d %d %d %d", back[0], back[8], back[64], back[128]);
    }
    memset(back, 0xee, sizeof back);
    copy("read", a, 0, 0, 0, 32, 3);
    for (int y = 0; y < 3; y++)
        V(N("read.%d", y), "%d %d %d %d", back[y * 64], back[y * 64 + 8], back[y * 64 + 16], back[y * 64 + 24]);
    T("htoa", cuMemcpyHtoA, a, 0, host, 32);
    T("htoa.all", cuMemcpyHtoA, a, 0, host, 96);
    T("htoa.offset", cuMemcpyHtoA, a, 8, host, 8);
    T("atoh", cuMemcpyAtoH, back, a, 0, 32);
    V("atoh.v", "%d %d", back[0], back[31]);
    R(cuArrayDestroy, a);
    /* Partial blocks: 13 x 7 texels are 2 rows of 4 blocks. */
    make("odd", &a, 13, 7, 0, 0x93, 4, 0);
    copy("odd.all", a, 1, 0, 0, 64, 2);
    copy("odd.cut", a, 1, 0, 0, 52, 2);
    copy("odd.rows.7", a, 1, 0, 0, 64, 7);
    copy("odd.rows.8", a, 1, 0, 0, 64, 8);
    copy("odd.from", a, 0, 0, 0, 64, 2);
    V("odd.v", "%d %d", back[63], back[64 + 63]);
    R(cuArrayDestroy, a);
    /* Layers. */
    make("layers", &a, 16, 8, 3, 0x9d, 4, 1);
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = host, c.srcPitch = 64, c.srcHeight = 2;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = a;
    c.WidthInBytes = 64, c.Height = 2, c.Depth = 3;
    T("layers.all", cuMemcpy3D, &c);
    c.Height = 8;
    T("layers.texels", cuMemcpy3D, &c);
    c.Height = 2, c.dstZ = 1;
    T("layers.past", cuMemcpy3D, &c);
    CUarray b;
    make("other", &b, 16, 8, 0, 0x9e, 4, 0);
    memset(&c, 0, sizeof c);
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.srcArray = a, c.srcZ = 2, c.dstArray = b, c.WidthInBytes = 64, c.Height = 2, c.Depth = 1;
    T("between", cuMemcpy3D, &c);
    R(cuArrayDestroy, b);
    make("plain", &b, 4, 2, 0, 0x03, 4, 0);
    c.dstArray = b;
    T("to.plain", cuMemcpy3D, &c);
    memset(back, 0, sizeof back);
    copy("plain.read", b, 0, 0, 0, 64, 2);
    V("plain.v", "%d %d", back[1] == host[(4 + 0) * 64 + 1], back[64 + 9] == host[5 * 64 + 9]);
    T("sync", cuCtxSynchronize);
}

static void object(const char *name, const CUDA_RESOURCE_DESC *r, unsigned flags, int filter, const CUDA_RESOURCE_VIEW_DESC *v)
{
    CUDA_TEXTURE_DESC t;
    CUtexObject o = 0;
    memset(&t, 0, sizeof t);
    t.flags = flags;
    t.filterMode = (CUfilter_mode)filter;
    if (!T(name, cuTexObjectCreate, &o, r, &t, v))
        R(cuTexObjectDestroy, o);
}

/* Objects of compressed arrays, and compressed views of other arrays. */
void group_blockview(void)
{
    CUDA_RESOURCE_DESC r;
    CUDA_RESOURCE_VIEW_DESC v;
    CUarray a;
    setup();
    memset(&r, 0, sizeof r);
    for (size_t f = 0; f < COUNT(compressed); f++) {
        make(N("%s.array", compressed[f].name), &a, 16, 8, 0, compressed[f].format, compressed[f].channels, 0);
        r.resType = CU_RESOURCE_TYPE_ARRAY;
        r.res.array.hArray = a;
        for (unsigned flags = 0; flags < 0x20; flags += flags == 3 ? 13 : 1)
            for (int filter = 0; filter < 2; filter++)
                object(N("%s.%x.%d", compressed[f].name, flags, filter), &r, flags, filter, NULL);
        for (int view = 0x0c; view < 0x24; view++) {
            if (f % 4)
                continue;
            for (int side = 1; side <= 4; side += 3) {
                memset(&v, 0, sizeof v);
                v.format = (CUresourceViewFormat)view, v.width = 16u / (unsigned)side, v.height = 8u / (unsigned)side;
                object(N("%s.as.%x.%d", compressed[f].name, view, side), &r, 0, 0, &v);
            }
        }
        CUsurfObject s = 0;
        if (!T(N("%s.surface", compressed[f].name), cuSurfObjectCreate, &s, &r))
            R(cuSurfObjectDestroy, s);
        R(cuArrayDestroy, a);
    }
    static const struct { const char *name; int format; unsigned channels; } bases[] = {
        {"u32", 0x03, 1}, {"u32x2", 0x03, 2}, {"u32x4", 0x03, 4}, {"s32x2", 0x0a, 2}, {"f32x4", 0x20, 4}, {"u16x4", 0x02, 4}, {"f16x4", 0x10, 4}};
    for (size_t b = 0; b < COUNT(bases); b++) {
        make(N("%s.array", bases[b].name), &a, 16, 8, 0, bases[b].format, bases[b].channels, 0);
        r.res.array.hArray = a;
        for (int view = 0x19; view < 0x24; view++) {
            static const struct { const char *name; size_t w, h; } sizes[] = {{"4", 64, 32}, {"1", 16, 8}, {"less", 61, 29}, {"w", 64, 8}};
            for (size_t s = 0; s < COUNT(sizes); s++) {
                memset(&v, 0, sizeof v);
                v.format = (CUresourceViewFormat)view, v.width = sizes[s].w, v.height = sizes[s].h;
                object(N("%s.as.%x.%s", bases[b].name, view, sizes[s].name), &r, 0, 0, &v);
            }
        }
        memset(&v, 0, sizeof v);
        v.format = (CUresourceViewFormat)(bases[b].channels == 2 ? 0x19 : 0x22), v.width = 64, v.height = 32;
        object(N("%s.srgb", bases[b].name), &r, CU_TRSF_SRGB, 1, &v);
        object(N("%s.int", bases[b].name), &r, CU_TRSF_READ_AS_INTEGER, 1, &v);
        R(cuArrayDestroy, a);
    }
    T("sync", cuCtxSynchronize);
}

/* Which numbers are formats at all, with how many channels; planar arrays. */
void group_planar(void)
{
    setup();
    for (int format = 0; format < 0x100; format++)
        for (unsigned flags = 0; flags < 0x200; flags += flags == 2 ? 0xfe : flags ? 0x100 : 2) {
            char line[64] = "";
            for (unsigned channels = 0; channels <= 5; channels++) {
                CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = (CUarray_format)format, .NumChannels = channels, .Flags = flags};
                CUarray a = NULL;
                CUresult r = R(cuArray3DCreate, &a, &d);
                snprintf(line + strlen(line), sizeof line - strlen(line), "%s%d", channels ? " " : "", (int)r);
                if (r)
                    continue;
                char planes[128] = "";
                for (unsigned plane = 0; plane < 4; plane++) {
                    CUarray p = NULL;
                    CUDA_ARRAY3D_DESCRIPTOR got;
                    memset(&got, 0, sizeof got);
                    CUresult g = R(cuArrayGetPlane, &p, a, plane);
                    if (!g)
                        R(cuArray3DGetDescriptor, &got, p);
                    snprintf(planes + strlen(planes), sizeof planes - strlen(planes), "%s%d %zu %zu %x %u", plane ? ", " : "", (int)g, got.Width, got.Height, (int)got.Format, got.NumChannels);
                }
                if (strncmp(planes, "1 0 0 0 0, 1 0 0 0 0", 20))
                    V(N("%x.%u.%x.planes", format, channels, flags), "%s", planes);
                CUDA_RESOURCE_DESC rd;
                CUDA_TEXTURE_DESC td;
                CUtexObject o = 0;
                memset(&rd, 0, sizeof rd);
                memset(&td, 0, sizeof td);
                rd.res.array.hArray = a;
                if (format > 0x20)
                    V(N("%x.%u.%x.object", format, channels, flags), "%d", (int)R(cuTexObjectCreate, &o, &rd, &td, NULL));
                R(cuArrayDestroy, a);
            }
            if (strcmp(line, "1 1 1 1 1 1"))
                V(N("%x.%x", format, flags), "%s", line);
        }
    T("sync", cuCtxSynchronize);
}

/* Modules with separate samplers. */
void group_sampler(void)
{
    static const char text[] =
        ".version 7.0\n.target sm_52, texmode_independent\n.address_size 64\n.visible .global .texref t;\n"
        ".visible .global .samplerref s = { filter_mode = linear, addr_mode_0 = wrap };\n.visible .global .samplerref p;\n"
        ".visible .entry k(.param .u64 out)\n{\n .reg .b64 %a; .reg .b32 %r<4>; .reg .f32 %f;\n ld.param.u64 %a, [out]; cvta.to.global.u64 %a, %a;\n"
        " mov.f32 %f, 0f3F000000; tex.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [t, s, {%f, %f}];\n st.global.v4.b32 [%a], {%r0, %r1, %r2, %r3};\n ret;\n}\n";
    CUmodule m = NULL;
    CUtexref t = NULL, s = NULL;
    CUdeviceptr at = 0;
    size_t size = 0;
    setup();
    if (T("load", cuModuleLoadData, &m, text))
        return;
    T("texref", cuModuleGetTexRef, &t, m, "t");
    T("texref.sampler", cuModuleGetTexRef, &s, m, "s");
    T("texref.plain", cuModuleGetTexRef, &s, m, "p");
    T("surfref.sampler", cuModuleGetSurfRef, (CUsurfref *)&s, m, "s");
    T("global.sampler", cuModuleGetGlobal, &at, &size, m, "s");
    T("global.texref", cuModuleGetGlobal, &at, &size, m, "t");
    CUfilter_mode filter = (CUfilter_mode)7;
    CUaddress_mode mode = (CUaddress_mode)7;
    unsigned flags = 77;
    T("filter", cuTexRefGetFilterMode, &filter, t);
    T("address", cuTexRefGetAddressMode, &mode, t, 0);
    T("flags", cuTexRefGetFlags, &flags, t);
    V("state.v", "%d %d %u", (int)filter, (int)mode, flags);
    CUfunction f = function(m, "k");
    CUdeviceptr out = 0;
    R(cuMemAlloc, &out, 64);
    void *args[] = {&out};
    T("launch.unbound", cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("sync", cuCtxSynchronize);
}
