/* TencentOS-tiny's semaphore. */
#ifndef SHIM_H
#define SHIM_H

#include <tos_k.h>

typedef k_sem_t rtos_semaphore;

#endif
