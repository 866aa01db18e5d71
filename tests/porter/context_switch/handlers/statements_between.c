/* Statements of C between those of assembler use variables that lie beside a function's own; the
 * file has a conversion of its own that its compiler only warns of. */
#include <stdint.h>

uint32_t *running;
void choose(void);

uint32_t rounds(void)
{
    static uint32_t done;
    return ++done;
}

uint32_t *never(void) { return 0x20000000u; }

static uint32_t switches, chosen;

uint32_t counted(void) { return switches + chosen; }

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("mrs r0, psp\n stmdb r0!, {r4-r11}\n ldr r1, =running\n"
                   "ldr r2, [r1]\n str r0, [r2]\n push {r1, lr}\n bl choose\n pop {r1, lr}\n"
                   "ldr r2, [r1]\n ldr r0, [r2]\n ldmia r0!, {r4-r11}\n msr psp, r0" ::
                       : "memory");
    switches++;
    chosen += 2;
    __asm volatile("bx lr");
}
