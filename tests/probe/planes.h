/* What the groups of the part `planes` share. */
#ifndef ANYWARP_PLANES_H
#define ANYWARP_PLANES_H

#include "words.h"

enum { VIDEO = 0x100, SPARSE = 0x40, DEFERRED = 0x80 };

/* Formats of several planes, packed ones, and one without the two. */
struct kind { const char *name; unsigned format, channels; };
extern const struct kind kinds[];
/* Some of them by their index. */
enum { NV12 = 0, P010 = 1, FIRST_PACKED = 10, LAST_PACKED = 15, KINDS = 17 };

CUDA_ARRAY3D_DESCRIPTOR shape(unsigned kind, size_t w, size_t h, size_t depth, unsigned flags);
/* Reports sparse properties and requirements of an array and its planes in one line. */
void all_of(const char *name, CUarray a);

/* Appends to a line. */
void append(char *line, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Bytes of a tile; tiles of the memory that `memory_of` looks at; bytes of the memory. */
enum { TILE = 65536, TILES = 32, MOST = 8 << 20 };
extern CUstream stream;
extern CUmemGenericAllocationHandle memory;

/* Initialises the driver, and makes memory for tiles. */
void prepare(const char *name);
void clear_memory(void);
/* The tiles of the memory in which there is anything but 0: how many bytes. */
void memory_of(const char *name);

/* Entries of the list of mappings: tiles of a level, part of a mip tail. */
struct map tiles(void *array, unsigned x, unsigned y, unsigned w, unsigned h, uint64_t offset);
struct map tail(void *array, unsigned layer, uint64_t at, uint64_t size, uint64_t offset);
/* Map and unmap one. */
CUresult put(const char *name, struct map m);
CUresult take(const char *name, struct map m);

/* Fills a slice with a pattern. */
void fill(const char *name, CUarray a, size_t z, size_t w, size_t h, unsigned seed);
/* Reads a slice, and counts the bytes that are the pattern's, 0 or something else. */
void look(const char *name, CUarray a, size_t z, size_t w, size_t h, unsigned seed);

/* Images of 1024x512: bytes of a channel; the size and the tile of both planes (`planarnew` reports them). */
struct planar { unsigned kind, size; struct { unsigned w, h, tw, th; } plane[2]; };
enum { IMAGES = 2 };
extern const struct planar images[];
/* Both planes, with the patterns 1 and 2. */
void fill_both(const char *name, const struct planar *i, CUarray luma, CUarray chroma, size_t z);
void look_both(const char *name, const struct planar *i, CUarray luma, CUarray chroma, size_t z);

/* What a part in a process of its own is about. What a copy does to an array without all of its memory is not
 * known, and errors can be for ever. */
struct part { const struct planar *image; unsigned flags; char name[32]; CUarray a, luma, chroma; };
/* Runs a part for both formats and each of the flags, with names that begin with the format and `name`. */
void in_parts(void (*run)(struct part *), const char *name, const unsigned *flags, size_t count);
/* Memory, an array and its planes. */
void make(struct part *p);
void end(struct part *p);

#endif
