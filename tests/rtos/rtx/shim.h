/* RTX5's semaphore. */
#ifndef SHIM_H
#define SHIM_H

#include "rtx_os.h"

typedef osRtxSemaphore_t rtos_semaphore;

#endif
