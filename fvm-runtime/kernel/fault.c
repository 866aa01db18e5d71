/* The fault and reboot log, and what follows a fault: the domain stops, the hypervisor is told.
 * The kernel never runs a faulted domain again by itself. */
#include "kernel/kernel.h"

#define LOG_RECORDS 8u

static struct fvm_fault record[LOG_RECORDS];
static uint32_t first, count, lost, serial;

static struct fvm_fault *new_record(void)
{
    if (count == LOG_RECORDS) {
        lost++;
        return NULL; /* the oldest explain most: keep them */
    }
    struct fvm_fault *fresh = &record[(first + count++) % LOG_RECORDS];
    *fresh = (struct fvm_fault){.tick = time_ticks(), .serial = ++serial};
    return fresh;
}

/* The guest chose the pointer: copy only what lies in its own memory. */
static void copy_task_name(const struct thread *thread, char *name)
{
    const struct fvm_domain *domain = thread->domain;
    uint32_t address = (uint32_t)thread->vcpu->state->task_name;
    uint32_t in_ram = address - domain->ram_base, in_flash = address - domain->flash_base;
    uint32_t room = in_ram < domain->ram_size       ? domain->ram_size - in_ram
                    : in_flash < domain->flash_size ? domain->flash_size - in_flash
                                                    : 0;
    for (uint32_t i = 0; i < sizeof record->task && i < room; i++) {
        name[i] = ((const char *)address)[i];
        if (name[i] == '\0') {
            break;
        }
    }
}

static void copy_place(const struct thread *thread, struct fvm_fault *fresh)
{
    uint32_t stack =
        thread == cpu.current ? context_arch_current_stack() : context_arch_stack(thread->context);
    if (domain_holds(thread->domain, stack, context_arch_frame_size())) {
        context_arch_place(stack, &fresh->pc, &fresh->lr);
        fresh->flags |= FVM_FAULT_PC_VALID;
    }
}

void fault_raise(struct thread *thread, enum fvm_fault_cause cause,
                 const struct fault_detail *detail)
{
    const struct fvm_domain *domain = thread->domain;
    if (domain->fault_signal == FVM_NO_INDEX) {
        cpu_arch_reset(); /* the hypervisor itself: nobody is left to decide */
    }
    struct fvm_fault *fresh = new_record();
    if (fresh != NULL) {
        fresh->domain = thread->domain_index;
        fresh->thread = thread->slot;
        fresh->cause = (uint8_t)cause;
        fresh->status = detail->status;
        fresh->address = detail->address;
        fresh->flags = detail->address_valid ? FVM_FAULT_ADDRESS_VALID : 0;
        fresh->restarts = domain_table[thread->domain_index].restarts + 1;
        if (!detail->no_frame) {
            copy_place(thread, fresh);
        }
        if (thread->vcpu != NULL) {
            copy_task_name(thread, fresh->task);
        }
    }
    domain_stop(thread->domain_index);
    signal_send(domain->fault_signal);
}

void fault_boot(uint32_t address, uint32_t mask)
{
    struct fvm_fault *fresh = new_record();
    if (fresh != NULL) {
        fresh->domain = FVM_NO_INDEX;
        fresh->cause = FVM_FAULT_BOOT;
        fresh->status = mask;
        fresh->address = address;
        fresh->flags = FVM_FAULT_ADDRESS_VALID;
    }
}

/* Four words of the oldest record; all 0 beyond its end or without a record. */
void fault_read(uint32_t from, struct call_frame *frame)
{
    const uint32_t *word = (const uint32_t *)&record[first];
    for (uint32_t i = 0; i < 4; i++) {
        bool inside = count != 0 && from < FVM_FAULT_WORDS && from + i < FVM_FAULT_WORDS;
        frame->r[i] = inside ? word[from + i] : 0;
    }
}

int32_t fault_next(void)
{
    if (count != 0) {
        first = (first + 1) % LOG_RECORDS;
        count--;
    }
    return (int32_t)count;
}

uint32_t fault_lost(void) { return lost; }
