/* A recording of asynchronous copies: declarations shared by the groups. README.md describes the formats. */
#ifndef ANYWARP_ASYNC_RECORD_H
#define ANYWARP_ASYNC_RECORD_H

#include "driver.h"
#include <stdio.h>

/* Writes a case's line: its name, a status, bytes in hexadecimal. */
void line(const char *name, CUresult status, const void *bytes, size_t size);

/* The description of a tensor map, as the three encoding functions take it. */
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

/* Print kernels, each after a line `// NAME` with the case's name, and run nothing. */
extern int only_ptx;

/* Number of copies begun in a group, over all its processes. */
extern int *copies_done;

void record_encodings(void);
void record_barriers(void);
void record_tiles(void);
void record_interleaved(void);
void record_images(void);
void record_reductions(void);
void record_plain(void);
void record_spellings(void);

#endif
