/* Start of the system: clocks and pins, objects, protection, first thread. */
#include "kernel/kernel.h"

static bool reached(const struct fvm_boot_op *op)
{
    volatile uint32_t *reg = (volatile uint32_t *)op->address;
    for (uint32_t i = 0; i < op->limit; i++) {
        if ((*reg & op->mask) == op->value) {
            return true;
        }
    }
    return false;
}

static void run_table(void)
{
    for (uint32_t i = 0; i < FVM_BOOT_OPS; i++) {
        const struct fvm_boot_op *op = &fvm_boot[i];
        volatile uint32_t *reg = (volatile uint32_t *)op->address;
        switch (op->kind) {
        case FVM_BOOT_WRITE:
            *reg = op->value;
            break;
        case FVM_BOOT_MODIFY:
            *reg = (*reg & ~op->mask) | op->value;
            break;
        default: /* FVM_BOOT_WAIT: a clock that never gets ready must not hang the system */
            if (!reached(op)) {
                fault_boot(op->address, op->mask);
            }
            break;
        }
        cpu_arch_settle(); /* a block's clock runs before its first register is written */
    }
}

_Noreturn void kernel_main(void); /* from the architecture's reset code */

void kernel_main(void)
{
    cpu_arch_init();
    run_table();
    protection_arch_init(FVM_MPU_ENABLE);
    interrupt_init();
    domain_init();
    scheduler_catch_up();
    time_init();
    cpu_arch_start();
}
