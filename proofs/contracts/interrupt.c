/* Lines: a VM registers and switches those that the description gives it, and no others. */
#include "well_formed.h"

/*@ assigns \nothing; */
void line_arch_close(uint32_t line);
/*@ assigns \nothing; */
void line_arch_open(uint32_t line);

/*@ assigns \nothing;
    ensures \result == (1 << (line % 32)); */
static uint32_t line_bit(uint32_t line);

/*@ requires \valid_read(route);
    assigns \nothing;
    ensures \result == KIND(*route); */
static uint32_t kind_of(const struct fvm_route *route);

/*@ requires routes_good && vcpu_good(vcpu) && \valid(right) && \separated(right, vcpu);
    assigns *right;
    ensures described: \result == FVM_OK ==>
        line < FVM_IRQS && KIND(fvm_irq_route[line]) == FVM_ROUTE_VCPU &&
        vcpu == &vcpu_table[fvm_irq_route[line].target] && virt_id == fvm_irq_route[line].virt_id &&
        *right == &vcpu->line[virt_id];
*/
int32_t interrupt_route(struct vcpu *vcpu, uint32_t line, uint32_t virt_id, uint8_t **right);

/*@ requires routes_good && vcpu_good(vcpu);
    assigns interrupt_lines.enabled[0 .. LINE_WORDS - 1];
    ensures own: \result >= 0 ==> line < FVM_IRQS && \result == fvm_irq_route[line].virt_id &&
        (vcpu == &vcpu_table[fvm_irq_route[line].target] &&
             vcpu->line[fvm_irq_route[line].virt_id] == line ||
         KIND(fvm_irq_route[line]) == FVM_ROUTE_SIGNAL && fvm_irq_route[line].bottom < FVM_VCPUS &&
             vcpu == &vcpu_table[fvm_irq_route[line].bottom]);
    ensures refused: \result < 0 ==>
        \forall integer i; 0 <= i < LINE_WORDS ==>
            interrupt_lines.enabled[i] == \old(interrupt_lines.enabled[i]);
    ensures others: \forall integer i; 0 <= i < LINE_WORDS && i != line / 32 ==>
        interrupt_lines.enabled[i] == \old(interrupt_lines.enabled[i]);
    ensures the_process_keeps_its_line: line < FVM_IRQS &&
        KIND(fvm_irq_route[line]) == FVM_ROUTE_SIGNAL ==>
        \forall integer i; 0 <= i < LINE_WORDS ==>
            interrupt_lines.enabled[i] == \old(interrupt_lines.enabled[i]);
*/
int32_t interrupt_enable(struct vcpu *vcpu, uint32_t line, bool enable);

#include "kernel/interrupt.c"
