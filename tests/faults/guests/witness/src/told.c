/* All RAM of this firmware, base and bytes: the test writes it into the image. In a file of its
 * own, so that the compiler doesn't know the values. */
#include <stdint.h>

const uint32_t ram[2] = {0, 0};
