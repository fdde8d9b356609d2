/* Tensor maps: the 128 bytes of valid ones, with one field varied at a time and at random, and the
 * statuses of invalid ones. */
#include "record.h"
#include <stdarg.h>
#include <string.h>

CUresult encode(const struct map *m, void *to)
{
    void *address = (void *)(uintptr_t)m->address;
    switch (m->encoding) {
    case TILED:
        return FN(cuTensorMapEncodeTiled, to, m->type, m->rank, address, m->dim, m->stride, m->box, m->step, m->interleave, m->swizzle, m->promotion, m->fill);
    case IM2COL:
        return FN(cuTensorMapEncodeIm2col, to, m->type, m->rank, address, m->dim, m->stride, m->lower, m->upper, m->channels, m->pixels, m->step,
                  m->interleave, m->swizzle, m->promotion, m->fill);
    default:
        return FN(cuTensorMapEncodeIm2colWide, to, m->type, m->rank, address, m->dim, m->stride, m->lower[0], m->upper[0], m->channels, m->pixels,
                  m->step, m->interleave, m->mode, m->swizzle, m->promotion, m->fill);
    }
}

__attribute__((format(printf, 2, 3))) static void one(const struct map *m, const char *format, ...)
{
    static const char *const encodings[] = { "tiled", "im2col", "wide" };
    _Alignas(64) unsigned char bytes[128];
    char name[96], what[64];
    memset(bytes, 0xee, sizeof bytes);
    CUresult status = encode(m, bytes);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(name, sizeof name, "encode.%s.%s", encodings[m->encoding], what);
    line(name, status, bytes, status ? 0 : sizeof bytes);
}

static struct map base(enum encoding encoding, int rank)
{
    struct map m = { .encoding = encoding, .type = 7, .rank = rank, .address = 0x7f1234567000, .channels = 32, .pixels = 64, .swizzle = 0 };
    cuuint64_t dims[] = { 64, 40, 24, 12, 6 };
    cuuint32_t boxes[] = { 32, 8, 4, 2, 1 };
    uint64_t stride = 4;
    for (int d = 0; d < 5; d++) {
        m.dim[d] = dims[d];
        m.box[d] = boxes[d];
        m.step[d] = 1;
        stride *= dims[d];
        if (d < 4)
            m.stride[d] = stride;
    }
    for (int d = 0; d < 3; d++) {
        m.lower[d] = -1 - d;
        m.upper[d] = -2 - d;
    }
    if (encoding == IM2COL_WIDE)
        m.swizzle = 3;
    return m;
}

/* Sets FIELD to each of the following values and records the result. */
#define VARY(field, what, ...) \
    do { \
        static const long long values_[] = { __VA_ARGS__ }; \
        for (size_t v_ = 0; v_ < sizeof values_ / sizeof *values_; v_++) { \
            struct map m_ = m; \
            m_.field = values_[v_]; \
            one(&m_, "r%d." what ".%lld", m.rank, values_[v_]); \
        } \
    } while (0)

#define VARY_EACH(field, what, d, ...) \
    do { \
        static const long long values_[] = { __VA_ARGS__ }; \
        for (size_t v_ = 0; v_ < sizeof values_ / sizeof *values_; v_++) { \
            struct map m_ = m; \
            m_.field[d] = values_[v_]; \
            one(&m_, "r%d." what "%d.%lld", m.rank, d, values_[v_]); \
        } \
    } while (0)

static void fields(enum encoding encoding, int rank)
{
    struct map m = base(encoding, rank);
    one(&m, "base.%d", rank);
    VARY(type, "type", 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, -1);
    VARY(address, "address", 0, 1, 8, 16, 32, 48, 64, 0x7f1234567010, 0xffffffffff0, 0x1000000000000, 0x7ffffffffffffff0);
    for (int d = 0; d < rank; d++) {
        VARY_EACH(dim, "dim", d, 0, 1, 2, 3, 31, 33, 65, 100, 1000, 65535, 65536, 1 << 20, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x100000000,
             0x100000001);
        VARY_EACH(step, "step", d, 0, 2, 3, 4, 5, 6, 7, 8, 9);
        if (encoding == TILED)
            VARY_EACH(box, "box", d, 0, 1, 2, 3, 4, 5, 7, 16, 24, 31, 33, 48, 64, 128, 255, 256, 257);
    }
    for (int d = 0; d + 1 < rank; d++)
        VARY_EACH(stride, "stride", d, 0, 4, 8, 16, 32, 48, 256, 272, 1040, 0x100000, 0x7fffffff0, 0x800000000, 0x1000000000, 0xffffffff00, 0xfffffffff0,
             0x10000000000, 0x10000000010, 0x8000000000000000);
    VARY(promotion, "promotion", 1, 2, 3, 4, -1);
    VARY(fill, "fill", 1, 2, -1);
    for (int i = 0; i <= 3; i++)
        for (int s = -1; s <= 8; s++)
            for (int bytes = 16; bytes <= 256; bytes *= 2) {
                struct map n = m;
                n.interleave = i;
                n.swizzle = s;
                n.box[0] = n.channels = bytes / 4;
                one(&n, "r%d.i%d.s%d.b%d", rank, i, s, bytes);
            }
    if (encoding != TILED) {
        VARY(channels, "channels", 0, 1, 2, 3, 4, 8, 12, 63, 64, 65, 128, 255, 256, 257, -1);
        VARY(pixels, "pixels", 0, 1, 2, 3, 31, 100, 255, 256, 257, 511, 512, 1023, 1024, 1025, -1);
        for (int d = 0; d < rank - 2 && (d == 0 || encoding == IM2COL); d++) {
            VARY_EACH(lower, "lower", d, -32769, -32768, -129, -128, -17, -16, -15, -8, 0, 1, 2, 7, 15, 16, 127, 128, 32767, 32768);
            VARY_EACH(upper, "upper", d, -32769, -32768, -129, -128, -17, -16, -15, -8, 0, 1, 2, 7, 15, 16, 127, 128, 32767, 32768);
        }
        VARY(mode, "mode", 1, 2, -1);
    }
}

