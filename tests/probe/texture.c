/* Textures, surfaces, their references and mipmapped arrays. */
#include "probe.h"

static CUarray array(size_t w, size_t h, size_t d, CUarray_format format, unsigned channels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR a = {.Width = w, .Height = h, .Depth = d, .Format = format, .NumChannels = channels, .Flags = flags};
    CUarray made = NULL;
    R(cuArray3DCreate, &made, &a);
    return made;
}

static CUDA_RESOURCE_DESC of_array(CUarray a)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = a;
    return r;
}

static CUDA_TEXTURE_DESC plain(void)
{
    CUDA_TEXTURE_DESC t;
    memset(&t, 0, sizeof t);
    return t;
}

/* Creates, reports, destroys. */
static void make(const char *name, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *v)
{
    CUtexObject object = 0;
    if (!T(name, cuTexObjectCreate, &object, r, t, v))
        R(cuTexObjectDestroy, object);
}

void group_texobject(void)
{
    CUtexObject object = 0;
    setup();
    CUarray a = array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUDA_RESOURCE_DESC r = of_array(a), got;
    CUDA_TEXTURE_DESC t = plain(), gott;
    CUDA_RESOURCE_VIEW_DESC view;
    memset(&view, 0, sizeof view);
    T("create", cuTexObjectCreate, &object, &r, &t, NULL);
    V("create.handle", "%d", object != 0);
    memset(&got, 0x55, sizeof got);
    T("resource", cuTexObjectGetResourceDesc, &got, object);
    V("resource.v", "%d %d %u", (int)got.resType, got.res.array.hArray == a, got.flags);
    T("resource.null", cuTexObjectGetResourceDesc, NULL, object);
    memset(&gott, 0x55, sizeof gott);
    t.addressMode[0] = CU_TR_ADDRESS_MODE_MIRROR;
    T("texture", cuTexObjectGetTextureDesc, &gott, object);
    V("texture.v", "%d %d %d %d %u %u %d %g %g %g", (int)gott.addressMode[0], (int)gott.addressMode[1], (int)gott.addressMode[2], (int)gott.filterMode, gott.flags,
      gott.maxAnisotropy, (int)gott.mipmapFilterMode, gott.mipmapLevelBias, gott.minMipmapLevelClamp, gott.maxMipmapLevelClamp);
    T("texture.null", cuTexObjectGetTextureDesc, NULL, object);
    T("view.none", cuTexObjectGetResourceViewDesc, &view, object);
    T("view.null", cuTexObjectGetResourceViewDesc, NULL, object);
    T("destroy", cuTexObjectDestroy, object);
    T("destroy.again", cuTexObjectDestroy, object);
    T("destroy.garbage", cuTexObjectDestroy, 0x123456789abcdull);
    T("resource.dead", cuTexObjectGetResourceDesc, &got, object);
    T("resource.zero", cuTexObjectGetResourceDesc, &got, 0);
    T("texture.dead", cuTexObjectGetTextureDesc, &gott, object);
    T("texture.zero", cuTexObjectGetTextureDesc, &gott, 0);
    T("view.dead", cuTexObjectGetResourceViewDesc, &view, object);
    T("create.nullout", cuTexObjectCreate, NULL, &r, &t, NULL);
    T("create.nullresource", cuTexObjectCreate, &object, NULL, &t, NULL);
    T("create.nulltexture", cuTexObjectCreate, &object, &r, NULL, NULL);
    r.flags = 1;
    make("create.resourceflags", &r, &t, NULL);
    r = of_array(NULL);
    make("create.nullarray", &r, &t, NULL);
    r = of_array(a);
    r.resType = (CUresourcetype)4;
    make("create.badtype", &r, &t, NULL);
    R(cuArrayDestroy, a);
    r = of_array(a);
    make("create.deadarray", &r, &t, NULL);
    /* Every kind of array. */
    static const struct { const char *name; size_t w, h, d; unsigned flags; } shapes[] = {
        {"1d", 8, 0, 0, 0}, {"3d", 8, 8, 4, 0}, {"a1d", 8, 0, 3, 1}, {"a2d", 8, 8, 3, 1}, {"cube", 8, 8, 6, 4}, {"acube", 8, 8, 12, 5}, {"gather", 8, 8, 0, 8},
        {"gather3d", 8, 8, 4, 8}, {"gather1d", 8, 0, 0, 8}, {"surface", 8, 8, 0, 2}, {"depth", 8, 8, 0, 16}, {"color", 8, 8, 0, 32}, {"gather.layers", 8, 8, 3, 9}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = {.Width = shapes[i].w, .Height = shapes[i].h, .Depth = shapes[i].d, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = shapes[i].flags};
        CUarray s = NULL;
        if (T(N("shape.%s.array", shapes[i].name), cuArray3DCreate, &s, &d))
            continue;
        r = of_array(s);
        make(N("shape.%s", shapes[i].name), &r, &t, NULL);
        R(cuArrayDestroy, s);
    }
    /* An array is destroyed before its object. */
    a = array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    r = of_array(a);
    R(cuTexObjectCreate, &object, &r, &t, NULL);
    T("array.first", cuArrayDestroy, a);
    T("array.first.object", cuTexObjectDestroy, object);
    T("sync", cuCtxSynchronize);
}

