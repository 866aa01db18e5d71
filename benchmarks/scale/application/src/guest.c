/* Nothing on bare metal. */
#include "scale.h"

void run_guest(void) {}
void rest(void) {}
