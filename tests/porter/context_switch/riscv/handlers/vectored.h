#include <stdint.h>

extern uint32_t interrupt_stack_top[], counters[4];
void *next_task(void *task, uint32_t counted);
void set_vectors(void);
