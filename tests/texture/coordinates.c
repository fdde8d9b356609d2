/* The inputs of a texture recording: coordinates and texels, computed from the case's number only. */
#include "record.h"
#include <math.h>
#include <string.h>

uint64_t word_hash(uint64_t i, uint64_t k)
{
    return splitmix(i * 16 + k);
}

static uint32_t bits(double value)
{
    float f = (float)value;
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}

/* A number from 0 up to but excluding 1. */
static double unit(int i, int k)
{
    return (double)(word_hash((uint64_t)i, (uint64_t)k) >> 40) / 16777216.0;
}

/* The k-th edge of a coordinate in n texels, in units of texels. */
enum { EDGE_COUNT = 44 };
static double edge(int k, double n)
{
    const double e[EDGE_COUNT] = {
        -INFINITY, -1e20, -4294967296.0, -2147483648.0, -16777217.0, -65536.25, -2 * n - 0.5, -2 * n, -n - 0.25, -n, -n + 0.75, -1.5, -1, -0.75,
        -0.5, -0.25, -1.0 / 512, -1e-30, -0.0, 0, 1e-30, 1.0 / 512, 0.25, 0.5, 0.5 + 1.0 / 512, 0.75, 1, n / 2, n - 1, n - 0.5,
        n - 1.0 / 1024, n, n + 1.0 / 512, n + 0.5, n + 1, 1.5 * n, 2 * n, 2 * n + 0.75, 3 * n + 0.25, 65536.75, 16777216.0, 2147483648.0, 1e20, INFINITY};
    return e[k];
}

static size_t extent(const struct texcase *c, int k)
{
    size_t n = k == 0 ? c->width : k == 1 ? c->height : c->depth;
    return n ? n : 1;
}

static void edges(const struct texcase *c, int i, double at[3])
{
    for (int k = 0; k < c->dims; k++) {
        double n = (double)extent(c, k);
        if (i < EDGE_COUNT)
            at[k] = k == 0 ? edge(i, n) : 0.3125;
        else if (i < 2 * EDGE_COUNT)
            at[k] = k == c->dims - 1 ? edge(i - EDGE_COUNT, n) : 1.6875;
        else if (i == 2 * EDGE_COUNT)
            at[k] = NAN;
        else if (i < 128)
            at[k] = edge((int)(word_hash((uint64_t)i, (uint64_t)k) % EDGE_COUNT), n);
        else
            at[k] = (unit(i, k) * 5 - 2) * n;
    }
}

static uint32_t layer(const struct texcase *c, int i)
{
    static const int32_t odd[] = {-1, 1000, (int32_t)0x80000000, 0x7fffffff};
    int faces = c->array_flags & CUDA_ARRAY3D_CUBEMAP ? 6 : 1;
    int layers = (int)extent(c, 2) / faces;
    if (c->where == INSIDE)
        return (uint32_t)(i % layers);
    if (i % 16 == 15)
        return (uint32_t)odd[i / 16 % 4];
    return (uint32_t)(i % 17 % (layers + 1));
}

