/* What the program that runs the image stores in it. In a file of its own, so that no compiler
 * knows the value. */
#include "scale.h"

const unsigned scale_tasks = 2;