/* Other types: legal fills, box sizes, alignment. */
static void types(enum encoding encoding)
{
    for (int type = 0; type < 16; type++) {
        struct map m = base(encoding, 3);
        m.type = type;
        m.fill = 1;
        one(&m, "nan.type%d", type);
        m.fill = 0;
        for (int inner = 1; inner <= 256; inner *= 2) {
            m.box[0] = m.channels = inner;
            one(&m, "type%d.inner%d", type, inner);
        }
        m.dim[0] = 128;
        m.box[0] = m.channels = 128;
        m.stride[0] = 1024;
        m.stride[1] = 1024 * 64;
        for (int s = 0; s <= 6; s++) {
            m.swizzle = s;
            one(&m, "type%d.128.s%d", type, s);
        }
        m.swizzle = 0;
        m.address += 16;
        one(&m, "type%d.128.address", type);
        m.address -= 16;
        m.stride[0] += 16;
        one(&m, "type%d.128.stride", type);
    }
}

static uint64_t random_below(uint64_t *n, uint64_t limit)
{
    return splitmix((*n)++) % limit;
}

static void at_random(enum encoding encoding, int count)
{
    static const int sizes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
    for (int i = 0; i < count; i++) {
        uint64_t n = (uint64_t)(encoding + 1) << 32 | (uint64_t)i << 8;
#define RANDOM(limit) random_below(&n, limit)
        struct map m = { .encoding = encoding };
        m.rank = encoding == TILED ? 1 + RANDOM(5) : 3 + RANDOM(3);
        m.type = RANDOM(13);
        m.address = (RANDOM(1ull << 43)) << 4;
        m.interleave = m.rank >= 3 ? RANDOM(3) : 0;
        m.swizzle = m.interleave == 2 ? 1 : m.interleave == 1 ? 0 : encoding == IM2COL_WIDE ? 2 + RANDOM(3) : RANDOM(4);
        if (m.interleave == 2)
            m.address &= ~31ull;
        m.promotion = RANDOM(4);
        m.fill = m.type >= 6 ? RANDOM(2) : 0;
        for (int d = 0; d < 5; d++) {
            m.dim[d] = 1 + RANDOM(1ull << (1 + RANDOM(31)));
            m.step[d] = 1 + RANDOM(8);
            m.box[d] = 1 + RANDOM(256);
            if (d < 4)
                m.stride[d] = (1 + RANDOM(1ull << (1 + RANDOM(34)))) << 5;
        }
        int span = m.interleave ? 16 << (m.interleave - 1) : m.swizzle == 0 ? 256 : 16 << m.swizzle;
        m.box[0] = span >= 128 && m.swizzle > 3 ? 32 / sizes[m.type] : span / sizes[m.type] >> RANDOM(2);
        if (m.box[0] * sizes[m.type] % 16 || m.box[0] > 256)
            m.box[0] = 16 / sizes[m.type];
        m.channels = m.box[0];
        m.pixels = 1 + RANDOM(1024);
        int bound = m.rank == 3 ? 32768 : m.rank == 4 ? 128 : 16;
        for (int d = 0; d < 3; d++) {
            m.lower[d] = (int)RANDOM(2 * bound) - bound;
            m.upper[d] = (int)RANDOM(2 * bound) - bound;
        }
        m.mode = RANDOM(2);
        one(&m, "random.%d", i);
    }
}

static void pointers(void)
{
    struct map n;
    _Alignas(64) unsigned char bytes[128] = { 0 };
    for (int rank = 0; rank <= 6; rank++) {
        n = base(TILED, 5);
        n.rank = rank;
        one(&n, "rank.%d", rank);
        n = base(IM2COL, 5);
        n.rank = rank;
        one(&n, "rank.%d", rank);
        n = base(IM2COL_WIDE, 5);
        n.rank = rank;
        one(&n, "rank.%d", rank);
    }
    static const uint64_t addresses[] = { 0, 8, 16, 32, 0x123456789ab0, 0xfffffffffffff0, 0x7ffffffffffffff0, 0xfffffffffffffff0 };
    for (int interleave = 0; interleave <= 2; interleave++)
        for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
            char name[64];
            n = base(TILED, 3);
            n.interleave = interleave;
            n.swizzle = interleave == 2;
            must("encode", encode(&n, bytes));
            CUresult status = FN(cuTensorMapReplaceAddress, (void *)bytes, (void *)(uintptr_t)addresses[i]);
            snprintf(name, sizeof name, "encode.replace.i%d.%zu", interleave, i);
            line(name, status, bytes, status ? 0 : 128);
        }
}

void record_encodings(void)
{
    for (int rank = 1; rank <= 5; rank++)
        fields(TILED, rank);
    for (int rank = 3; rank <= 5; rank++) {
        fields(IM2COL, rank);
        fields(IM2COL_WIDE, rank);
    }
    types(TILED);
    types(IM2COL);
    types(IM2COL_WIDE);
    at_random(TILED, 400);
    at_random(IM2COL, 300);
    at_random(IM2COL_WIDE, 190);
    pointers();
}