void coordinates(const struct texcase *c, int i, uint32_t words[WORDS])
{
    static const int32_t whole[] = {0, 1, 2, 3, -1, -2, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 1000, -1000, 0x7fffffff, (int32_t)0x80000000};
    enum { WHOLE = sizeof whole / sizeof *whole };
    memset(words, 0, WORDS * sizeof *words);
    uint32_t *at = words + (c->layered ? 1 : 0);
    int normalized = (c->texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    double p[3] = {0, 0, 0};
    if (c->layered)
        words[0] = layer(c, i);
    switch (c->where) {
    case EDGES:
        edges(c, i, p);
        for (int k = 0; k < c->dims; k++)
            at[k] = bits(normalized ? p[k] / (double)extent(c, k) : p[k]);
        break;
    case SWEEP: /* x along the sweep, the others at scattered positions inside */
        for (int k = 0; k < c->dims; k++) {
            double v = k == 0 ? c->from + i * c->step : c->step < 0.001 && k == 1 ? c->from + i % 61 * (1.0 / 61) : unit(i, k) * (double)extent(c, k);
            at[k] = bits(normalized ? v / (double)extent(c, k) : v);
        }
        break;
    case SCATTER:
    case LEVELS:
    case GRADIENTS:
    case ALONG:
    case SLANT:
    case PAIR:
        for (int k = 0; k < c->dims; k++) {
            double v = (unit(i, k) * 1.5 - 0.25) * (double)extent(c, k);
            at[k] = bits(normalized ? v / (double)extent(c, k) : v);
        }
        if (c->where == ALONG) /* one derivative, along x */
            words[4] = bits(pow(2, c->from + i * c->step) / (double)extent(c, 0));
        if (c->where == SLANT) { /* one derivative, increasingly slanted */
            words[4] = bits(1.5 / (double)extent(c, 0));
            words[5] = bits(1.5 * i / c->count / (double)extent(c, 0));
        }
        if (c->where == PAIR) { /* two derivatives, one of them rotating */
            words[4] = bits(1.5 / (double)extent(c, 0));
            words[5] = bits(0.4 / (double)extent(c, 0));
            words[8] = bits(1.4 * cos(6.28 * i / c->count) / (double)extent(c, 0));
            words[9] = bits(1.4 * sin(6.28 * i / c->count) / (double)extent(c, 0));
        }
        if (c->where == LEVELS)
            words[4] = i < 8 ? bits((double[]){NAN, INFINITY, -INFINITY, 1e30, -1e30, -0.0, 100, -100}[i]) : bits(c->from + i * c->step);
        if (c->where == GRADIENTS) { /* first along one axis, then rotated, then with both */
            double size = pow(2, floor((c->from + i * c->step) * 8) / 8) * (1 + unit(i, 7) / 8) / (double)extent(c, 0);
            double turn = i % 3 == 0 ? 0 : unit(i, 5) * 6.28, other = i % 4 < 2 ? 0 : unit(i, 6) * size;
            words[4] = bits(size * cos(turn));
            words[5] = bits(c->dims > 1 ? size * sin(turn) : other);
            words[6] = bits(0);
            words[8] = bits(other * sin(turn));
            words[9] = bits(other * cos(turn));
            words[10] = bits(i % 5 == 0 ? size / 2 : 0);
        }
        break;
    case CUBE:
        for (int k = 0; k < 3; k++) {
            double v = unit(i, k) * 2 - 1;
            if (i < 64) /* the axes, edges, corners and zero */
                v = (double)((i >> (2 * k)) % 4 - 1) == 2 ? 0.5 : (double)((i >> (2 * k)) % 4 - 1);
            else if (i >= 192 && (int)(word_hash((uint64_t)i, 8) % 3) == k) /* close to an edge of a face */
                v = v < 0 ? -1 + unit(i, 9) / 64 : 1 - unit(i, 9) / 64;
            else if (i >= 192 && (int)(word_hash((uint64_t)i, 8) / 3 % 3) == k)
                v = v < 0 ? -1 : 1;
            at[k] = bits(v);
        }
        if (i == 70)
            at[0] = bits(NAN);
        if (i == 71)
            at[1] = bits(INFINITY);
        words[4] = bits(unit(i, 4) * 4 - 0.5);
        break;
    case INTEGERS:
        for (int k = 0; k < c->dims; k++)
            at[k] = i < 2 * WHOLE ? (uint32_t)whole[(i + k * 5 * (i >= WHOLE)) % WHOLE] : (uint32_t)(word_hash((uint64_t)i, (uint64_t)k) % (extent(c, k) + 4)) - 2;
        words[4] = i % 5 == 4 ? (uint32_t)-1 : (uint32_t)(i % 5);
        break;
    case INSIDE:
    case BYTES: { /* x in bytes: whole elements, some outside */
        unsigned element = channel_bytes(c->format) * c->channels;
        uint64_t layer = words[0] & 0xffff, key = c->layered ? layer < extent(c, 2) ? layer : extent(c, 2) - 1 : 0;
        for (int k = 0; k < c->dims; k++) {
            int64_t n = (int64_t)extent(c, k), v = (int64_t)(word_hash((uint64_t)i, (uint64_t)k) % (uint64_t)(n + 4)) - 2;
            if (c->surface == 2 && i < (int)(c->width * extent(c, 1))) /* every element of a slice once */
                v = k == 0 ? i % (int)c->width : k == 1 ? i / (int)c->width : v;
            if (c->where == INSIDE)
                v = v < 0 ? 0 : v < n ? v : n - 1;
            else if (i % 32 == 31)
                v = whole[i / 32 % WHOLE];
            key = key * 1024 + (uint64_t)(v < 0 ? 0 : v < n ? v : n - 1);
            at[k] = (uint32_t)(k == 0 && !strstr(c->op, ".p.") ? v * element : v);
        }
        /* The stored value depends only on the element, so that threads that access the same one agree. */
        for (int k = 4; k < 8; k++)
            words[k] = (uint32_t)word_hash(strncmp(c->name, "sured", 5) ? key : (uint64_t)i, (uint64_t)k);
        for (int k = 8; k < 12; k++)
            words[k] = bits(unit((int)key, k) * 3 - 1);
        if (strstr(c->name, "misaligned"))
            at[0] += i == 5;
        break;
    }
    case TEXELS: /* every texel, row by row */
        at[0] = (uint32_t)(i % (int)c->width);
        at[1] = (uint32_t)(i / (int)c->width);
        break;
    case BLOCKS: { /* two texels of every block: the third and the fourth of its first row */
        int row = (int)c->width / 4;
        at[0] = (uint32_t)(i / 2 % row * 4 + 2 + i % 2);
        at[1] = (uint32_t)(i / 2 / row * 4);
        break;
    }
    case BETWEEN: { /* the pairs in a row, with four weights */
        static const double weights[] = {128, 64, 255, 1};
        int pairs = (int)c->width / 2;
        at[0] = bits(2 * (i % pairs) + 0.5 + weights[i / pairs / 4 % 4] / 256);
        at[1] = bits(i / pairs % 4 + 0.5);
        break;
    }
    case CENTRES: { /* the middle of every texel, later a quarter off along each axis */
        int size[3] = {(int)extent(c, 0), (int)extent(c, 1), (int)extent(c, 2)}, left = i;
        for (int k = 0; k < c->dims; k++) {
            p[k] = left % size[k] + 0.5;
            left /= size[k];
        }
        for (int k = 0; k < c->dims; k++)
            at[k] = bits((p[k] + (left >> k & 1) * 0.25) / (normalized ? (double)size[k] : 1));
        words[4] = bits(left % 5 * 0.5);
        break;
    }
    case QUERY:
        words[4] = (uint32_t)i;
        break;
    }
}

unsigned channel_bytes(CUarray_format format)
{
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT16: case CU_AD_FORMAT_SIGNED_INT16: case CU_AD_FORMAT_HALF:
    case 0xc3: case 0xc4: case 0xc5: case 0xc9: case 0xca: case 0xcb:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32: case CU_AD_FORMAT_SIGNED_INT32: case CU_AD_FORMAT_FLOAT: case 0x50:
        return 4;
    default:
        return 1;
    }
}

