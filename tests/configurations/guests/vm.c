/* A VM whose USR and VCT compare their registers, in calls of every kind and where they are
 * preempted. What it may do is what its header names. */
#include <fvm/guest.h>

#include "crimes.h"
#include "fvm_domain.h"
#include "kept.h"
#include "tagged.h"

#define FIRST_IS_RESULT 0xEu
#define CRIME_ROUNDS 2u
#ifndef TEST_HOSTILE
#define TEST_HOSTILE 0
#endif

static struct tagged of_usr, of_vct;
static volatile uint32_t crime_due;

static uint32_t milliseconds(void) { return virt_cycles() / (FVM_CLOCK_HZ / 1000u); }

static int32_t call(struct tagged *mine, uint32_t number, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t argument[4] = {a, b, c, chance(0)};
    return tagged_call(mine, number, argument, FIRST_IS_RESULT);
}

static void call_by_chance(struct tagged *mine)
{
    uint32_t number = chance(0);
    switch (chance(14)) {
    case 0:
        (void)call(mine, FVM_CALL_CYCLES, number, number, number);
        break;
#ifdef FVM_EVT_BELL
    case 1:
        (void)call(mine, FVM_CALL_EVT_SND, FVM_EVT_BELL, number, number);
        break;
#endif
#ifdef FVM_EVT_KNOCK
    case 2:
        (void)call(mine, FVM_CALL_EVT_SND, FVM_EVT_KNOCK, number, number);
        break;
#endif
#ifdef TEST_LINE
    case 3:
        (void)call(mine, FVM_CALL_IRQ_ENA, TEST_LINE, number, number);
        break;
    case 4:
        (void)call(mine, FVM_CALL_IRQ_DONE, TEST_VECTOR, number, number);
        break;
#endif
    case 5:
        (void)call(mine, FVM_CALL_TICK_SET, TEST_TICK_HZ, number, number);
        break;
    case 6:
        (void)call(mine, FVM_CALL_WDG_CLR, number, number, number);
        break;
    case 7:
        (void)call(mine, FVM_CALL_PUTC, number, number, number);
        break;
    case 8:
        (void)call(mine, FVM_CALL_VCT_WAKE, number, number, number);
        break;
    case 9: /* what the hypervisor is asked for, and refuses */
        (void)call(mine, FVM_CALL_VCT_LCK, number, number, number);
        break;
    case 10:
        (void)call(mine, FVM_CALLS_OF_VM + chance(100), number, number, number);
        break;
    case 11:
        (void)call(mine, FVM_CALL_PIN_GET, 0, chance(2), number);
        break;
    case 12:
        (void)call(mine, FVM_CALL_PIN_SET, 0, 1u << 5, number);
        break;
    default:
        break;
    }
    for (uint32_t n = chance(6); n != 0; n--) {
        tagged_spin(mine);
    }
}

void tick_handler(void)
{
    (void)hyp_wdg_clr();
    tagged_spin(&of_vct);
    if (chance(4) == 0) {
        call_by_chance(&of_vct);
    }
#ifdef TEST_WATCHDOG
    if (TEST_HOSTILE && chance(16) == 0) { /* says that it served nonsense; it may sleep for ever */
        (void)call(&of_vct, FVM_CALL_VCT_WAIT, FVM_VECTORS + chance(99), chance(0), chance(0));
    }
#endif
    if (crime_due && chance(4) == 0) {
        crime_due = 0;
        commit_by_chance();
    }
}

void line_handler(void)
{
    call_by_chance(&of_vct);
#ifdef TEST_LINE
    if (chance(4) == 0) {
        (void)call(&of_vct, FVM_CALL_IRQ_DIS, TEST_LINE, chance(0), chance(0));
    }
#endif
}

void event_handler(void) { tagged_spin(&of_vct); }

#ifdef FVM_SHM_USART2_RING
#include <fvm/split.h>

void split_handler(void)
{
    uint32_t record[1];
    while (fvm_split_take(&fvm_split_USART2, record, 1)) {
        tagged_spin(&of_vct);
    }
}
#endif

/* All VMs at the same time: then the processor sleeps, too. */
static int is_quiet(uint32_t now) { return (now & 16u) == 0; }

/* For longer than the turn. */
static void compute(void)
{
    uint32_t until = milliseconds() + chance(8);
    while ((int32_t)(milliseconds() - until) < 0) {
        tagged_spin(&of_usr);
        if (chance(4) == 0) {
            call_by_chance(&of_usr);
        }
    }
}

static void sleep(void)
{
    virt_int_mask(VIRT_PRIMASK);
    tagged_spin(&of_usr);
    (void)call(&of_usr, FVM_CALL_VCT_WAIT, FVM_NONE, chance(0), chance(0));
    virt_int_unmask(VIRT_PRIMASK);
}

int main(void)
{
    if (end[KEPT_STARTS]++ == 0) {
        end[KEPT_CHANCE] = TEST_SEED;
    }
    (void)hyp_tick_set(TEST_TICK_HZ);
#ifdef TEST_LINE
    (void)hyp_irq_ena(TEST_LINE);
#endif
#ifdef FVM_SHM_USART2_RING
    (void)hyp_irq_ena(TEST_SPLIT_LINE);
#endif
    for (uint32_t round = 0;; round++) {
        of_usr.fpu = TEST_FPU && round > 4u;
        of_vct.fpu = TEST_FPU && round > 9u && chance(4) == 0;
        if (!is_quiet(milliseconds())) {
            compute();
        }
#ifdef TEST_LINE
        (void)call(&of_usr, FVM_CALL_IRQ_ENA, TEST_LINE, chance(0), chance(0));
#endif
        tagged_spin(&of_usr);
        tagged_resume(&of_usr);
        while (!TEST_HOSTILE && is_quiet(milliseconds())) {
            (void)call(&of_usr, FVM_CALL_VCT_WAIT, FVM_NONE, chance(0), chance(0));
        }
        for (uint32_t n = chance(4); n != 0; n--) {
            sleep();
        }
        if (TEST_HOSTILE && round > 0 && (round == 1u || chance(CRIME_ROUNDS) == 0)) {
            if (chance(3) == 0) {
                crime_due = 1; /* by VCT */
            } else {
                commit_by_chance();
            }
        }
    }
}