void group_texdesc(void)
{
    setup();
    CUarray a = array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0), i = array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0), u = array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    CUDA_RESOURCE_DESC ra = of_array(a), ri = of_array(i), ru = of_array(u);
    CUDA_TEXTURE_DESC t;
    for (int k = 0; k < 6; k++) {
        t = plain();
        t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = (CUaddress_mode)k;
        make(N("address.%d", k), &ra, &t, NULL);
        t = plain();
        t.addressMode[2] = (CUaddress_mode)k;
        make(N("address.z.%d", k), &ra, &t, NULL);
        t = plain();
        t.filterMode = (CUfilter_mode)k;
        make(N("filter.%d", k), &ra, &t, NULL);
        t = plain();
        t.mipmapFilterMode = (CUfilter_mode)k;
        make(N("mipfilter.%d", k), &ra, &t, NULL);
    }
    for (unsigned bit = 0; bit < 9; bit++) {
        t = plain();
        t.flags = 1u << bit;
        make(N("flags.%x", 1u << bit), &ra, &t, NULL);
        make(N("flags.u8.%x", 1u << bit), &ru, &t, NULL);
    }
    static const unsigned anisotropy[] = {1, 2, 3, 16, 17, 1000};
    for (size_t k = 0; k < COUNT(anisotropy); k++) {
        t = plain();
        t.maxAnisotropy = anisotropy[k];
        make(N("anisotropy.%u", anisotropy[k]), &ra, &t, NULL);
    }
    t = plain();
    t.mipmapLevelBias = 100;
    make("bias.huge", &ra, &t, NULL);
    t = plain();
    t.minMipmapLevelClamp = 5;
    t.maxMipmapLevelClamp = 1;
    make("clamp.crossed", &ra, &t, NULL);
    t.minMipmapLevelClamp = -5;
    make("clamp.negative", &ra, &t, NULL);
    t = plain();
    t.filterMode = CU_TR_FILTER_MODE_LINEAR;
    make("linear.of.u32", &ri, &t, NULL);
    make("linear.of.u8", &ru, &t, NULL);
    t.flags = CU_TRSF_READ_AS_INTEGER;
    make("linear.of.u8.integers", &ru, &t, NULL);
    make("linear.of.f32.integers", &ra, &t, NULL);
    t = plain();
    t.flags = CU_TRSF_SRGB | CU_TRSF_READ_AS_INTEGER;
    make("srgb.integers", &ru, &t, NULL);
    t = plain();
    t.reserved[0] = 1;
    make("reserved", &ra, &t, NULL);
    /* Linear memory and pitches. */
    CUdeviceptr p = 0;
    size_t pitch = 0;
    t = plain();
    R(cuMemAllocPitch, &p, &pitch, 256, 16, 4);
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_PITCH2D;
    r.res.pitch2D.devPtr = p;
    r.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    r.res.pitch2D.numChannels = 1;
    r.res.pitch2D.width = 64;
    r.res.pitch2D.height = 16;
    r.res.pitch2D.pitchInBytes = pitch;
    make("pitch", &r, &t, NULL);
    static const struct { const char *name; int64_t offset; size_t w, h, add; int channels, format; } pitches[] = {
        {"w0", 0, 0, 16, 0, 1, 0x20}, {"h0", 0, 64, 0, 0, 1, 0x20}, {"offset4", 4, 60, 16, 0, 1, 0x20}, {"offset16", 16, 60, 16, 0, 1, 0x20}, {"offset32", 32, 56, 16, 0, 1, 0x20},
        {"offset512", 512, 64, 15, 0, 1, 0x20}, {"pitch+4", 0, 64, 16, 4, 1, 0x20}, {"pitch+16", 0, 64, 16, 16, 1, 0x20}, {"pitch+32", 0, 64, 15, 32, 1, 0x20}, {"ch3", 0, 16, 16, 0, 3, 0x20},
        {"ch4", 0, 16, 16, 0, 4, 0x20}, {"format", 0, 16, 16, 0, 1, 0x77}, {"wide", 0, 100000, 16, 0, 1, 0x20}, {"wider", 0, 200000, 16, 0, 1, 0x20}, {"high", 0, 64, 70000, 0, 1, 0x20},
        {"beyond", 0, 64, 4096, 0, 1, 0x20}, {"half", 0, 64, 16, 0, 2, 0x10}, {"unorm", 0, 64, 16, 0, 1, 0xc0}};
    for (size_t k = 0; k < COUNT(pitches); k++) {
        CUDA_RESOURCE_DESC q = r;
        q.res.pitch2D.devPtr = p + (CUdeviceptr)pitches[k].offset;
        q.res.pitch2D.width = pitches[k].w;
        q.res.pitch2D.height = pitches[k].h;
        q.res.pitch2D.pitchInBytes = pitch + pitches[k].add;
        q.res.pitch2D.numChannels = (unsigned)pitches[k].channels;
        q.res.pitch2D.format = (CUarray_format)pitches[k].format;
        make(N("pitch.%s", pitches[k].name), &q, &t, NULL);
    }
    r.res.pitch2D.devPtr = 0;
    make("pitch.null", &r, &t, NULL);
    r.res.pitch2D.devPtr = 0x1000;
    make("pitch.garbage", &r, &t, NULL);
    CUDA_RESOURCE_DESC l;
    memset(&l, 0, sizeof l);
    l.resType = CU_RESOURCE_TYPE_LINEAR;
    static const struct { const char *name; int64_t offset; size_t size; int channels, format; } lines[] = {
        {"whole", 0, 4096, 1, 0x20}, {"empty", 0, 0, 1, 0x20}, {"odd", 0, 4095, 1, 0x20}, {"one", 0, 1, 1, 0x01}, {"less", 0, 3, 1, 0x20}, {"offset4", 4, 64, 1, 0x20}, {"offset16", 16, 64, 1, 0x20},
        {"offset32", 32, 64, 1, 0x20}, {"offset256", 256, 64, 1, 0x20}, {"offset512", 512, 64, 4, 0x20}, {"ch3", 0, 4096, 3, 0x20}, {"format", 0, 4096, 1, 0x77}, {"beyond", 0, 1 << 24, 1, 0x20},
        {"huge", 0, (size_t)1 << 31, 1, 0x01}, {"unorm", 0, 64, 1, 0xc0}};
    for (size_t k = 0; k < COUNT(lines); k++) {
        l.res.linear.devPtr = p + (CUdeviceptr)lines[k].offset;
        l.res.linear.sizeInBytes = lines[k].size;
        l.res.linear.numChannels = (unsigned)lines[k].channels;
        l.res.linear.format = (CUarray_format)lines[k].format;
        make(N("line.%s", lines[k].name), &l, &t, NULL);
    }
    l.res.linear.devPtr = 0;
    l.res.linear.format = CU_AD_FORMAT_FLOAT;
    l.res.linear.numChannels = 1;
    l.res.linear.sizeInBytes = 64;
    make("line.null", &l, &t, NULL);
    l.res.linear.devPtr = 0x1000;
    make("line.garbage", &l, &t, NULL);
    l.res.linear.devPtr = p;
    t.filterMode = CU_TR_FILTER_MODE_LINEAR;
    make("line.filter", &l, &t, NULL);
    t = plain();
    t.flags = CU_TRSF_NORMALIZED_COORDINATES;
    make("line.normalized", &l, &t, NULL);
    t = plain();
    t.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER;
    make("line.border", &l, &t, NULL);
    /* Views. */
    CUDA_RESOURCE_VIEW_DESC v;
    static const struct { const char *name; int format; size_t w, h, d; unsigned first, last, layer, layers; } views[] = {
        {"same", 0x03, 16, 8, 0, 0, 0, 0, 0}, {"signed", 0x06, 16, 8, 0, 0, 0, 0, 0}, {"u32", 0x0d, 16, 8, 0, 0, 0, 0, 0}, {"none", 0, 16, 8, 0, 0, 0, 0, 0}, {"narrow", 0x01, 64, 8, 0, 0, 0, 0, 0},
        {"wide", 0x0e, 8, 8, 0, 0, 0, 0, 0}, {"badformat", 0x23, 16, 8, 0, 0, 0, 0, 0}, {"w", 0x03, 8, 8, 0, 0, 0, 0, 0}, {"h", 0x03, 16, 4, 0, 0, 0, 0, 0}, {"w0", 0x03, 0, 0, 0, 0, 0, 0, 0},
        {"level", 0x03, 16, 8, 0, 1, 1, 0, 0}, {"layer", 0x03, 16, 8, 0, 0, 0, 1, 1}, {"d", 0x03, 16, 8, 1, 0, 0, 0, 0}, {"bc1", 0x19, 16, 8, 0, 0, 0, 0, 0}};
    t = plain();
    for (size_t k = 0; k < COUNT(views); k++) {
        memset(&v, 0, sizeof v);
        v.format = (CUresourceViewFormat)views[k].format;
        v.width = views[k].w;
        v.height = views[k].h;
        v.depth = views[k].d;
        v.firstMipmapLevel = views[k].first;
        v.lastMipmapLevel = views[k].last;
        v.firstLayer = views[k].layer;
        v.lastLayer = views[k].layers;
        make(N("viewed.%s", views[k].name), &ru, &t, &v);
    }
    CUtexObject object = 0;
    memset(&v, 0, sizeof v);
    v.format = CU_RES_VIEW_FORMAT_UINT_4X8;
    v.width = 16;
    v.height = 8;
    T("viewed.keep", cuTexObjectCreate, &object, &ru, &t, &v);
    CUDA_RESOURCE_VIEW_DESC got;
    memset(&got, 0x55, sizeof got);
    T("viewed.get", cuTexObjectGetResourceViewDesc, &got, object);
    V("viewed.get.v", "%d %zu %zu %zu", (int)got.format, got.width, got.height, got.depth);
    make("viewed.linear", &l, &t, &v);
    T("sync", cuCtxSynchronize);
}