/* Bytes per block: BC1 and BC4 have 8, the others 16. */
static unsigned block_bytes(const struct texcase *c)
{
    unsigned number = (unsigned)c->format;
    if (c->view >= 0x19)
        return c->view == 0x19 || c->view == 0x1c || c->view == 0x1d ? 8 : 16;
    if (number < 0x91 || number > 0x9e)
        return 0;
    return number < 0x93 || number == 0x97 || number == 0x98 ? 8 : 16;
}

unsigned block_side(const struct texcase *c)
{
    return block_bytes(c) ? 4 : 1;
}

unsigned element_bytes(const struct texcase *c)
{
    if (block_bytes(c))
        return block_bytes(c);
    return (int)c->format == 0x50 ? 4 : channel_bytes(c->format) * c->channels;
}

size_t units(const struct texcase *c, size_t texels)
{
    return (texels + block_side(c) - 1) / block_side(c);
}

/* The family of a compressed format: 1 to 7. */
static int family(const struct texcase *c)
{
    static const int of_view[] = {1, 2, 3, 4, 4, 5, 5, 6, 6, 7}, of_format[] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
    return c->view >= 0x19 ? of_view[c->view - 0x19] : of_format[(int)c->format - 0x91];
}

static void fill_blocks(const struct texcase *c, unsigned level, size_t blocks, unsigned char *bytes)
{
    unsigned size = block_bytes(c);
    int of = family(c);
    for (size_t n = 0; n < blocks; n++) {
        unsigned char *b = bytes + n * size;
        for (unsigned k = 0; k < size / 8; k++) {
            uint64_t h = word_hash(n * 2 + k, 2000 + level);
            memcpy(b + 8 * k, &h, 8);
        }
        unsigned char *colours = of == 1 ? b : b + 8;
        if (of <= 3 && c->fill == ENDPOINTS) { /* every pair of greens and of blues, in both orders, and every alpha index */
            unsigned a = n & 63, e = n >> 6 & 63, order = n >> 12 & 1;
            unsigned first = (order ? 0 : 31u << 11) | a << 5 | (a & 31), second = (order ? 31u << 11 : 0) | e << 5 | (e & 31);
            uint32_t select = 0xe4e4e4e4;
            uint16_t both[2] = {(uint16_t)first, (uint16_t)second};
            memcpy(colours, both, 4);
            memcpy(colours + 4, &select, 4);
        }
        if (of >= 3 && of <= 5 && n % 8 == 7) /* equal ends, and the smallest signed ones */
            b[1] = n % 16 == 7 ? b[0] : 0x80, b[0] = n % 32 == 15 ? 0x81 : b[0];
        if (of == 7) /* every mode, and none */
            b[0] = (unsigned char)(n % 9 == 8 ? 0 : (b[0] | 1) << n % 9);
        if (of == 6)
            b[0] = (unsigned char)((b[0] & 0xe0) | n % 32);
    }
}

