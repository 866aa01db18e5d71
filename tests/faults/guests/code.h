/* Machine code that a test writes into the image: no compiler and no scanner sees it before. In
 * flash, where a domain's code is. */
#ifndef TEST_CODE_H
#define TEST_CODE_H

#include <stdint.h>

#define CODE_WORDS 2048u

extern const uint32_t code[CODE_WORDS];

/* Runs it with three arguments; returns its r0. */
static inline int32_t run_code(uint32_t a, uint32_t b, uint32_t c)
{
    return ((int32_t(*)(uint32_t, uint32_t, uint32_t))((uint32_t)code | 1u))(a, b, c);
}

#endif
