/* What only a virtual machine has: nothing on bare metal. A virtual machine has another guest.c. */
#include "operations.h"

void run_guest(void) {}