static uint16_t half(uint64_t h)
{
    return (uint16_t)((h & 0x83ff) | (12 + (h >> 20) % 6) << 10);
}

/* Pairs: every value combined with, depending on the row, itself, zero, the maximum or any value. The
 * ten-bit format has random values otherwise. */
static void fill_pairs(const struct texcase *c, unsigned level, size_t elements, size_t width, unsigned char *bytes)
{
    int tens = (int)c->format == 0x50;
    for (size_t n = 0; n < elements; n++) {
        size_t x = n % width, value = x / 2;
        uint32_t h = (uint32_t)word_hash(n, 3000 + level), most = tens ? 0xffffffff : c->format == CU_AD_FORMAT_SIGNED_INT8 ? 0x7f : 0xff;
        uint32_t own = tens ? (uint32_t)(value | (value ^ 0x155) << 10 | (1023 - value) << 20 | value << 30) : (uint32_t)value;
        const uint32_t other[] = {own, 0, most, h};
        uint32_t word = c->fill != PAIRS ? h : x & 1 ? other[n / width % 4] : own;
        memcpy(bytes + n * (tens ? 4 : 1), &word, tens ? 4 : 1);
    }
}

void fill_texels(const struct texcase *c, unsigned level, size_t elements, size_t width, unsigned char *bytes)
{
    static const uint32_t special[] = {0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800001, 0x7f7fffff, 0xff7fffff, 0x7f800000,
                                       0xff800000, 0x7fc00000, 0x7f800001, 0xffffffff, 0x40490fdb, 0x33800000};
    static const uint16_t special16[] = {0, 0x8000, 1, 0x83ff, 0x0400, 0x3c00, 0xbc01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xffff, 0x4248, 0x3555};
    unsigned size = channel_bytes(c->format);
    if (block_bytes(c)) {
        fill_blocks(c, level, elements, bytes);
        return;
    }
    if ((int)c->format == 0x50 || c->fill == PAIRS) {
        fill_pairs(c, level, elements, width, bytes);
        return;
    }
    for (size_t n = 0; n < elements * c->channels; n++) {
        uint64_t h = word_hash(n, 1000 + level);
        size_t e = n / c->channels, x = e % width, y = e / width;
        double v = c->fill == STEP ? (double)((x + y) & 1) : c->fill == LEVEL ? level : (double)(x + 16 * y + n % c->channels * 0.25);
        int numbers = c->fill == STEP || c->fill == LEVEL || c->fill == RAMP;
        uint32_t word = (uint32_t)h;
        if (c->format == CU_AD_FORMAT_FLOAT) {
            word = numbers ? bits(v) : c->fill == SPECIAL ? special[n * 7 % 16 ^ (n / 16 & 15)] : (word & 0x807fffff) | (uint32_t)(120 + (h >> 40) % 12) << 23;
        } else if (c->format == CU_AD_FORMAT_HALF) {
            static const uint16_t whole[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};
            word = numbers ? whole[(unsigned)v & 7] : c->fill == SPECIAL ? special16[n * 7 % 16 ^ (n / 16 & 15)] : half(h);
        } else if (numbers) {
            int is_signed = c->format == CU_AD_FORMAT_SIGNED_INT8 || c->format == CU_AD_FORMAT_SIGNED_INT16;
            uint32_t most = size == 1 ? 0xff : size == 2 ? 0xffff : 0xffffffff;
            word = c->fill == STEP ? (v != 0 ? (is_signed ? most >> 1 : most) : 0) : (uint32_t)v;
        }
        if (c->fill == CANCELLING && n / (c->channels * width * c->height) % 2) { /* the previous texel in depth with different last bits */
            size_t before = n - c->channels * width * c->height;
            uint32_t other = 0, last = (1u << (h >> 50) % (size == 2 ? 9 : 22)) - 1;
            memcpy(&other, bytes + before * size, size);
            word = other ^ (size == 2 ? 0x8000 : 0x80000000) ^ ((uint32_t)h & last);
        }
        memcpy(bytes + n * size, &word, size);
    }
}
