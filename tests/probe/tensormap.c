/* Tensor maps of im2col and their addresses: every limit, and the bytes for random parameters. The address is
 * an invented one, since a map only holds it. */
#include "words.h"
#include "splitmix.h"

static void *const address = (void *)0x7f1234560000;

struct im2col {
    CUtensorMapDataType type;
    unsigned rank;
    void *address;
    cuuint64_t dim[5], stride[4];
    int lower[3], upper[3];
    unsigned channels, pixels;
    cuuint32_t step[5];
    int interleave, swizzle, promotion, fill;
    int mode;
};

static struct im2col right(void)
{
    struct im2col m = {.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, .rank = 4, .address = address,
        .dim = {64, 32, 32, 8, 4}, .stride = {128, 128 * 32, 128 * 32 * 32, 128 * 32 * 32 * 8},
        .lower = {-1, -1, -1}, .upper = {-1, -1, -1}, .channels = 32, .pixels = 64, .step = {1, 1, 1, 1, 1}};
    return m;
}

static int wide;

static CUresult encode(CUtensorMap *out, const struct im2col *m)
{
    if (wide)
        return R(cuTensorMapEncodeIm2colWide, out, m->type, m->rank, m->address, m->dim, m->stride,
            m->lower[0],
            m->upper[0], m->channels, m->pixels, m->step, m->interleave, m->mode, m->swizzle, m->promotion,
            m->fill);
    return R(cuTensorMapEncodeIm2col, out, m->type, m->rank, m->address, m->dim, m->stride, m->lower,
        m->upper,
        m->channels, m->pixels, m->step, m->interleave, m->swizzle, m->promotion, m->fill);
}

static void bytes(const char *name, const CUtensorMap *map)
{
    char text[16 * 17 + 1];
    for (int i = 0; i < 16; i++)
        sprintf(text + 17 * i, "%016llx ", (unsigned long long)map->opaque[i]);
    text[16 * 17 - 1] = 0;
    V(name, "%s", text);
}

/* Encodes, and shows what came out. */
static void ask(const char *name, const struct im2col *m)
{
    static CUtensorMap map __attribute__((aligned(64)));
    memset(&map, 0, sizeof map);
    if (begin(name) && !report(encode(&map, m)))
        bytes(N("%s.v", name), &map);
}

