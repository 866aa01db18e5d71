/* Rule 9 and the refusals: what belongs to somebody else, what is frozen, what comes back by a
 * reboot. The start-up code's calls are wrapped, so that things can be tried before they register
 * anything. Results are FVM_OK or FVM_E_*, printed as they are. */
#include <fvm/guest.h>
#include <fvm/trap.h>

#include "fvm_domain.h"
#include "report.h"

#define OWN_LINE 37u
#define PEERS_LINE 38u
#define NOBODYS_LINE 39u
#define PORT_A 0u
#define PORT_B 1u
#define OWN_PIN (1u << 5)
#define PEERS_PIN (1u << 6)

int __real_hyp_vct_phys(uint32_t phys_id, uint32_t virt_id);
int __real_hyp_evt_add(uint32_t evt_id);
int __real_hyp_vct_evt(uint32_t evt_id, uint32_t virt_id);

static volatile uint32_t ticks, events, from_vct;
static volatile uint32_t vct_calls_refused, vct_calls_not_refused;
static uint32_t boot;
static int before_phys, before_add, foreign_add, foreign_phys;

int __wrap_hyp_vct_phys(uint32_t phys_id, uint32_t virt_id)
{
    before_phys = hyp_irq_ena((int32_t)phys_id);
    foreign_phys = __real_hyp_vct_phys(PEERS_LINE, virt_id);
    return __real_hyp_vct_phys(phys_id, virt_id);
}

int __wrap_hyp_evt_add(uint32_t evt_id)
{
    before_add = hyp_evt_snd(evt_id);
    foreign_add = __real_hyp_evt_add(FVM_EVT_TO_OWNER);
    return __real_hyp_evt_add(evt_id);
}

/* Leaves the peer time to send to a VM that isn't ready. */
int __wrap_hyp_vct_evt(uint32_t evt_id, uint32_t virt_id)
{
    uint32_t start = virt_cycles();
    while (virt_cycles() - start < 20u * (FVM_CLOCK_HZ / 1000u)) {
    }
    return __real_hyp_vct_evt(evt_id, virt_id);
}

void line_handler(void) {}
void event_handler(void) { events++; }

/* The calls that only USR may make, from VCT. */
static void call_from_vct(void)
{
    static const uint32_t number[] = {FVM_CALL_VCT_PHYS, FVM_CALL_VCT_EVT, FVM_CALL_EVT_ADD,
                                      FVM_CALL_VCT_LCK, FVM_CALL_RESUME};
    for (uint32_t i = 0; i < sizeof number / sizeof number[0]; i++) {
        if (fvm_trap3(number[i], 0, 0, 0) == FVM_E_CALL) {
            vct_calls_refused++;
        } else {
            vct_calls_not_refused++;
        }
    }
}

void tick_handler(void)
{
    ticks++;
    if (from_vct != 0) {
        from_vct = 0;
        call_from_vct();
    }
}

static void foreign(void)
{
    report("foreign.line_enable", hyp_irq_ena(PEERS_LINE));
    report("foreign.line_disable", hyp_irq_dis(PEERS_LINE));
    report("foreign.line_bind", hyp_vct_phys(PEERS_LINE, FVM_VIRT_USART1));
    report("foreign.event_bind", hyp_vct_evt(FVM_EVT_TO_PEER, FVM_VIRT_TO_OWNER));
    report("foreign.event_add", hyp_evt_add(FVM_EVT_TO_OWNER));
    report("foreign.event_send", hyp_evt_snd(FVM_EVT_TO_OWNER));
    report("foreign.pin", hyp_pin_set(PORT_A, PEERS_PIN, PEERS_PIN));
    report("foreign.own_and_other_pin", hyp_pin_set(PORT_A, OWN_PIN | PEERS_PIN, 0));
    report("foreign.port", hyp_pin_set(PORT_B, OWN_PIN, OWN_PIN));
    report("foreign.port_read", hyp_pin_get(PORT_B));
    report("foreign.port_latch", hyp_pin_latch(PORT_B));
    report("nobodys.line_enable", hyp_irq_ena(NOBODYS_LINE));
    report("nobodys.line_bind", hyp_vct_phys(NOBODYS_LINE, FVM_VIRT_USART1));
    report("foreign.event_of_a_process", hyp_evt_snd(2));
}

