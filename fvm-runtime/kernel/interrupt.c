/* Physical interrupt lines: the default stub and the lines' owners.
 *
 * The stub closes the line, which is right for every level-triggered source without knowing the
 * peripheral, and pends the vector of the owner. The line opens again when the owner says that it
 * served the vector. A line is open exactly when its guest enabled it and no stub closed it.
 * A line of a process has a generated stub of its own (fvm_stubs.c), which sends a signal instead;
 * it is open only while a thread waits for that. If a VM serves the rest of such an interrupt, the
 * VM enables and disables its vector by the line's number, but never the line.
 * While a VM runs, the lines of less urgent VMs are held off as well, so that no stub of theirs
 * disturbs it; what they signal meanwhile stays pending at the NVIC. That is changed by an entry of
 * its own, before the one that switches to the VM.
 */
#include "kernel/kernel.h"
#include "kernel/pend.h"

struct interrupt_lines interrupt_lines;

uint8_t line_of_signal[FVM_AT_LEAST_ONE(FVM_SIGNALS)];

static uint32_t line_bit(uint32_t line) { return 1u << (line % 32u); }

static uint32_t kind_of(const struct fvm_route *route)
{
    return route->kind & ~FVM_ROUTE_TRANSPARENT;
}

#if FVM_HELD_WORDS != 0
static uint32_t held[FVM_VCPUS][LINE_WORDS]; /* while this vCPU runs */
static const uint32_t nothing[LINE_WORDS];
const uint32_t *interrupt_holding;

static void hold_init(void)
{
    for (uint32_t i = 0; i < FVM_VCPUS; i++) {
        vcpu_table[i].held = held[i];
    }
    for (uint32_t line = 0; line < FVM_IRQS; line++) {
        const struct fvm_route *route = &fvm_irq_route[line];
        for (uint32_t i = 0; kind_of(route) == FVM_ROUTE_VCPU && i < FVM_VCPUS; i++) {
            if (fvm_vcpu[route->target].priority < fvm_vcpu[i].priority) {
                held[i][line / 32u] |= line_bit(line);
            }
        }
    }
}

bool interrupt_hold(const struct thread *next)
{
    const struct vcpu *vcpu = next->vcpu;
    const uint32_t *now = vcpu == NULL ? NULL : vcpu->held;
    if (next->rank > RANK_VCPU || now == interrupt_holding) {
        return false;
    }
    interrupt_holding = now;
    now = now == NULL ? nothing : now;
#pragma GCC unroll 8
    for (uint32_t word = 0; word < LINE_WORDS; word++) {
        if ((FVM_HELD_WORDS >> word & 1u) != 0) {
            line_arch_mask(word, now[word],
                           interrupt_lines.enabled[word] & ~interrupt_lines.closed[word] &
                               ~now[word]);
        }
    }
    return true;
}
#else
static void hold_init(void) {}
#endif

void interrupt_init(void)
{
    hold_init();
    if (FVM_PROCESS_LINES == 0) {
        return;
    }
    __builtin_memset(line_of_signal, FVM_NO_INDEX, sizeof line_of_signal);
    for (uint32_t line = 0; line < FVM_IRQS; line++) {
        if (kind_of(&fvm_irq_route[line]) == FVM_ROUTE_SIGNAL) {
            line_of_signal[fvm_irq_route[line].target] = (uint8_t)line;
        }
    }
}

void interrupt_dispatch(uint32_t line)
{
    const struct fvm_route *route = &fvm_irq_route[line];
    line_arch_close(line);
    if (FVM_VM_LINES == 0 || kind_of(route) != FVM_ROUTE_VCPU) {
        return; /* nobody's: it stays closed */
    }
    interrupt_lines.closed[line / 32u] |= line_bit(line);
    struct vcpu *vcpu = &vcpu_table[route->target];
    FVM_ONCE(vcpu);
    bool at_once = pend_vector(vcpu, route->virt_id, (route->kind & FVM_ROUTE_TRANSPARENT) != 0);
    const struct vcpu *interrupted = vcpu_of_thread(cpu.current);
    if (!at_once && interrupted != NULL && interrupted != vcpu) {
        scheduler_charge_stub(vcpu);
    }
}

/* Only the route that the description has. Registered is it by the line's number. */
int32_t interrupt_route(struct vcpu *vcpu, uint32_t line, uint32_t virt_id, uint8_t **right)
{
    if (line >= FVM_IRQS) {
        return FVM_E_ARGUMENT;
    }
    const struct fvm_route *route = &fvm_irq_route[line];
    if (FVM_VM_LINES == 0 || kind_of(route) != FVM_ROUTE_VCPU || route->target != vcpu->index ||
        route->virt_id != virt_id) {
        return FVM_E_OWNER;
    }
    *right = &vcpu->line[virt_id];
    return FVM_OK;
}

int32_t interrupt_enable(struct vcpu *vcpu, uint32_t line, bool enable)
{
    if (line >= FVM_IRQS) {
        return FVM_E_ARGUMENT;
    }
    const struct fvm_route *route = &fvm_irq_route[line];
    if (FVM_PROCESS_LINES != 0 && kind_of(route) == FVM_ROUTE_SIGNAL) {
        return route->bottom != FVM_NO_INDEX && &vcpu_table[route->bottom] == vcpu ? route->virt_id
                                                                                   : FVM_E_OWNER;
    }
    if (FVM_VM_LINES == 0 || &vcpu_table[route->target] != vcpu ||
        vcpu->line[route->virt_id] != line) {
        return FVM_E_OWNER; /* foreign, or not registered yet */
    }
    uint32_t word = line / 32u, bit = line_bit(line);
    if (enable) {
        interrupt_lines.enabled[word] |= bit;
        if ((interrupt_lines.closed[word] & bit) == 0) {
            line_arch_open(line);
        }
    } else {
        interrupt_lines.enabled[word] &= ~bit;
        line_arch_close(line);
    }
    return route->virt_id;
}

/* The line was served. While the stub left it asserted it became pending once more: that is
 * forgotten, unless it still is asserted. */
void interrupt_reopen(uint32_t line)
{
    uint32_t word = line / 32u, bit = line_bit(line);
    interrupt_lines.closed[word] &= ~bit;
    line_arch_clear(line);
    if ((interrupt_lines.enabled[word] & bit) != 0) {
        line_arch_open(line);
    }
}

/* The owner restarts: closed until it registers and enables the line again. */
void interrupt_drop(uint32_t line)
{
    interrupt_lines.enabled[line / 32u] &= ~line_bit(line);
    interrupt_lines.closed[line / 32u] &= ~line_bit(line);
    line_arch_close(line);
    line_arch_clear(line);
}

/* A thread waits for the signal: what it did about the last interrupt is done. */
void interrupt_await(uint32_t signal)
{
    if (FVM_PROCESS_LINES != 0) {
        uint32_t line = line_of_signal[signal];
        if (line != FVM_NO_INDEX) {
            line_arch_clear(line);
            line_arch_open(line);
        }
    }
}

/* The process restarts: closed until it waits again. */
void interrupt_leave(uint32_t signal)
{
    if (FVM_PROCESS_LINES != 0 && line_of_signal[signal] != FVM_NO_INDEX) {
        line_arch_close(line_of_signal[signal]);
        line_arch_clear(line_of_signal[signal]);
    }
}
