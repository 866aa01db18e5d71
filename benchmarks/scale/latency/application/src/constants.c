/* What the program that runs the image stores in it. In a file of its own, so that no compiler
 * knows the value. */
#include "load.h"

const unsigned flood_cycles = 0;