void group_surfobject(void)
{
    CUsurfObject s = 0;
    setup();
    CUarray a = array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST), n = array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUDA_RESOURCE_DESC r = of_array(a), got;
    T("create", cuSurfObjectCreate, &s, &r);
    memset(&got, 0x55, sizeof got);
    T("resource", cuSurfObjectGetResourceDesc, &got, s);
    V("resource.v", "%d %d", (int)got.resType, got.res.array.hArray == a);
    T("resource.null", cuSurfObjectGetResourceDesc, NULL, s);
    T("destroy", cuSurfObjectDestroy, s);
    T("destroy.again", cuSurfObjectDestroy, s);
    T("destroy.garbage", cuSurfObjectDestroy, 0x123456789abcdull);
    T("resource.dead", cuSurfObjectGetResourceDesc, &got, s);
    T("create.nullout", cuSurfObjectCreate, NULL, &r);
    T("create.nullresource", cuSurfObjectCreate, &s, NULL);
    r = of_array(n);
    T("create.noflag", cuSurfObjectCreate, &s, &r);
    r = of_array(NULL);
    T("create.nullarray", cuSurfObjectCreate, &s, &r);
    CUdeviceptr p = 0;
    R(cuMemAlloc, &p, 4096);
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_LINEAR;
    r.res.linear.devPtr = p;
    r.res.linear.format = CU_AD_FORMAT_FLOAT;
    r.res.linear.numChannels = 1;
    r.res.linear.sizeInBytes = 4096;
    T("create.linear", cuSurfObjectCreate, &s, &r);
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    CUmipmappedArray m = NULL;
    R(cuMipmappedArrayCreate, &m, &d, 3);
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = m;
    T("create.mipmap", cuSurfObjectCreate, &s, &r);
    CUarray level = NULL;
    R(cuMipmappedArrayGetLevel, &level, m, 1);
    r = of_array(level);
    T("create.level", cuSurfObjectCreate, &s, &r);
    /* Whether texture and surface handles share one number range. */
    CUtexObject t = 0;
    CUDA_TEXTURE_DESC desc = plain();
    r = of_array(a);
    R(cuTexObjectCreate, &t, &r, &desc, NULL);
    T("resource.of.texture", cuSurfObjectGetResourceDesc, &got, t);
    R(cuSurfObjectCreate, &s, &r);
    T("texture.of.surface", cuTexObjectGetTextureDesc, &desc, s);
    T("sync", cuCtxSynchronize);
}