/* One field set to each of some values. */
#define EACH(field, ...) \
    do { \
        static const long long values[] = {__VA_ARGS__}; \
        for (size_t i = 0; i < COUNT(values); i++) { \
            struct im2col m = right(); \
            m.mode = wide; \
            if (wide) \
                m.swizzle = 3; \
            m.field = (__typeof__(m.field))values[i]; \
            ask(N(#field ".%lld", values[i]), &m); \
        } \
    } while (0)

static void limits(void)
{
    struct im2col m = right();
    static CUtensorMap map __attribute__((aligned(64)));
    ask("right", &m);
    EACH(type, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    EACH(rank, 0, 1, 2, 3, 4, 5, 6);
    EACH(address, 0, 1, 8, 16, 32, 0x7f1234560010, 0x7f1234560008, -16);
    EACH(dim[0], 0, 1, 31, 32, 63, 65, 1ll << 31, 1ll << 32, (1ll << 32) + 1);
    EACH(dim[1], 0, 1, 3, 1ll << 32, (1ll << 32) + 1);
    EACH(dim[3], 0, 1, 1ll << 32, (1ll << 32) + 1);
    EACH(stride[0], 0, 1, 8, 16, 64, 112, 144, 256, 1ll << 39, (1ll << 40) - 16, 1ll << 40);
    EACH(stride[2], 0, 16, 4096, 8, (1ll << 40) - 16, 1ll << 40);
    EACH(lower[0], -129, -128, -127, -33, -17, -16, -2, 0, 1, 2, 15, 16, 31, 127, 128, 32767, 32768, -32768,
        -32769);
    EACH(upper[0], -129, -128, -127, -33, -32, -31, -2, 0, 1, 2, 15, 16, 31, 127, 128, 32767, 32768, -32768,
        -32769);
    EACH(lower[1], -129, -128, -16, 0, 127, 128);
    EACH(upper[1], -129, -128, -32, -31, 0, 127, 128);
    EACH(channels, 0, 1, 8, 16, 24, 63, 64, 65, 128, 255, 256, 257);
    EACH(pixels, 0, 1, 31, 128, 255, 256, 512, 1023, 1024, 1025);
    EACH(step[0], 0, 1, 2, 8, 9);
    EACH(step[1], 0, 1, 2, 7, 8, 9);
    EACH(step[3], 0, 1, 2, 8, 9);
    EACH(interleave, 0, 1, 2, 3);
    EACH(swizzle, 0, 1, 2, 3, 4, 5, 6, 7);
    EACH(promotion, 0, 1, 2, 3, 4);
    EACH(fill, 0, 1, 2);
    EACH(mode, 0, 1, 2);
    m = right();
    m.mode = wide;
    T("nullmap", cuTensorMapEncodeIm2col, NULL, m.type, 4, m.address, m.dim, m.stride, m.lower, m.upper, 32,
        64, m.step, 0, 0, 0, 0);
    T("nulldim", cuTensorMapEncodeIm2col, &map, m.type, 4, m.address, NULL, m.stride, m.lower, m.upper, 32,
        64, m.step, 0, 0, 0, 0);
    T("nullstride", cuTensorMapEncodeIm2col, &map, m.type, 4, m.address, m.dim, NULL, m.lower, m.upper, 32,
        64, m.step, 0, 0, 0, 0);
    T("nulllower", cuTensorMapEncodeIm2col, &map, m.type, 4, m.address, m.dim, m.stride, NULL, m.upper, 32,
        64, m.step, 0, 0, 0, 0);
    T("nullupper", cuTensorMapEncodeIm2col, &map, m.type, 4, m.address, m.dim, m.stride, m.lower, NULL, 32,
        64, m.step, 0, 0, 0, 0);
    T("nullstep", cuTensorMapEncodeIm2col, &map, m.type, 4, m.address, m.dim, m.stride, m.lower, m.upper, 32,
        64, NULL, 0, 0, 0, 0);
    T("oddmap", cuTensorMapEncodeIm2col, (CUtensorMap *)((char *)&map + 8), m.type, 4, m.address, m.dim,
        m.stride, m.lower,
        m.upper, 32, 64, m.step, 0, 0, 0, 0);
}

/* Random parameters, most of them right. */
static void random_maps(uint64_t seed, int count)
{
    static const int sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    uint64_t state = seed;
    for (int i = 0; i < count; i++) {
        struct im2col m = right();
        m.type = (int)(splitmix(state++) % 13);
        unsigned size = (unsigned)sizes[m.type];
        m.rank = 3 + (unsigned)(splitmix(state++) % 3);
        m.interleave = wide ? 0 : splitmix(state++) % 4 ? 0 : (int)(splitmix(state++) % 3);
        m.swizzle = wide ? 1 + (int)(splitmix(state++) % 6) : m.interleave == 2 ? 1 : m.interleave ? 0
            : (int)(splitmix(state++) % 5);
        m.mode = (int)(splitmix(state++) % 2);
        m.promotion = (int)(splitmix(state++) % 4);
        m.fill = m.type >= 6 ? (int)(splitmix(state++) % 2) : 0;
        m.address = (char *)address + splitmix(state++) % 64 * 256;
        unsigned unit = m.interleave == 2 ? 32 : 16;
        m.dim[0] = unit / size * (1 + splitmix(state++) % 16);
        m.stride[0] = m.dim[0] * size;
        for (int d = 1; d < 5; d++) {
            m.dim[d] = 16 + splitmix(state++) % 60;
            if (d < 4)
                m.stride[d] = (m.stride[d - 1] * m.dim[d] + splitmix(state++) % 3 * unit) / unit * unit;
        }
        int limit = m.rank == 3 ? 32768 : m.rank == 4 ? 128 : 16;
        if (wide)
            limit = 64;
        for (int d = 0; d < 3; d++) {
            int least = limit < 8 ? limit : 8;
            m.lower[d] = -(int)(splitmix(state++) % (unsigned)least);
            m.upper[d] = -(int)(splitmix(state++) % (unsigned)least);
        }
        unsigned most = (m.swizzle == 1 ? 32 : m.swizzle == 2 ? 64 : 128) / size;
        m.channels = 16 / size * (1 + (unsigned)(splitmix(state++) % (most / (16 / size) ? most / (16 / size)
            : 1)));
        m.pixels = wide && m.mode ? 0 : 1 + (unsigned)(splitmix(state++) % 256);
        for (int d = 0; d < 5; d++)
            m.step[d] = splitmix(state++) % 3 ? 1 : 1 + (unsigned)(splitmix(state++) % 8);
        ask(N("random.%d", i), &m);
    }
}

void group_im2col(void)
{
    R(cuInit, 0);
    setup();
    limits();
    random_maps(1, 300);
}

void group_im2colwide(void)
{
    setup();
    wide = 1;
    limits();
    struct im2col m = right();
    for (m.swizzle = 0; m.swizzle <= 6; m.swizzle++)
        for (m.mode = 0; m.mode <= 2; m.mode++)
            for (int interleave = 0; interleave <= 2; interleave++)
                for (unsigned pixels = 0; pixels <= 128; pixels = pixels ? pixels * 2 : 32) {
                    m.interleave = interleave;
                    m.pixels = pixels;
                    ask(N("wide.%d.%d.%d.%u", m.swizzle, m.mode, interleave, pixels), &m);
                }
    random_maps(2, 200);
}

/* The address in a map that was made. */
void group_tensoraddress(void)
{
    static CUtensorMap map __attribute__((aligned(64))), odd __attribute__((aligned(64)));
    static char room[256] __attribute__((aligned(64)));
    setup();
    static const uint64_t to[] = {0, 1, 8, 16, 32, 64, 128, 256, 0x7f0000000010, 0x7f0000000008,
        0x7fffffffffff,
        0xfffffffffff0, 0x1000000000000, 0x100000000000000, 0xfffffffffffffff0};
    for (int kind = 0; kind < 4; kind++) {
        struct im2col m = right();
        memset(&map, 0, sizeof map);
        wide = kind == 2;
        m.interleave = kind == 3 ? 2 : 0;
        m.swizzle = wide ? 3 : kind == 3 ? 1 : 0;
        static const cuuint32_t box[3] = {16, 8, 2}, step[3] = {1, 1, 1};
        CUresult status = kind == 0 ? R(cuTensorMapEncodeTiled, &map, m.type, 3, address, m.dim, m.stride,
            box, step, 0, 0, 0, 0)
                                    : encode(&map, &m);
        V(N("%d.encode", kind), "%s", error_name(status));
        for (size_t i = 0; i < COUNT(to); i++) {
            CUtensorMap copy __attribute__((aligned(64))) = map;
            if (!T(N("%d.to.%llx", kind, (unsigned long long)to[i]), cuTensorMapReplaceAddress, &copy,
                (void *)to[i]))
                bytes(N("%d.to.%llx.v", kind, (unsigned long long)to[i]), &copy);
        }
    }
    T("null", cuTensorMapReplaceAddress, NULL, address);
    memcpy(room + 8, &map, sizeof map);
    T("unaligned", cuTensorMapReplaceAddress, (CUtensorMap *)(room + 8), address);
    memset(&odd, 0, sizeof odd);
    T("zeros", cuTensorMapReplaceAddress, &odd, address);
    bytes("zeros.v", &odd);
    memset(&odd, 0xff, sizeof odd);
    T("ones", cuTensorMapReplaceAddress, &odd, address);
    bytes("ones.v", &odd);
}
