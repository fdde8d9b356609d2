/* What the groups of the part `rest` share: calls of functions that not every cuda.h declares, and parts of a
 * group in a process of their own. */
#ifndef ANYWARP_WORDS_H
#define ANYWARP_WORDS_H

#include "probe.h"

enum { MOST_WORDS = 16 };

/* An argument as a word. */
#define A(x) ((uint64_t)(uintptr_t)(x))
/* Like T, for a symbol whose arguments are all words (pointers, integers, small structures of two ints). */
#define W(name, symbol, ...) \
    (begin(name) ? report(words(symbol, (const uint64_t[MOST_WORDS]){__VA_ARGS__})) : skipped())
CUresult words(const char *symbol, const uint64_t *w);

/* As CUarrayMapInfo, which not every cuda.h declares. */
struct map {
    int resource;
    void *array;
    int subresource;
    union {
        struct { unsigned level, layer, x, y, z, w, h, d; } level;
        struct { unsigned layer; unsigned long long offset, size; } tail;
    } at;
    int operation, handle_type;
    unsigned long long handle, offset;
    unsigned devices, flags, reserved[2];
};

/* A location in a word, as calls take it that get the structure by value. */
CUmemLocation at_location(int type, int id);

/* Runs part of a group in a child with its own alarm. If the child dies, the probe named by the last call of
 * `step` is answered `signal N`. Fork before cuInit if the child uses the driver. */
void in_process(void (*part)(void *), void *data, unsigned seconds);
/* Names the next probe for in_process, and returns the name. */
const char *step(const char *name);

/* FNV-1a of some bytes. */
unsigned long long hash_of(const void *bytes, size_t size);

#endif