static void shown(const char *name, CUtexref t)
{
    CUdeviceptr p = 77;
    CUarray a = (CUarray)77;
    CUmipmappedArray m = (CUmipmappedArray)77;
    CUaddress_mode am[3] = {77, 77, 77};
    CUfilter_mode fm = 77, mm = 77;
    CUarray_format format = 77;
    int channels = 77, anisotropy = 77;
    unsigned flags = 77;
    float bias = 77, least = 77, most = 77, border[4] = {77, 77, 77, 77};
    T(N("%s.address", name), cuTexRefGetAddress, &p, t);
    V(N("%s.address.v", name), "%d", p == 0 ? 0 : p == 77 ? 77 : 1);
    T(N("%s.array", name), cuTexRefGetArray, &a, t);
    V(N("%s.array.v", name), "%d", a == NULL ? 0 : a == (CUarray)77 ? 77 : 1);
    T(N("%s.mipmap", name), cuTexRefGetMipmappedArray, &m, t);
    V(N("%s.mipmap.v", name), "%d", m == NULL ? 0 : m == (CUmipmappedArray)77 ? 77 : 1);
    for (int k = 0; k < 3; k++)
        T(N("%s.mode.%d", name, k), cuTexRefGetAddressMode, &am[k], t, k);
    V(N("%s.mode.v", name), "%d %d %d", (int)am[0], (int)am[1], (int)am[2]);
    T(N("%s.filter", name), cuTexRefGetFilterMode, &fm, t);
    V(N("%s.filter.v", name), "%d", (int)fm);
    T(N("%s.format", name), cuTexRefGetFormat, &format, &channels, t);
    V(N("%s.format.v", name), "%d %d", (int)format, channels);
    T(N("%s.mipfilter", name), cuTexRefGetMipmapFilterMode, &mm, t);
    V(N("%s.mipfilter.v", name), "%d", (int)mm);
    T(N("%s.bias", name), cuTexRefGetMipmapLevelBias, &bias, t);
    V(N("%s.bias.v", name), "%g", bias);
    T(N("%s.clamp", name), cuTexRefGetMipmapLevelClamp, &least, &most, t);
    V(N("%s.clamp.v", name), "%g %g", least, most);
    T(N("%s.anisotropy", name), cuTexRefGetMaxAnisotropy, &anisotropy, t);
    V(N("%s.anisotropy.v", name), "%d", anisotropy);
    T(N("%s.border", name), cuTexRefGetBorderColor, border, t);
    V(N("%s.border.v", name), "%g %g %g %g", border[0], border[1], border[2], border[3]);
    T(N("%s.flags", name), cuTexRefGetFlags, &flags, t);
    V(N("%s.flags.v", name), "%u", flags);
}

