/* A VM that goes wrong in the way the test asks for. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "plan.h"
#include "report.h"

enum mode {
    QUIET,
    LOOP,  /* a: faults in the first b starts, at once */
    NAMES, /* faults with task name plan[2 + start], until that is FINISHED */
    CODE,  /* calls what stands in the plan behind the mode */
    TASKS, /* as NAMES, with the address of the pointer to the running task's control block */
};

#define FINISHED 0xFFFFFFFEu

static volatile uint32_t ticks;
void tick_handler(void) { ticks++; }

char name_in_ram[8] = "in RAM"; /* strings in flash are in the plan */

static void fault(void) { *(volatile uint32_t *)0 = 0; }

/* A control block as an RTOS has it, and a pointer to one elsewhere. */
struct control_block {
    uint32_t *sp;
    char name[12];
};
struct control_block block = {0, "in a block"};
struct control_block *running = &block;
const void *foreign = (const void *)0x08000000;

static void with_name(uint32_t mode, uint32_t boot)
{
    uint32_t address = plan[1 + boot];
    uint32_t start = virt_cycles();
    while (virt_cycles() - start < 15u * (FVM_CLOCK_HZ / 1000u)) {
    } /* the log writes one record in about twelve ticks */
    if (address == FINISHED) {
        return;
    }
    if (address == (uint32_t)name_in_ram) {
        name_in_ram[0] = 'I';
    }
    if (mode == NAMES) {
        fvm_state.task_name = (const char *)address;
    } else {
        fvm_state.task_switch.task = (void *volatile *)address;
        fvm_state.task_switch.name = offsetof(struct control_block, name);
    }
    fault();
}

int main(void)
{
    report_init();
    uint32_t boot = boots();
    report("block", running == &block && foreign != NULL);
    switch (plan[0]) {
    case LOOP:
        if (boot <= plan[1]) {
            fault();
        }
        break;
    case NAMES:
    case TASKS:
        with_name(plan[0], boot);
        break;
    case CODE:
        if (boot == 1) {
            ((void (*)(void))((uint32_t)&plan[2] | 1u))();
            report("returned", 1);
        }
        break;
    default:
        break;
    }
    report("boots", (int32_t)boot);
    (void)hyp_tick_set(1000);
    for (;;) {
        (void)hyp_vct_wait();
    }
}
