#include <stdint.h>

struct task;
extern struct task *volatile running;
extern uint32_t interrupt_stack_top[];
int tick(void);
void choose(void);