void group_texref(void)
{
    setup();
    CUmodule m = load(ptx_texture);
    CUtexref t = NULL, again = NULL, made = NULL;
    size_t offset = 77, size;
    CUdeviceptr p = 0, q = 0;
    T("get", cuModuleGetTexRef, &t, m, "image");
    T("get.again", cuModuleGetTexRef, &again, m, "image");
    V("get.same", "%d", t == again);
    T("get.missing", cuModuleGetTexRef, &again, m, "nothing");
    T("get.surface", cuModuleGetTexRef, &again, m, "sheet");
    T("get.kernel", cuModuleGetTexRef, &again, m, "read1");
    T("get.nullout", cuModuleGetTexRef, NULL, m, "image");
    T("get.nullname", cuModuleGetTexRef, &again, m, NULL);
    T("get.empty", cuModuleGetTexRef, &again, m, "");
    T("get.nullmodule", cuModuleGetTexRef, &again, NULL, "image");
    T("global", cuModuleGetGlobal, &q, &size, m, "image");
    shown("new", t);
    T("create", cuTexRefCreate, &made);
    T("create.null", cuTexRefCreate, NULL);
    shown("created", made);
    T("destroy", cuTexRefDestroy, made);
    R(cuMemAlloc, &p, 65536);
    /* Valid calls. */
    T("format", cuTexRefSetFormat, t, CU_AD_FORMAT_UNSIGNED_INT32, 2);
    T("address", cuTexRefSetAddress, &offset, t, p, 4096);
    V("address.v", "%zu", offset);
    T("address.offset", cuTexRefSetAddress, &offset, t, p + 64, 4096);
    V("address.offset.v", "%zu", offset);
    T("address.offset.4", cuTexRefSetAddress, &offset, t, p + 4, 4096);
    V("address.offset.4.v", "%zu", offset);
    T("address.nullout", cuTexRefSetAddress, NULL, t, p, 4096);
    T("address.nullout.offset", cuTexRefSetAddress, NULL, t, p + 4, 4096);
    T("address.null", cuTexRefSetAddress, &offset, t, 0, 4096);
    T("address.null.0", cuTexRefSetAddress, &offset, t, 0, 0);
    T("address.empty", cuTexRefSetAddress, &offset, t, p, 0);
    T("address.beyond", cuTexRefSetAddress, &offset, t, p, 1 << 20);
    T("address.garbage", cuTexRefSetAddress, &offset, t, 0x1000, 64);
    T("address.huge", cuTexRefSetAddress, &offset, t, p, (size_t)1 << 40);
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    T("address2d", cuTexRefSetAddress2D, t, &d, p, 512);
    T("address2d.pitch", cuTexRefSetAddress2D, t, &d, p, 100);
    T("address2d.pitch.small", cuTexRefSetAddress2D, t, &d, p, 32);
    T("address2d.offset", cuTexRefSetAddress2D, t, &d, p + 16, 512);
    T("address2d.offset.512", cuTexRefSetAddress2D, t, &d, p + 512, 512);
    T("address2d.null", cuTexRefSetAddress2D, t, NULL, p, 512);
    T("address2d.nullptr", cuTexRefSetAddress2D, t, &d, 0, 512);
    d.NumChannels = 3;
    T("address2d.ch3", cuTexRefSetAddress2D, t, &d, p, 512);
    d.NumChannels = 1;
    d.Width = 0;
    T("address2d.w0", cuTexRefSetAddress2D, t, &d, p, 512);
    CUarray a = array(16, 8, 0, CU_AD_FORMAT_HALF, 2, 0);
    T("array", cuTexRefSetArray, t, a, CU_TRSA_OVERRIDE_FORMAT);
    T("array.flags0", cuTexRefSetArray, t, a, 0);
    T("array.flags2", cuTexRefSetArray, t, a, 2);
    T("array.null", cuTexRefSetArray, t, NULL, 1);
    CUDA_ARRAY3D_DESCRIPTOR d3 = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUmipmappedArray mip = NULL;
    R(cuMipmappedArrayCreate, &mip, &d3, 3);
    T("mipmap", cuTexRefSetMipmappedArray, t, mip, CU_TRSA_OVERRIDE_FORMAT);
    T("mipmap.flags0", cuTexRefSetMipmappedArray, t, mip, 0);
    T("mipmap.null", cuTexRefSetMipmappedArray, t, NULL, 1);
    for (int k = -1; k < 5; k++) {
        T(N("mode.%d", k), cuTexRefSetAddressMode, t, 0, (CUaddress_mode)k);
        T(N("mode.dim.%d", k), cuTexRefSetAddressMode, t, k, CU_TR_ADDRESS_MODE_CLAMP);
        T(N("filter.%d", k), cuTexRefSetFilterMode, t, (CUfilter_mode)k);
        T(N("mipfilter.%d", k), cuTexRefSetMipmapFilterMode, t, (CUfilter_mode)k);
        T(N("format.ch.%d", k), cuTexRefSetFormat, t, CU_AD_FORMAT_FLOAT, k);
        T(N("format.%d", k), cuTexRefSetFormat, t, (CUarray_format)k, 1);
    }
    for (unsigned bit = 0; bit < 9; bit++)
        T(N("flags.%x", 1u << bit), cuTexRefSetFlags, t, 1u << bit);
    T("flags.all", cuTexRefSetFlags, t, 0xffffffff);
    T("bias", cuTexRefSetMipmapLevelBias, t, 2.5f);
    T("bias.huge", cuTexRefSetMipmapLevelBias, t, 1e9f);
    T("clamp", cuTexRefSetMipmapLevelClamp, t, 0.5f, 3.5f);
    T("clamp.crossed", cuTexRefSetMipmapLevelClamp, t, 5, 1);
    static const unsigned anisotropy[] = {0, 1, 3, 16, 17, 1000};
    for (size_t k = 0; k < COUNT(anisotropy); k++)
        T(N("anisotropy.%u", anisotropy[k]), cuTexRefSetMaxAnisotropy, t, anisotropy[k]);
    float border[] = {1, 2, 3, 4};
    T("border", cuTexRefSetBorderColor, t, border);
    T("border.null", cuTexRefSetBorderColor, t, NULL);
    shown("set", t);
    /* Dead and null references. */
    CUtexref none = NULL;
    T("null.format", cuTexRefSetFormat, none, CU_AD_FORMAT_FLOAT, 1);
    T("null.address", cuTexRefSetAddress, &offset, none, p, 64);
    T("null.array", cuTexRefSetArray, none, a, 1);
    T("null.mode", cuTexRefSetAddressMode, none, 0, CU_TR_ADDRESS_MODE_CLAMP);
    T("null.filter", cuTexRefSetFilterMode, none, CU_TR_FILTER_MODE_POINT);
    T("null.flags", cuTexRefSetFlags, none, 0);
    T("null.get", cuTexRefGetFlags, (unsigned *)&offset, none);
    T("null.getformat", cuTexRefGetFormat, (CUarray_format *)&offset, NULL, none);
    T("null.create", cuTexRefDestroy, none);
    T("sync", cuCtxSynchronize);
}

