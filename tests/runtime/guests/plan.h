/* What a test tells a guest: words that it writes into the image. Defined in a file of their own,
 * so that no compiler knows their value. */
#ifndef TEST_PLAN_H
#define TEST_PLAN_H

#include <stdint.h>

#define PLAN_WORDS 128u

extern const uint32_t plan[PLAN_WORDS];

#endif
