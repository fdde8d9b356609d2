/* A texture recording: the cases and how the recorder reads them. README.md has the formats. */
#ifndef ANYWARP_TEXTURE_RECORD_H
#define ANYWARP_TEXTURE_RECORD_H

#include <cuda.h>
#include <stdint.h>

enum { WORDS = 12, MAX_COUNT = 4096 };

/* Where the texels lie. */
enum place { ARRAY, MIPMAP, LINEAR, PITCH };

/* What the texels hold: random bits (finite values in float formats), 0 and 1 in turn, special values, the level's number, x + 16 y. */
enum fill { RANDOM, STEP, SPECIAL, LEVEL, RAMP };

/* How a case's coordinates are made (coordinates.c). */
enum where { EDGES, SWEEP, SCATTER, INTEGERS, CUBE, LEVELS, GRADIENTS, ALONG, SLANT, PAIR, BYTES, QUERY };

struct texcase {
    char name[64];
    char op[256];             /* the instruction; %h the handle, %c0… the words, %r0… the results, %q0… 64-bit and %s0… 16-bit scratch */
    int results;              /* 32-bit results */
    int surface;              /* through a surface object; 2: what the array holds afterwards is recorded, too */
    enum place place;
    CUarray_format format;
    unsigned channels, levels, array_flags;
    size_t width, height, depth;
    enum fill fill;
    enum where where;
    int dims;                 /* coordinates in use, the layer not counted */
    int layered;              /* the first word is the layer */
    int count;                /* threads */
    double from, step;        /* of SWEEP, LEVELS and GRADIENTS */
    CUDA_TEXTURE_DESC texture;
    CUresourceViewFormat view; /* and of all of the resource */
};

extern struct texcase cases[];
extern int case_count;
void make_cases(void);
uint64_t word_hash(uint64_t i, uint64_t k);
/* The words of thread i. */
void coordinates(const struct texcase *c, int i, uint32_t words[WORDS]);
/* The bytes of a level. */
void fill_texels(const struct texcase *c, unsigned level, size_t elements, size_t width, unsigned char *bytes);
unsigned channel_bytes(CUarray_format format);

#endif
