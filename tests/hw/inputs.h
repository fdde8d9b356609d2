/* The inputs of the instruction recordings: a function of type, operand and index only (README.md
 * describes it). */
#ifndef ANYWARP_HW_INPUTS_H
#define ANYWARP_HW_INPUTS_H

#include "splitmix.h"
#include <string.h>

enum { HW_N = 2048 };

static inline uint64_t hw_word(uint64_t index, uint64_t operand)
{
    return splitmix(index * 4 + operand);
}

static const uint64_t hw_i16[] = {0, 1, 2, 3, 7, 8, 0xf, 0x10, 0x7f, 0x80, 0xff, 0x100, 0x5555, 0xaaaa, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff};
static const uint64_t hw_i32[] = {0, 1, 2, 3, 8, 31, 32, 33, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x00ffffff, 0x55555555, 0xaaaaaaaa,
                                  0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
static const uint64_t hw_i64[] = {0, 1, 2, 3, 32, 63, 64, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x100000001, 0x5555555555555555,
                                  0xaaaaaaaaaaaaaaaa, 0x7ffffffffffffffe, 0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001,
                                  0xffffffff00000000, 0xffffffff80000000, 0xfffffffffffffffe, 0xffffffffffffffff};
static const uint64_t hw_sh[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 24, 30, 31, 32, 33, 48, 63, 64, 65, 127, 255, 256, 0x80000000, 0xffffffff};
static const uint64_t hw_f16[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0x4000, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7d01, 0x0001, 0x8001, 0x03ff,
                                  0x0400, 0x8400, 0x7bff, 0xfbff, 0x3bff, 0x3c01, 0x4100, 0x5c00, 0x6400};
static const uint64_t hw_bf16[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x3f00, 0x3fc0, 0x4000, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x0001, 0x8001, 0x007f,
                                   0x0080, 0x8080, 0x7f7f, 0xff7f, 0x3f7f, 0x3f81, 0x4020, 0x4380, 0x4f00};
static const uint64_t hw_f32[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000, 0x40000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0xffc00001, 0x7fa00001, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f7fffff,
                                  0x40200000, 0x4b000001, 0x4f000000, 0xcf000000};
static const uint64_t hw_f64[] = {0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000, 0x3ff8000000000000,
                                  0x4000000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001, 0x7ff4000000000001,
                                  0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
                                  0x3fefffffffffffff, 0x4004000000000000, 0x4330000000000001, 0x41e0000000000000, 0x43e0000000000000, 0x36a0000000000000};

struct hw_type {
    const char *name;
    const uint64_t *edges;
    uint64_t edge_count;
    unsigned bits;               /* of the element */
    unsigned exponent, mantissa; /* 0: an integer */
    unsigned bias, span;
    unsigned packed;             /* elements in a value */
};

#define HW_EDGES(t) hw_##t, sizeof hw_##t / sizeof hw_##t[0]
static const struct hw_type hw_types[] = {
    {"i16", HW_EDGES(i16), 16, 0, 0, 0, 0, 1},   {"i32", HW_EDGES(i32), 32, 0, 0, 0, 0, 1},      {"i64", HW_EDGES(i64), 64, 0, 0, 0, 0, 1},
    {"sh", HW_EDGES(sh), 0, 0, 0, 0, 0, 1},      {"p", hw_i16, 2, 1, 0, 0, 0, 0, 1},             {"f16", HW_EDGES(f16), 16, 5, 10, 15, 16, 1},
    {"bf16", HW_EDGES(bf16), 16, 8, 7, 127, 48, 1}, {"f32", HW_EDGES(f32), 32, 8, 23, 127, 48, 1}, {"f64", HW_EDGES(f64), 64, 11, 52, 1023, 48, 1},
    {"f16x2", HW_EDGES(f16), 16, 5, 10, 15, 16, 2}, {"bf16x2", HW_EDGES(bf16), 16, 8, 7, 127, 48, 2}};

static inline const struct hw_type *hw_type(const char *name)
{
    for (unsigned i = 0; i < sizeof hw_types / sizeof hw_types[0]; i++)
        if (!strcmp(hw_types[i].name, name))
            return &hw_types[i];
    return 0;
}

/* An element from two random words. */
static inline uint64_t hw_random(const struct hw_type *t, uint64_t w, uint64_t v)
{
    uint64_t kind = w & 7;
    if (kind <= 1)
        return t->edges[v % t->edge_count];
    if (t->bits == 0)
        return v % 72;
    uint64_t mask = t->bits == 64 ? ~0ULL : (1ULL << t->bits) - 1, value = v & mask;
    if (!t->exponent) {
        if (kind == 2 || kind == 3)
            value >>= (w >> 8) % t->bits;
        return kind == 3 ? (0 - value) & mask : value;
    }
    if (kind == 2)
        return value;
    uint64_t exponent = kind == 3 ? (w >> 8) % 4 : t->bias - t->span / 2 + (w >> 8) % t->span;
    uint64_t keep = mask & ~(((1ULL << t->exponent) - 1) << t->mantissa);
    return (value & keep) | exponent << t->mantissa;
}

/* Input `index` of operand `k` of a form whose first two operands have types t0 and t1 (t1 is null for one
 * operand). */
static inline uint64_t hw_input(const struct hw_type *t0, const struct hw_type *t1, const struct hw_type *t, unsigned k, uint64_t index)
{
    uint64_t n0 = t0->edge_count, cross = n0 * (t1 ? t1->edge_count : 1), result = 0;
    for (unsigned part = 0; part < t->packed; part++) {
        uint64_t at = index + 8192ULL * part, w = hw_word(at, k), v = hw_word(at + 4096, k), element;
        if (index < cross) {
            uint64_t edge = k == 0 ? index % n0 : k == 1 ? index / n0 : v;
            element = t->edges[(edge + 7 * part) % t->edge_count];
        } else
            element = hw_random(t, w, v);
        result |= element << (part * t->bits);
    }
    return result;
}

#endif
