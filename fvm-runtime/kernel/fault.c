/* The fault and reboot log, and what follows a fault: the domain stops, the hypervisor or the
 * process that decides about it is told. The kernel never runs a faulted domain again by itself.
 *
 * Records are read by their serials, so that each reader has a place of its own and takes nothing
 * from another. A record stays until its room is needed; those that the hypervisor hasn't made room
 * of are kept, but for the newest, which gives way to what happened last. */
#include "kernel/kernel.h"

static struct fvm_fault record[FVM_RECORDS]; /* each in the place of its serial */
_Static_assert((FVM_RECORDS & (FVM_RECORDS - 1u)) == 0, "a place is the end of a serial");
static uint32_t count, lost, serial; /* count: held; serial: of the newest */

static struct fvm_fault *record_of(uint32_t number) { return &record[number % FVM_RECORDS]; }

/* Serials have 31 bits, so that a call can return one. 0 is none: it is left out. */
static uint32_t serial_after(uint32_t number, uint32_t by)
{
    uint32_t next = (number + by) & INT32_MAX;
    return next == 0 ? FVM_RECORDS : next;
}

static bool later(uint32_t one, uint32_t other) { return (int32_t)((one - other) << 1) > 0; }

/* The place of the next record. */
static struct fvm_fault *next_place(void)
{
    return record_of(count == FVM_RECORDS ? serial : serial_after(serial, 1));
}

static void clear(struct fvm_fault *old)
{
    /* Word by word: a call that clears it would take longer. */
    volatile uint32_t *word = (volatile uint32_t *)old;
#pragma GCC unroll 16
    for (uint32_t i = 0; i < sizeof *old / sizeof *word; i++) {
        word[i] = 0;
    }
}

/* In a clear place. */
static void begin_record(struct fvm_fault *fresh, uint8_t domain)
{
    if (count == FVM_RECORDS) {
        lost++; /* the oldest explain most: keep them; the newest is to be decided about */
        serial = serial_after(serial, FVM_RECORDS);
    } else {
        count++;
        serial = serial_after(serial, 1);
    }
    fresh->tick = time_ticks();
    fresh->serial = serial;
    fresh->domain = domain;
}
_Static_assert(FVM_UNDECIDED == 0, "as clear");

/* Where the guest says that the running task's name is. */
static uint32_t task_name_of(const struct fvm_domain *domain, const struct fvm_state *state)
{
    uint32_t task = (uint32_t)state->task_switch.task, offset = state->task_switch.name;
    if (offset == 0 || !domain_holds(domain, task, sizeof(uint32_t))) {
        return (uint32_t)state->task_name;
    }
    return *(const uint32_t *)task + offset;
}

#define NAME_PART (sizeof record->task / FAULT_NAME_STEPS)

/* The guest chose the pointer: only what lies in its own memory is copied. */
static void bound_task_name(struct domain *stopped, const struct fvm_domain *domain)
{
    uint32_t address = stopped->address;
    uint32_t in_ram = address - domain->ram_base, in_flash = address - domain->flash_base;
    stopped->room = in_ram < domain->ram_size       ? domain->ram_size - in_ram
                    : in_flash < domain->flash_size ? domain->flash_size - in_flash
                                                    : 0;
}

static void copy_task_name(const struct domain *stopped, char *name, uint32_t part)
{
    uint32_t i = part * NAME_PART, end = i + NAME_PART;
    if (i != 0 && name[i - 1] == '\0') {
        return; /* it ended before */
    }
    for (; i < end && i < stopped->room; i++) {
        name[i] = ((const char *)stopped->address)[i];
        if (name[i] == '\0') {
            break;
        }
    }
}

static void copy_place(const struct thread *thread, struct fvm_fault *fresh)
{
    uint32_t stack = context_arch_stack(thread->context);
    if (domain_holds(thread->domain, stack, context_arch_frame_size())) {
        context_arch_place(stack, &fresh->pc, &fresh->lr);
        fresh->flags |= FVM_FAULT_PC_VALID;
    }
}

/* Only what is lost otherwise, so that the path is short; fault_record does the rest. Of a row of
 * faults the first is recorded. */
__attribute__((noinline)) void fault_raise(struct thread *thread, uint32_t cause, uint32_t status,
                                           uint32_t address)
{
    if (thread->domain_index == 0) {
        cpu_arch_reset(); /* the hypervisor itself: nobody is left to decide */
    }
    struct domain *domain = &domain_table[thread->domain_index];
    FVM_ONCE(domain);
    if (domain->faulted == NULL) {
        domain->faulted = thread;
        domain->status = status;
        domain->address = address;
        domain->cause = (uint8_t)cause;
    }
    domain_halt(thread);
    scheduler_tell_fault();
}

static void copy_cause(struct domain *domain, struct fvm_fault *fresh)
{
    uint32_t cause = domain->cause;
    fresh->thread = domain->faulted->slot;
    fresh->cause = (uint8_t)(cause & ~(FAULT_ADDRESS | FAULT_NO_FRAME));
    fresh->status = domain->status;
    if ((cause & FAULT_ADDRESS) != 0) {
        fresh->address = domain->address;
        fresh->flags = FVM_FAULT_ADDRESS_VALID;
    }
    fresh->restarts = domain->restarts + 1;
}

