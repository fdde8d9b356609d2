/* The pseudo-random words that the inputs of recordings are made of: the splitmix64 finaliser of a
 * counter. */
#ifndef ANYWARP_SPLITMIX_H
#define ANYWARP_SPLITMIX_H

#include <stdint.h>

static inline uint64_t splitmix(uint64_t counter)
{
    uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