void group_texrefget(void)
{
    setup();
    CUmodule m = load(ptx_texture);
    CUtexref t = NULL;
    CUdeviceptr p = 0;
    size_t offset;
    R(cuModuleGetTexRef, &t, m, "image");
    R(cuMemAlloc, &p, 4096);
    T("null.address", cuTexRefGetAddress, NULL, t);
    T("null.array", cuTexRefGetArray, NULL, t);
    T("null.mipmap", cuTexRefGetMipmappedArray, NULL, t);
    T("null.mode", cuTexRefGetAddressMode, NULL, t, 0);
    CUaddress_mode am;
    T("mode.3", cuTexRefGetAddressMode, &am, t, 3);
    T("mode.-1", cuTexRefGetAddressMode, &am, t, -1);
    T("null.filter", cuTexRefGetFilterMode, NULL, t);
    CUarray_format format;
    int channels;
    T("null.format", cuTexRefGetFormat, NULL, &channels, t);
    T("null.channels", cuTexRefGetFormat, &format, NULL, t);
    T("null.both", cuTexRefGetFormat, NULL, NULL, t);
    T("null.bias", cuTexRefGetMipmapLevelBias, NULL, t);
    T("null.clamp", cuTexRefGetMipmapLevelClamp, NULL, NULL, t);
    T("null.anisotropy", cuTexRefGetMaxAnisotropy, NULL, t);
    T("null.border", cuTexRefGetBorderColor, NULL, t);
    T("null.flags", cuTexRefGetFlags, NULL, t);
    R(cuTexRefSetFormat, t, CU_AD_FORMAT_FLOAT, 1);
    R(cuTexRefSetAddress, &offset, t, p, 4096);
    shown("line", t);
    CUarray a = array(16, 8, 0, CU_AD_FORMAT_HALF, 2, 0);
    R(cuTexRefSetArray, t, a, CU_TRSA_OVERRIDE_FORMAT);
    shown("array", t);
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    R(cuTexRefSetAddress2D, t, &d, p, 512);
    shown("pitch", t);
    CUDA_ARRAY3D_DESCRIPTOR d3 = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_SIGNED_INT16, .NumChannels = 1};
    CUmipmappedArray mip = NULL;
    R(cuMipmappedArrayCreate, &mip, &d3, 3);
    R(cuTexRefSetMipmappedArray, t, mip, CU_TRSA_OVERRIDE_FORMAT);
    shown("mip", t);
    T("sync", cuCtxSynchronize);
}

