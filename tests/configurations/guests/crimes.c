#include "crimes.h"

#include <fvm/trap.h>

#include "fvm_domain.h"
#include "kept.h"

#ifdef TEST_VM
#include <fvm/guest.h>
#endif

#define KERNEL_RAM 0x20000000u
#define CALLS 70u /* and some that don't exist */

static uint32_t wild(void)
{
    static const uint32_t edge[] = {0, 1, 2, 3, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0x40000000u};
    switch (chance(4)) {
    case 0:
        return edge[chance(sizeof edge / sizeof edge[0])];
    case 1:
        return KERNEL_RAM + 4u * chance(2048);
    case 2:
        return 0x40000000u | chance(64) | chance(4) << 6; /* a run-time capability, perhaps */
    default:
        return chance(20);
    }
}

/* Waits with another stack, for an interrupt or in a call. */
__attribute__((naked, noinline)) static void spin_on(uint32_t stack __attribute__((unused)))
{
    __asm volatile("mov sp, r0\n\t"
                   "1: b 1b");
}

/* Two faults at once: of the instruction, and of the frame. */
__attribute__((naked, noinline)) static void fault_on(uint32_t stack __attribute__((unused)))
{
    __asm volatile("mov sp, r0\n\t"
                   "udf #0");
}

__attribute__((naked, noinline)) static void call_on(uint32_t stack __attribute__((unused)),
                                                     uint32_t number __attribute__((unused)))
{
    __asm volatile("mov sp, r0\n\t"
                   "mov r12, r1\n\t"
                   "svc 0xF5\n\t"
                   "1: b 1b");
}

static void call_wildly(void)
{
    for (uint32_t n = 1u + chance(20); n != 0; n--) {
        (void)fvm_call(chance(CALLS), wild(), wild(), wild(), wild());
    }
}

#ifdef TEST_VM
static void lie(void)
{
    uint32_t *word = (uint32_t *)USR_REG;
    switch (chance(4)) {
    case 0:
        (void)fvm_trap2(FVM_CALL_RESUME, wild(), wild());
        break;
    case 1: {
        uint32_t frame[8] = {0};
        for (uint32_t i = 0; i < 8u; i++) {
            frame[i] = chance(0);
        }
        (void)fvm_trap2(FVM_CALL_RESUME, (uint32_t)frame, chance(0));
        break;
    }
    case 2: /* what VCT finds, or is asked to resume, is anything */
        for (uint32_t n = chance(8); n != 0; n--) {
            word[chance(sizeof *USR_REG / 4u)] = chance(0);
        }
        break;
    default:
        hyp_reboot();
    }
}
#else
static void lie(void) { (void)fvm_call(FVM_CALL_INVOKE_RETURN, wild(), wild(), wild(), wild()); }
#endif

void commit_by_chance(void)
{
    end[KEPT_CRIMES]++;
    switch (chance(12)) {
    case 0:
        (void)*(volatile uint32_t *)chance(16);
        break;
    case 1:
        *(volatile uint32_t *)(KERNEL_RAM + 4u * chance(1024)) = 0;
        break;
    case 2:
        __asm volatile("udf #0");
        break;
    case 9:
        fault_on(KERNEL_RAM + 256u + 4u * chance(256));
        break;
    case 3:
        spin_on(KERNEL_RAM + 256u + 4u * chance(256));
        break;
    case 4:
        call_on(wild() & ~3u, chance(CALLS));
        break;
    case 5: /* in memory of its own, but not its RAM */
        call_on((uint32_t)FVM_SHM_BOARD + FVM_SHM_BOARD_SIZE, chance(CALLS));
        break;
    case 10:
        ((void (*)(void))(chance(0) | 1u))();
        break;
    case 6:
        lie();
        break;
#ifdef TEST_VM
    case 8: /* many starts: each asks the hypervisor for what it may have */
        hyp_reboot();
#endif
#ifdef TEST_WATCHDOG
    case 7:
        (void)hyp_wdg_clr();
        for (;;) {
        }
#endif
    default:
        call_wildly();
        break;
    }
}
