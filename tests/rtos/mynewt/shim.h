/* Mynewt's semaphore. */
#ifndef SHIM_H
#define SHIM_H

#include "os/mynewt.h"

typedef struct os_sem rtos_semaphore;

#endif
