/* Physical interrupt lines: the default stub and the lines' owners.
 *
 * The stub closes the line, which is right for every level-triggered source without knowing the
 * peripheral, and pends the vector of the owner. The line opens again when the owner says that it
 * served the vector. A line is open exactly when its guest enabled it and no stub closed it.
 */
#include "kernel/kernel.h"

#define LINE_WORDS ((FVM_IRQS + 31u) / 32u)

static uint32_t enabled[LINE_WORDS]; /* by the guest */
static uint32_t closed[LINE_WORDS];  /* by the stub */

static uint32_t line_bit(uint32_t line) { return 1u << (line % 32u); }

void interrupt_dispatch(uint32_t line)
{
    const struct fvm_route *route = &fvm_irq_route[line];
    uint32_t since = timer_arch_now();
    line_arch_close(line);
    if ((route->kind & ~FVM_ROUTE_TRANSPARENT) != FVM_ROUTE_VCPU) {
        return; /* nobody's: it stays closed */
    }
    closed[line / 32u] |= line_bit(line);
    struct vcpu *vcpu = &vcpu_table[route->target];
    vcpu_pend(vcpu, route->virt_id, (route->kind & FVM_ROUTE_TRANSPARENT) != 0);
    if (vcpu != cpu.current->vcpu) {
        scheduler_charge_stub(vcpu, since);
    }
    scheduler_choose();
}

/* Registers the route that the description has; any other is refused. */
int32_t interrupt_route(struct vcpu *vcpu, uint32_t line, uint32_t virt_id)
{
    if (line >= FVM_IRQS) {
        return FVM_E_ARGUMENT;
    }
    const struct fvm_route *route = &fvm_irq_route[line];
    if ((route->kind & ~FVM_ROUTE_TRANSPARENT) != FVM_ROUTE_VCPU ||
        &vcpu_table[route->target] != vcpu || route->virt_id != virt_id) {
        return FVM_E_OWNER;
    }
    vcpu->line[virt_id] = (uint8_t)line;
    return FVM_OK;
}

int32_t interrupt_enable(struct vcpu *vcpu, uint32_t line, bool enable)
{
    if (line >= FVM_IRQS) {
        return FVM_E_ARGUMENT;
    }
    const struct fvm_route *route = &fvm_irq_route[line];
    if (&vcpu_table[route->target] != vcpu || vcpu->line[route->virt_id] != line) {
        return FVM_E_OWNER; /* foreign, or not registered yet */
    }
    uint32_t word = line / 32u, bit = line_bit(line);
    if (enable) {
        enabled[word] |= bit;
        if ((closed[word] & bit) == 0) {
            line_arch_open(line);
        }
    } else {
        enabled[word] &= ~bit;
        line_arch_close(line);
    }
    return FVM_OK;
}

void interrupt_reopen(uint32_t line)
{
    uint32_t word = line / 32u, bit = line_bit(line);
    closed[word] &= ~bit;
    if ((enabled[word] & bit) != 0) {
        line_arch_open(line);
    }
}

/* The owner restarts: closed until it registers and enables the line again. */
void interrupt_drop(uint32_t line)
{
    enabled[line / 32u] &= ~line_bit(line);
    closed[line / 32u] &= ~line_bit(line);
    line_arch_close(line);
    line_arch_clear(line);
}
