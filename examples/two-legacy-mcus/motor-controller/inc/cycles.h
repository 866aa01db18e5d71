/* Processor cycle counter. */
#ifndef CYCLES_H
#define CYCLES_H

#include <stdint.h>

void cycles_init(void);
uint32_t cycles_now(void);

#endif