static void out_of_range(void)
{
    report("range.line_200", hyp_irq_ena(200));
    report("range.line_-1", hyp_irq_ena(-1));
    report("range.event", hyp_evt_snd(0x7FFFFFFF));
    report("range.pin_levels", fvm_trap3(FVM_CALL_PIN_GET, PORT_A, 2, 0));
    report("range.done", hyp_irq_done(FVM_VECTORS_MAX));
    report("range.done_-1", hyp_irq_done(0xFFFFFFFFu));
    report("range.done_no_line", hyp_irq_done(FVM_VIRT_SVC));
}

static void locked(void)
{
    report("locked.line", hyp_vct_phys(OWN_LINE, FVM_VIRT_USART1));
    report("locked.event_bind", hyp_vct_evt(FVM_EVT_TO_OWNER, FVM_VIRT_TO_OWNER));
    report("locked.event_add", hyp_evt_add(FVM_EVT_TO_PEER));
    report("locked.lock", hyp_vct_lck());
}

static void allowed(void)
{
    report("allowed.line", hyp_irq_ena(OWN_LINE));
    report("allowed.event", hyp_evt_snd(FVM_EVT_TO_PEER));
    report("allowed.pin_high", hyp_pin_set(PORT_A, OWN_PIN, OWN_PIN));
    report("allowed.pin_low", hyp_pin_set(PORT_A, OWN_PIN, 0));
    report("allowed.pin_read", hyp_pin_get(PORT_A)); /* QEMU's ports read as 0 */
    report("allowed.pin_latch", hyp_pin_latch(PORT_A));
    report("allowed.pin_both", hyp_pin_write(PORT_A, OWN_PIN << 16 | OWN_PIN)); /* set wins */
    report("allowed.pin_reset", hyp_pin_write(PORT_A, OWN_PIN << 16));
    report("allowed.pin_toggle", hyp_pin_toggle(PORT_A, OWN_PIN)); /* from 0 */
}

/* Numbers that no VM may use, with arguments that would do harm. */
static void wild(void)
{
    static const uint32_t far[] = {0x100u,      0xFFFFu,     0x10000u,
                                   0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu};
    int32_t other = 0;
    for (uint32_t number = 0; number < 256u; number++) {
        int is_call = number <= FVM_CALL_PIN_GET ||
                      (number >= FVM_CALL_HYPERVISOR && number <= FVM_CALL_REBOOT);
        other += !is_call && fvm_trap3(number, number, 0xFFFFFFFFu, 0) != FVM_E_CALL;
    }
    for (uint32_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        other += fvm_trap3(far[i], 0, 0, 0) != FVM_E_CALL;
    }
    report("wild.not_refused", other);
}

static void sleep_ticks(uint32_t count)
{
    for (uint32_t start = ticks; ticks - start < count;) {
        (void)hyp_vct_wait();
    }
}

int main(void)
{
    report_init();
    boot = boots();
    report("boot", (int32_t)boot);
    report("unregistered.line", before_phys);
    report("unregistered.event", before_add);
    report("unlocked.foreign_line", foreign_phys);
    report("unlocked.foreign_event", foreign_add);
    (void)hyp_tick_set(1000);
    foreign();
    out_of_range();
    locked();
    allowed();
    wild();
    from_vct = 1;
    sleep_ticks(50);
    report("vct.refused", (int32_t)vct_calls_refused);
    report("vct.not_refused", (int32_t)vct_calls_not_refused);
    report("got.events", (int32_t)(events > 0));
    if (boot == 1) {
        report_text("rebooting\r\n");
        hyp_reboot();
    }
    report("done", 1);
}
