/* ThreadX's semaphore. */
#ifndef SHIM_H
#define SHIM_H

#include <tx_api.h>

typedef TX_SEMAPHORE rtos_semaphore;

#endif
