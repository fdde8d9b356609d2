/* A recording of asynchronous copies: what the groups share. README.md has the formats. */
#ifndef ANYWARP_ASYNC_RECORD_H
#define ANYWARP_ASYNC_RECORD_H

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>

/* A function of the library under test; the program ends where there is none. */
void *symbol(const char *name);
#define FN(fn, type, ...) ((CUresult(*) type)symbol(fn))(__VA_ARGS__)
/* A call that must succeed for the recording to make sense. */
#define MUST(fn, type, ...) must(fn, FN(fn, type, __VA_ARGS__))
void must(const char *what, CUresult status);
void die(const char *format, ...);

/* A case's line: its name, a status, bytes in hexadecimal. */
void line(const char *name, CUresult status, const void *bytes, size_t size);

/* splitmix64 of a counter. */
uint64_t word(uint64_t i);

/* A description of a tensor map, as the three functions take it. */
enum encoding { TILED, IM2COL, IM2COL_WIDE };
struct map {
    enum encoding encoding;
    int type, rank;
    uint64_t address;
    cuuint64_t dim[5], stride[4];
    cuuint32_t box[5], step[5];
    int lower[3], upper[3];
    unsigned channels, pixels;
    int interleave, swizzle, promotion, fill, mode;
};
CUresult encode(const struct map *m, void *to);

/* Copies of a group that have been begun, in all its processes. */
extern int *copies_done;

void record_encodings(void);
void record_barriers(void);
void record_tiles(void);
void record_interleaved(void);
void record_images(void);
void record_reductions(void);
void record_plain(void);

#endif
