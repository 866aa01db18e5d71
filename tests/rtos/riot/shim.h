/* RIOT's semaphore. */
#ifndef SHIM_H
#define SHIM_H

#include <sema.h>

typedef sema_t rtos_semaphore;

#endif
