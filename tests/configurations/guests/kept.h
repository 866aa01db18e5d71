/* Words behind `end`, kept by restarts, which the harness reads from outside. */
#ifndef TEST_KEPT_H
#define TEST_KEPT_H

#include <stdint.h>

enum kept {
    KEPT_STARTS,
    KEPT_SPINS,  /* times that registers were compared after code without calls, */
    KEPT_CALLS,  /* and after a call */
    KEPT_CRIMES, /* committed */
    KEPT_CHANCE, /* state of the generator: no start does what the one before did */
    KEPT_WRONG,  /* comparisons that failed; of the first one: */
    KEPT_AFTER,  /* the call's number, or FVM_NONE, */
    KEPT_INDEX,  /* which register (tagged.h), */
    KEPT_WAS,
    KEPT_IS,
    KEPT_WORDS,
};

extern volatile uint32_t end[]; /* from the linker script */

/* xorshift32; below 0 all 32 bits */
static inline uint32_t chance(uint32_t below)
{
    uint32_t x = end[KEPT_CHANCE];
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    end[KEPT_CHANCE] = x;
    return below == 0 ? x : x % below;
}

#endif