/* Launches a kernel of one thread and reports how it ended. */
static void run(const char *name, CUfunction f, void **args)
{
    T(name, cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T(N("%s.sync", name), cuCtxSynchronize);
}

void group_texrefrun(void)
{
    setup();
    CUmodule m = load(ptx_texture);
    CUfunction read1 = function(m, "read1"), read2 = function(m, "read2");
    CUtexref t = NULL;
    CUdeviceptr p = 0, out = 0;
    size_t offset;
    uint32_t host[1024], back[4], x = 5;
    float fx = 2.5f, fy = 1.5f, fb[4];
    void *args1[] = {&out, &x}, *args2[] = {&out, &fx, &fy};
    R(cuModuleGetTexRef, &t, m, "image");
    R(cuMemAlloc, &p, 4096);
    R(cuMemAlloc, &out, 64);
    for (uint32_t k = 0; k < 1024; k++)
        host[k] = 100 + k;
    R(cuMemcpyHtoD, p, host, sizeof host);
    run("unbound", read1, args1);
    R(cuTexRefSetFormat, t, CU_AD_FORMAT_UNSIGNED_INT32, 1);
    R(cuTexRefSetFlags, t, CU_TRSF_READ_AS_INTEGER);
    R(cuTexRefSetAddress, &offset, t, p, 4096);
    run("line", read1, args1);
    R(cuMemcpyDtoH, back, out, 16);
    V("line.v", "%u %u %u %u", back[0], back[1], back[2], back[3]);
    T("param", cuParamSetTexRef, read1, CU_PARAM_TR_DEFAULT, t);
    T("param.unit", cuParamSetTexRef, read1, 0, t);
    T("param.nullref", cuParamSetTexRef, read1, CU_PARAM_TR_DEFAULT, NULL);
    T("param.nullfn", cuParamSetTexRef, NULL, CU_PARAM_TR_DEFAULT, t);
    /* Two-dimensional with a pitch: floats from 0 to 1. */
    for (int k = 0; k < 1024; k++)
        ((unsigned char *)host)[k] = (unsigned char)k;
    R(cuMemcpyHtoD, p, host, 1024);
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    R(cuTexRefSetFlags, t, 0);
    R(cuTexRefSetFormat, t, CU_AD_FORMAT_UNSIGNED_INT8, 1);
    T("pitch.set", cuTexRefSetAddress2D, t, &d, p, 64);
    run("pitch", read2, args2);
    R(cuMemcpyDtoH, fb, out, 16);
    V("pitch.v", "%.9g %.9g", fb[0], fb[1]);
    R(cuTexRefSetFilterMode, t, CU_TR_FILTER_MODE_LINEAR);
    fx = 2.25f;
    run("linear", read2, args2);
    R(cuMemcpyDtoH, fb, out, 16);
    V("linear.v", "%.9g", fb[0]);
    /* A change after a launch does not affect it. */
    CUarray a = array(16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    float values[128];
    for (int k = 0; k < 128; k++)
        values[k] = (float)k;
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = values, .srcPitch = 64, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = a, .WidthInBytes = 64, .Height = 8};
    R(cuMemcpy2D, &c);
    T("array.set", cuTexRefSetArray, t, a, CU_TRSA_OVERRIDE_FORMAT);
    run("array", read2, args2);
    R(cuMemcpyDtoH, fb, out, 16);
    V("array.v", "%.9g", fb[0]);
    R(cuTexRefSetFlags, t, CU_TRSF_NORMALIZED_COORDINATES);
    R(cuTexRefSetAddressMode, t, 0, CU_TR_ADDRESS_MODE_WRAP);
    run("wrap", read2, args2);
    R(cuMemcpyDtoH, fb, out, 16);
    V("wrap.v", "%.9g", fb[0]);
    R(cuTexRefSetAddressMode, t, 0, CU_TR_ADDRESS_MODE_CLAMP);
    run("clamp", read2, args2);
    R(cuMemcpyDtoH, fb, out, 16);
    V("clamp.v", "%.9g", fb[0]);
    T("unload", cuModuleUnload, m);
    T("unload.get", cuTexRefGetFlags, (unsigned *)back, t);
}

void group_surfref(void)
{
    setup();
    CUmodule m = load(ptx_texture);
    CUfunction write = function(m, "write");
    CUsurfref s = NULL, again = NULL;
    CUarray a = array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST), n = array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0), got = NULL;
    uint32_t x = 12, y = 2, v = 777, back[128];
    void *args[] = {&x, &y, &v};
    T("get", cuModuleGetSurfRef, &s, m, "sheet");
    T("get.again", cuModuleGetSurfRef, &again, m, "sheet");
    V("get.same", "%d", s == again);
    T("get.texture", cuModuleGetSurfRef, &again, m, "image");
    T("get.missing", cuModuleGetSurfRef, &again, m, "nothing");
    T("get.nullout", cuModuleGetSurfRef, NULL, m, "sheet");
    T("get.nullname", cuModuleGetSurfRef, &again, m, NULL);
    T("getarray.none", cuSurfRefGetArray, &got, s);
    T("setarray", cuSurfRefSetArray, s, a, 0);
    T("getarray", cuSurfRefGetArray, &got, s);
    V("getarray.v", "%d", got == a);
    T("getarray.null", cuSurfRefGetArray, NULL, s);
    T("setarray.flags", cuSurfRefSetArray, s, a, 1);
    T("setarray.noflag", cuSurfRefSetArray, s, n, 0);
    T("setarray.null", cuSurfRefSetArray, s, NULL, 0);
    T("setarray.nullref", cuSurfRefSetArray, NULL, a, 0);
    R(cuSurfRefSetArray, s, a, 0);
    run("run", write, args);
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = back, .dstPitch = 64, .WidthInBytes = 64, .Height = 8};
    R(cuMemcpy2D, &c);
    V("run.v", "%u", back[2 * 16 + 3]);
    T("unload", cuModuleUnload, m);
}

