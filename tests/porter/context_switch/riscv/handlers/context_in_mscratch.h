#include <stdint.h>

extern uint32_t interrupt_stack_top[];
extern void *volatile first_context;
void *trap_dispatch(uint32_t cause, void *context);
void first_task(void);