/* The newest record, if that of this domain wasn't pushed out by another one's. */
static struct fvm_fault *newest_of(uint32_t index)
{
    struct fvm_fault *newest = &record[domain_table[index].record];
    return newest->serial != 0 && newest->domain == index ? newest : NULL;
}

/* FAULT_STEPS steps, before anything of the domain changes; true: the same once more. */
bool fault_record(uint32_t index, uint32_t step)
{
    struct domain *domain = &domain_table[index];
    if (domain->faulted == NULL) {
        return false; /* stopped without a fault */
    }
    if (step == 0) {
        struct fvm_fault *next = next_place();
        if (next->serial != 0) {
            clear(next); /* of who recorded long ago, or just now for another domain */
            return true;
        }
        begin_record(next, (uint8_t)index);
        domain->record = (uint8_t)(serial % FVM_RECORDS);
        return false;
    }
    struct fvm_fault *fresh = newest_of(index);
    if (fresh == NULL) {
        /* It made room for a newer one. */
    } else if (step >= FAULT_STEPS - FAULT_NAME_STEPS) { /* the longest path comes first */
        if (vcpu_of_domain(&fvm_domain[index]) != NULL) {
            copy_task_name(domain, fresh->task, step - (FAULT_STEPS - FAULT_NAME_STEPS));
        }
    } else if (step == 1) {
        if (domain->status != 0) {
            domain->cause = (uint8_t)fault_arch_cause(domain->cause, domain->status);
        }
    } else if (step == 2) {
        copy_cause(domain, fresh);
    } else if (step == 3) {
        if ((domain->cause & FAULT_NO_FRAME) == 0) {
            copy_place(domain->faulted, fresh);
        }
    } else if (vcpu_of_domain(&fvm_domain[index]) == NULL) {
        /* A process has no tasks. */
    } else if (step == 4) {
        domain->address =
            task_name_of(&fvm_domain[index], vcpu_of_domain(&fvm_domain[index])->state);
    } else {
        bound_task_name(domain, &fvm_domain[index]);
    }
    if (step == FAULT_STEPS - 1) {
        domain->faulted = NULL;
    }
    return false;
}

void fault_boot(uint32_t address, uint32_t mask)
{
    struct fvm_fault *fresh = next_place();
    clear(fresh);
    begin_record(fresh, FVM_NO_INDEX);
    fresh->cause = FVM_FAULT_BOOT;
    fresh->status = mask;
    fresh->address = address;
    fresh->flags = FVM_FAULT_ADDRESS_VALID;
}

/* The oldest record after a serial, or of all after 0. Until each place has its record, serials
 * follow each other from 1 on. From then on the oldest record is in the place behind the newest's,
 * and the one sought is found by halves. */
static const struct fvm_fault *next_after(uint32_t after)
{
    if (serial < FVM_RECORDS) {
        return after < serial ? record_of(after + 1) : NULL;
    }
    uint32_t place = serial + 1;
    if (record_of(place)->serial == 0) {
        place++; /* cleared for the next one */
    }
    if (after == 0) {
        return record_of(place);
    }
#pragma GCC unroll 8
    for (uint32_t half = FVM_RECORDS / 2u; half != 0; half /= 2u) {
        if (!later(record_of(place + half - 1u)->serial, after)) {
            place += half;
        }
    }
    return later(record_of(place)->serial, after) ? record_of(place) : NULL;
}

/* Serial and three words of the oldest record after a serial, or of all; 0 where there is nothing.
 */
int32_t fault_read(uint32_t after, uint32_t from, struct call_frame *frame)
{
    const struct fvm_fault *found = next_after(after);
    if (found == NULL) {
        frame->r[1] = frame->r[2] = frame->r[3] = 0;
        return 0;
    }
    const uint32_t *word = (const uint32_t *)((uintptr_t)found + 4u * from); /* if it has any */
    uint32_t words = from < FVM_FAULT_WORDS ? FVM_FAULT_WORDS - from : 0;
    for (uint32_t i = 0; i < 3; i++) {
        frame->r[1 + i] = i < words ? word[i] : 0;
    }
    return (int32_t)found->serial;
}

/* Noted in the domain's newest record. */
int32_t fault_decided(uint32_t domain_index, uint32_t decision, uint32_t delay)
{
    struct fvm_fault *newest = newest_of(domain_index);
    if (newest == NULL || decision > FVM_STOP) {
        return FVM_E_ARGUMENT;
    }
    newest->decision = (uint8_t)decision;
    newest->delay = delay > UINT16_MAX ? UINT16_MAX : (uint16_t)delay;
    return FVM_OK;
}

int32_t fault_next(void)
{
    if (count != 0) {
        count--;
    }
    return (int32_t)count;
}

uint32_t fault_lost(void) { return lost; }
