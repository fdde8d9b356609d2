/* A recording of asynchronous copies: what the groups share. README.md has the formats. */
#ifndef ANYWARP_ASYNC_RECORD_H
#define ANYWARP_ASYNC_RECORD_H

#include "driver.h"
#include <stdio.h>

/* A case's line: its name, a status, bytes in hexadecimal. */
void line(const char *name, CUresult status, const void *bytes, size_t size);

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

/* Kernels are printed, behind a line `// NAME` with the case's name, and nothing is run. */
extern int only_ptx;

/* Copies of a group that have been begun, in all its processes. */
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
