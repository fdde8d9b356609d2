/* Cases of copies: a kernel around some text, and its results. */
#ifndef ANYWARP_ASYNC_COPIES_H
#define ANYWARP_ASYNC_COPIES_H

#include "record.h"

enum { ROOM = 8192, BUFFER = 32768, BASE = 1024, TEXT = 2048 };

/* Initial contents of memory: the index of each 16-bit element; random bits; floats that are close to each
 * other, and special ones; f32 between two neighbours with ten fraction bits, and special ones; the
 * smallest and largest integers. */
enum contents { NUMBERS, RANDOM, FLOATS, TIES, EDGES };

struct copy {
    char name[96];
    char text[TEXT];     /* %m the map's generic address, %r the shared memory, %b the barrier, %g the buffer; %c<8> %o<4> %x<4> scratch */
    struct map map;
    int has_map;
    unsigned bytes;      /* bytes that the barrier waits for; 0: a bulk group is waited for */
    enum contents room, buffer;
    int element;
    int writes;          /* record the buffer, not the shared memory */
    int cluster;
    int warp;            /* a whole warp runs the text, not one thread */
    int read;            /* wait for groups only until their source has been read */
    size_t from, size;   /* the recorded range */
};

/* Runs the case's kernel and writes its line, or prints the kernel. */
void run_copy(const struct copy *c);
/* Appends to a case's text. */
void say(char *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A map over the buffer: rows padded to 16 bytes, everything after packed. */
struct map over(int type, int rank, const int *dims, const int *box);
/* Bytes of its box, of element strides cut or rounded up. */
unsigned box_bytes(const struct map *m, int up);
/* Moves coordinates to registers. Returns the operand that names them. */
void coordinates(char *text, const struct map *m, const int *at);
void place(char *text, const struct map *m);
/* Bytes of shared memory that a copy of this size touches, and a few more. */
size_t whole(unsigned bytes);
/* Bytes of an element of each type. */
extern const int type_sizes[];

#endif
