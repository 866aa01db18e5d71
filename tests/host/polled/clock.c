/* What the test sets before each access. */
#include <fvm/guest.h>

uint32_t cycles;
