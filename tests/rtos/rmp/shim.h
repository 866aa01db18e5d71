/* RMP's semaphore. */
#ifndef SHIM_H
#define SHIM_H

#include "rmp.h"

typedef volatile struct RMP_Sem rtos_semaphore;

#endif
