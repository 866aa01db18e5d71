/* LiteOS-M's semaphore, which is a number. */
#ifndef SHIM_H
#define SHIM_H

#include <los_sem.h>

typedef UINT32 rtos_semaphore;

#endif