void group_mipmap(void)
{
    setup();
    CUmipmappedArray m = NULL;
    CUarray level = NULL;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1}, got;
    T("create", cuMipmappedArrayCreate, &m, &d, 3);
    for (unsigned k = 0; k < 4; k++)
        if (!T(N("level.%u", k), cuMipmappedArrayGetLevel, &level, m, k)) {
            T(N("level.%u.get", k), cuArray3DGetDescriptor, &got, level);
            V(N("level.%u.v", k), "%zu %zu %zu %d %u %u", got.Width, got.Height, got.Depth, (int)got.Format, got.NumChannels, got.Flags);
        }
    T("level.nullout", cuMipmappedArrayGetLevel, NULL, m, 0);
    T("level.nullmip", cuMipmappedArrayGetLevel, &level, NULL, 0);
    CUarray first = NULL, second = NULL;
    R(cuMipmappedArrayGetLevel, &first, m, 0);
    R(cuMipmappedArrayGetLevel, &second, m, 0);
    V("level.same", "%d", first == second);
    T("level.destroy", cuArrayDestroy, first);
    T("destroy", cuMipmappedArrayDestroy, m);
    T("destroy.null", cuMipmappedArrayDestroy, NULL);
    static const struct { const char *name; size_t w, h, d; unsigned flags, levels; } shapes[] = {
        {"levels0", 16, 8, 0, 0, 0}, {"levels5", 16, 8, 0, 0, 5}, {"levels6", 16, 8, 0, 0, 6}, {"levels99", 16, 8, 0, 0, 99}, {"1d", 16, 0, 0, 0, 3}, {"3d", 16, 8, 4, 0, 3},
        {"a1d", 16, 0, 3, 1, 3}, {"a2d", 16, 8, 3, 1, 3}, {"cube", 8, 8, 6, 4, 3}, {"acube", 8, 8, 12, 5, 3}, {"surface", 16, 8, 0, 2, 3}, {"odd", 13, 7, 0, 0, 4}, {"w0", 0, 8, 0, 0, 3},
        {"wide", 40000, 8, 0, 0, 3}, {"gather", 16, 8, 0, 8, 3}};
    for (size_t k = 0; k < COUNT(shapes); k++) {
        CUDA_ARRAY3D_DESCRIPTOR s = {.Width = shapes[k].w, .Height = shapes[k].h, .Depth = shapes[k].d, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = shapes[k].flags};
        m = NULL;
        if (T(N("shape.%s", shapes[k].name), cuMipmappedArrayCreate, &m, &s, shapes[k].levels))
            continue;
        unsigned last = shapes[k].levels > 1 ? 1 : 0;
        R(cuMipmappedArrayGetLevel, &level, m, last);
        R(cuArray3DGetDescriptor, &got, level);
        V(N("shape.%s.v", shapes[k].name), "%zu %zu %zu %u", got.Width, got.Height, got.Depth, got.Flags);
        CUDA_RESOURCE_DESC r;
        CUDA_TEXTURE_DESC t = plain();
        memset(&r, 0, sizeof r);
        r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        r.res.mipmap.hMipmappedArray = m;
        make(N("shape.%s.texels", shapes[k].name), &r, &t, NULL);
        t.flags = CU_TRSF_NORMALIZED_COORDINATES;
        t.maxMipmapLevelClamp = 5;
        make(N("shape.%s.object", shapes[k].name), &r, &t, NULL);
        R(cuMipmappedArrayDestroy, m);
    }
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t = plain();
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    make("object.null", &r, &t, NULL);
    T("sync", cuCtxSynchronize);
}

void group_texformats(void)
{
    static const int formats[] = {0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x10, 0x20, 0x50, 0xb0, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0x91, 0x97, 0x99, 0x9b, 0x9d, 0x9f};
    setup();
    for (size_t f = 0; f < COUNT(formats); f++)
        for (unsigned channels = 1; channels <= 4; channels++) {
            CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Height = 8, .Format = (CUarray_format)formats[f], .NumChannels = channels};
            CUarray a = NULL;
            if (T(N("%x.%u.array", formats[f], channels), cuArrayCreate, &a, &d))
                continue;
            CUDA_RESOURCE_DESC r = of_array(a);
            CUDA_TEXTURE_DESC t = plain();
            make(N("%x.%u", formats[f], channels), &r, &t, NULL);
            t.filterMode = CU_TR_FILTER_MODE_LINEAR;
            make(N("%x.%u.linear", formats[f], channels), &r, &t, NULL);
            R(cuArrayDestroy, a);
        }
    T("sync", cuCtxSynchronize);
}

static void trapped(uint32_t x, uint32_t y)
{
    setup();
    CUmodule m = load(ptx_texture);
    CUfunction f = function(m, "load");
    CUarray a = array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
    CUDA_RESOURCE_DESC r = of_array(a);
    CUsurfObject s = 0;
    CUdeviceptr out = 0;
    R(cuSurfObjectCreate, &s, &r);
    R(cuMemAlloc, &out, 64);
    void *args[] = {&out, &s, &x, &y};
    run("run", f, args);
    T("after", cuMemFree, out);
}

void group_surftrap(void)
{
    trapped(64, 0);
}

void group_surfmisaligned(void)
{
    trapped(2, 0);
}

void group_texbadhandle(void)
{
    setup();
    CUmodule m = load(ptx_texture);
    CUfunction f = function(m, "fetch");
    CUdeviceptr out = 0;
    unsigned long long handle = 0;
    float x = 0, y = 0;
    R(cuMemAlloc, &out, 64);
    void *args[] = {&out, &handle, &x, &y};
    run("zero", f, args);
    float back[4] = {7, 7, 7, 7};
    R(cuMemcpyDtoH, back, out, sizeof back);
    V("zero.v", "%g %g %g %g", back[0], back[1], back[2], back[3]);
    handle = 0xfffff;
    run("beyond", f, args);
}
