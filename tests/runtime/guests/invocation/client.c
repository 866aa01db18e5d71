/* Invokes rightly and wrongly, and says what came of it. */
#include <fvm/native.h>

#include "board.h"
#include "../report.h"

#define LEFT_OVER 0x5E4Eu /* high halves of what the server and this file put into registers */
#define OWN 0xCA11u

void invoke_registers(uint32_t cap, uint32_t *seen, uint32_t with_fpu); /* registers.S */

static uint32_t seen[13 + 32];

static void wait(uint32_t ticks)
{
    while (ticks-- > 0) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
    }
}

static int32_t status_of(uint32_t cap)
{
    uint32_t result;
    return fvm_invoke(cap, 0, 0, 0, &result);
}

static int32_t of(const volatile uint32_t *words, uint32_t count, uint32_t high)
{
    int32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        found += words[i] >> 16 == high;
    }
    return found;
}

static void registers(const char *leaked, const char *kept, uint32_t with_fpu)
{
    invoke_registers(FVM_CAP_REGISTERS, seen, with_fpu);
    report(leaked, of(BOARD->seen, 13 + 32, OWN) + of(seen, 13 + 32, LEFT_OVER));
    report(kept, of(seen, 13 + 32, OWN));
}

static void plain(void)
{
    uint32_t result = 0;
    report("plain.status", fvm_invoke(FVM_CAP_SUM, 1, 20, 300, &result));
    report("plain.sum", (int32_t)result);
    registers("registers.leaked_without_fpu", "registers.kept_without_fpu", 0);
    report("registers.arguments",
           BOARD->seen[0] == 11 && BOARD->seen[1] == 22 && BOARD->seen[2] == 33);
    registers("registers.leaked_with_fpu", "registers.kept_with_fpu", 1);
    report("registers.of_call",
           seen[0] == FVM_OK && seen[1] == 99 && seen[2] == 22 && seen[3] == 33);
    report("nested.status", fvm_invoke(FVM_CAP_PASSED_ON, 0, 5, 6, &result));
    report("nested.sum", (int32_t)result);
}

/* Every number but those of its own, in calls on ports. */
static void refusals(void)
{
    int32_t other = 0;
    for (uint32_t cap = FVM_CAP_TICK + 1u; cap < 300u; cap++) {
        if (cap < FVM_CAP_SUM || cap > FVM_CAP_NEVER) {
            other += status_of(cap) != FVM_E_CAPABILITY;
        }
        other += fvm_port_open(cap) != FVM_E_CAPABILITY;
    }
    other += status_of(0x10000u + FVM_CAP_SUM) != FVM_E_CAPABILITY;
    other += status_of(0xFFFFFFFFu) != FVM_E_CAPABILITY;
    report("refused.others", other);
    report("refused.wrong_type", status_of(FVM_CAP_TICK));
    report("refused.return", fvm_call(FVM_CALL_INVOKE_RETURN, 1, 2, 3, 4).r0);
    report("refused.never_opened", status_of(FVM_CAP_NEVER));
    report("refused.busy", status_of(FVM_CAP_SLOW));
}

static void faults(void)
{
    uint32_t result, before = BOARD->fault;
    report("fault.status", fvm_invoke(FVM_CAP_FAULT, 0x20000000u, 0, 0, &result));
    report("fault.closed", status_of(FVM_CAP_SUM));
    wait(10);
    report("fault.again", fvm_invoke(FVM_CAP_SUM, 1, 1, 1, &result));
    report("fault.starts", (int32_t)BOARD->server_starts);
    report("fault.inside_meanwhile", (int32_t)(BOARD->fault - before));
    report("fault.nested", fvm_invoke(FVM_CAP_PASSED_ON, 1, 0x20000000u, 0, &result));
    report("fault.nested_result", (int32_t)result);
    wait(10);
}

/* A caller that restarts inside; then a server that does so with the caller inside. */
static void restarts(void)
{
    uint32_t before = BOARD->ok;
    BOARD->trap_frail = 1;
    wait(50);
    report("caller_restart.starts", (int32_t)BOARD->frail_starts);
    report("caller_restart.went_on", BOARD->ok > before);
    report("caller_restart.broken", (int32_t)(BOARD->last & 0xFFu));
    report("caller_restart.result", (int32_t)(BOARD->last >> 16));
    before = BOARD->fault;
    BOARD->trap_server = 1;
    wait(50);
    report("server_restart.starts", (int32_t)BOARD->server_starts);
    report("server_restart.told", (int32_t)(BOARD->fault - before));
    report("server_restart.broken", (int32_t)(BOARD->last & 0xFFu));
    report("server_restart.result", (int32_t)(BOARD->last >> 16));
    report("server_restart.other", (int32_t)BOARD->other);
}

/* One in the middle of a chain restarts. */
static void chain(void)
{
    BOARD->by_relay = 1;
    wait(30);
    uint32_t ok = BOARD->ok, told = BOARD->fault;
    BOARD->trap_relay = 1;
    wait(5);
    BOARD->by_relay = 0;
    report("chain.starts", (int32_t)BOARD->relay_starts);
    report("chain.told", (int32_t)(BOARD->fault - told));
    wait(40);
    report("chain.went_on", BOARD->ok > ok);
    report("chain.broken", (int32_t)(BOARD->last & 0xFFu));
    report("chain.other", (int32_t)BOARD->other);
}

int main(void)
{
    report_init();
    report("closed.status", status_of(FVM_CAP_SUM));
    wait(2);
    plain();
    refusals();
    faults();
    restarts();
    chain();
    report("done", 1);
    for (;;) {
        wait(1);
    }
}
