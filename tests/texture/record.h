/* A texture recording: the cases and how the recorder reads them. README.md has the formats. */
#ifndef ANYWARP_TEXTURE_RECORD_H
#define ANYWARP_TEXTURE_RECORD_H

#include "driver.h"

enum { WORDS = 12, MAX_COUNT = 16384 };

/* Where the texels lie. */
enum place { ARRAY, MIPMAP, LINEAR, PITCH };

/* What the texels hold: random bits (finite values in float formats; blocks of every mode), 0 and 1 in turn, special values, the level's
 * number, x + 16 y, pairs of values; blocks with every pair of endpoints; floats of which a slice nearly cancels the one before. */
enum fill { RANDOM, STEP, SPECIAL, LEVEL, RAMP, PAIRS, ENDPOINTS, CANCELLING };

/* How a case's coordinates are made (coordinates.c). */
enum where { EDGES, SWEEP, SCATTER, INTEGERS, CUBE, LEVELS, GRADIENTS, ALONG, SLANT, PAIR, BYTES, QUERY, TEXELS, BLOCKS, BETWEEN, CENTRES, INSIDE };

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
    CUresourceViewFormat view; /* and of all of the resource; of a compressed one width and height are the view's */
    const char *samplers;     /* the module has samplers of its own: their declarations */
    int reference;            /* the module's reference `t` is bound to the array, too; without `samplers` it is declared */
};

/* A new case: a copy of another under a name of its own. */
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
/* Bytes of an element or of a block, and texels on its side; the latter of what is read, a view too. */
unsigned element_bytes(const struct texcase *c);
unsigned block_side(const struct texcase *c);
/* A number of elements or blocks that hold as many texels. */
size_t units(const struct texcase *c, size_t texels);

#endif
