/* A texture recording: the cases and how the recorder reads them. README.md describes the formats. */
#ifndef ANYWARP_TEXTURE_RECORD_H
#define ANYWARP_TEXTURE_RECORD_H

#include "driver.h"

enum { WORDS = 12, MAX_COUNT = 16384 };

/* The kind of memory that holds the texels. */
enum place { ARRAY, MIPMAP, LINEAR, PITCH };

/* The contents of the texels: random bits (finite values in float formats; blocks of every mode),
 * alternating 0 and 1, special values, the level's number, x + 16 y, pairs of values; blocks with every
 * pair of endpoints; floats where each slice nearly cancels the previous one. */
enum fill { RANDOM, STEP, SPECIAL, LEVEL, RAMP, PAIRS, ENDPOINTS, CANCELLING };

/* How a case's coordinates are generated (coordinates.c). */
enum where { EDGES, SWEEP, SCATTER, INTEGERS, CUBE, LEVELS, GRADIENTS, ALONG, SLANT, PAIR, BYTES, QUERY, TEXELS, BLOCKS, BETWEEN, CENTRES, INSIDE };

struct texcase {
    char name[64];
    char op[256];             /* the instruction; %h the handle, %c0… the words, %r0… the results, %q0… 64-bit and %s0… 16-bit scratch */
    int results;              /* number of 32-bit results */
    int surface;              /* through a surface object; 2: also record the final contents of the array */
    enum place place;
    CUarray_format format;
    unsigned channels, levels, array_flags;
    size_t width, height, depth;
    enum fill fill;
    enum where where;
    int dims;                 /* coordinates in use, without the layer */
    int layered;              /* the first word is the layer */
    int count;                /* number of threads */
    double from, step;        /* for SWEEP, LEVELS and GRADIENTS */
    CUDA_TEXTURE_DESC texture;
    CUresourceViewFormat view; /* of the whole resource; for a compressed one, width and height are the view's */
    const char *samplers;     /* declarations of the module's separate samplers */
    int reference;            /* also bind the module's reference `t` to the array; without `samplers`, declare it */
};

/* A new case: a copy of another with its own name. */
struct texcase *add_case(const struct texcase *like, const char *format, ...) __attribute__((format(printf, 2, 3)));
void set_op(struct texcase *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void set_address(struct texcase *c, int mode);
struct texcase basic_case(void);
void make_format_cases(void);
void make_spelling_cases(void);

extern struct texcase cases[];
extern int case_count;
void make_cases(void);
uint64_t word_hash(uint64_t i, uint64_t k);
/* The words of thread i. */
void coordinates(const struct texcase *c, int i, uint32_t words[WORDS]);
/* The bytes of a level. */
void fill_texels(const struct texcase *c, unsigned level, size_t elements, size_t width, unsigned char *bytes);
unsigned channel_bytes(CUarray_format format);
/* Bytes of an element or of a block, and texels per side; the latter of the view, if there is one. */
unsigned element_bytes(const struct texcase *c);
unsigned block_side(const struct texcase *c);
/* The number of elements or blocks that hold this many texels. */
size_t units(const struct texcase *c, size_t texels);

#endif
