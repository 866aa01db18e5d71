/* Domains: memory check, start, stop and restart. A restart is the same path as the first start.
 *
 * Stopping and starting take long, so they go by steps, one a call: whoever restarts a domain is a
 * thread, and an interrupt waits for one step only. Meanwhile nothing of the domain runs: a VM is
 * halted by its fault, and a process by the rank of the thread that restarts it.
 */
#include "kernel/kernel.h"

enum domain_state {
    DOMAIN_RUNNING,
    DOMAIN_STOPPING, /* domain.step says how far */
    DOMAIN_STOPPED,
    DOMAIN_STARTING, /* the same */
};

struct domain domain_table[FVM_DOMAINS];

/* Of all threads but USR, whose context is in its VM. Without FPU the second half isn't used. */
static struct fvm_usr_reg fpu_context[FVM_AT_LEAST_ONE(FVM_FPU_CONTEXTS)];
static struct fvm_usr_core core_context[FVM_AT_LEAST_ONE(FVM_CORE_CONTEXTS)];

static uint32_t stopped; /* bit: domain */

bool domain_holds(const struct fvm_domain *domain, uint32_t address, uint32_t size)
{
    uint32_t offset = address - domain->ram_base;
    return (address & 3u) == 0 && offset < domain->ram_size && domain->ram_size - offset >= size;
}

bool domain_may_use_fpu(const struct fvm_domain *domain) { return domain->protection.cpacr != 0; }

/* Contexts that are given away. */
struct given {
    uint32_t fpu, core;
};

static void describe_thread(struct thread *thread, const struct fvm_thread_config *config,
                            struct given *given)
{
    const struct fvm_domain *domain = &fvm_domain[config->domain];
    thread->domain = domain;
    thread->domain_index = config->domain;
    thread->slot = config->slot;
    thread->priority = config->priority;
    thread->return_bits = context_arch_return_bits(domain_may_use_fpu(domain));
    thread->vcpu = vcpu_of_domain(domain);
    if (vcpu_of_thread(thread) != NULL && thread == thread->vcpu->usr) {
        thread->context = &thread->vcpu->state->usr_reg;
    } else if (FVM_FPU_CONTEXTS != 0 && domain_may_use_fpu(domain)) {
        thread->context = &fpu_context[given->fpu++];
    } else {
        thread->context = (struct fvm_usr_reg *)&core_context[given->core++];
    }
}

static const struct fvm_domain_header *header_of(const struct fvm_domain *domain)
{
    return (const struct fvm_domain_header *)domain->flash_base;
}

/* The image names entry and stack of each thread; both are checked or harmless. */
static bool slot_good(const struct fvm_domain *domain, uint32_t slot)
{
    const struct fvm_domain_header *header = header_of(domain);
    uint32_t stack = header->thread[slot].stack, size = context_arch_frame_size();
    return header->magic == FVM_DOMAIN_MAGIC && header->version == 1 && (stack & 7u) == 0 &&
           domain_holds(domain, stack - size, size);
}

void domain_prepare_thread(struct thread *thread)
{
    const struct fvm_domain_entry *image = &header_of(thread->domain)->thread[thread->slot];
    context_arch_init(thread->context, image->entry, image->stack);
}

static void start_thread(uint32_t index)
{
    struct thread *thread = &thread_table[index];
    if (fvm_thread[index].held != 0) {
        return;
    }
    if (vcpu_of_thread(thread) == NULL) {
        scheduler_wake(thread);
    } else {
        scheduler_wake_vcpu(thread->vcpu, thread);
    }
}

static void drop_capability(const struct fvm_capability *capability)
{
    if (capability->type == FVM_CAP_SIGNAL && (capability->rights & FVM_RIGHT_WAIT) != 0) {
        signal_drop(capability->index);
    }
}

/* Step by step: checks all slots and ports, drops what was sent since the stop, prepares the vCPU
 * and all threads, starts them. */
static int32_t start(uint32_t index, uint32_t step)
{
    const struct fvm_domain *domain = &fvm_domain[index];
    if (step < domain->thread_count) {
        return slot_good(domain, step) ? FVM_MORE : FVM_E_ARGUMENT;
    }
    step -= domain->thread_count;
    if (step < domain->port_count) {
        return invocation_prepare(domain, step) ? FVM_MORE : FVM_E_ARGUMENT;
    }
    step -= domain->port_count;
    if (step < domain->capability_count) {
        drop_capability(&domain->capability[step]);
        return FVM_MORE;
    }
    step -= domain->capability_count;
    if (vcpu_of_domain(domain) != NULL) {
        if (step < VCPU_START_STEPS) {
            vcpu_start(vcpu_of_domain(domain), step);
            return FVM_MORE;
        }
        step -= VCPU_START_STEPS;
    }
    if (step < domain->thread_count) {
        domain_prepare_thread(&thread_table[domain->thread_first + step]);
        return FVM_MORE;
    }
    step -= domain->thread_count;
    start_thread(domain->thread_first + step);
    return step + 1u < domain->thread_count ? FVM_MORE : FVM_OK;
}

static int32_t start_step(uint32_t index)
{
    struct domain *domain = &domain_table[index];
    int32_t result = start(index, domain->step++);
    if (result == FVM_OK) {
        domain->state = DOMAIN_RUNNING;
        stopped &= ~(1u << index);
    } else if (result < 0) {
        domain->state = DOMAIN_STOPPED; /* flash doesn't change: it never can start */
        domain->step = 0;
    }
    return result;
}

void domain_init(void)
{
    if (FVM_VCPUS != 0) {
        vcpu_init();
    }
    struct given given = {0};
    for (uint32_t i = 0; i < FVM_THREADS; i++) {
        describe_thread(&thread_table[i], &fvm_thread[i], &given);
    }
    invocation_init();
    slot_init();
    scheduler_init();
    for (uint32_t i = 0; i < FVM_DOMAINS; i++) {
        int32_t result;
        do {
            result = start_step(i);
        } while (result == FVM_MORE);
        if (result != FVM_OK) {
            fault_raise(&thread_table[fvm_domain[i].thread_first],
                        FVM_FAULT_HEADER | FAULT_NO_FRAME, 0, 0);
        }
    }
}

static void begin_stop(uint32_t index)
{
    domain_table[index].state = DOMAIN_STOPPING;
    domain_table[index].step = 0;
    stopped |= 1u << index;
}

void domain_halt(struct thread *thread)
{
    begin_stop(thread->domain_index);
    if (vcpu_of_thread(thread) != NULL) {
        vcpu_halt(thread->vcpu);
    } else {
        scheduler_halt(thread);
    }
    cpu_arch_forget();
}

enum stop_step {
    STEP_DONE,
    STEP_AGAIN,
    STEPS_DONE, /* all of them */
};

/* Step by step: the record of its fault, its threads, vectors, signals and events. */
static enum stop_step stop(uint32_t index, uint32_t step)
{
    const struct fvm_domain *domain = &fvm_domain[index];
    if (step < FAULT_STEPS) {
        fault_record(index, step);
        return STEP_DONE;
    }
    step -= FAULT_STEPS;
    if (step < domain->port_count) {
        return invocation_stop(domain->port_first + step) ? STEP_AGAIN : STEP_DONE;
    }
    step -= domain->port_count;
    if (step < domain->thread_count) {
        return thread_stop(&thread_table[domain->thread_first + step]) ? STEP_AGAIN : STEP_DONE;
    }
    step -= domain->thread_count;
    if (step < domain->slot_count) {
        return slot_drop(domain, step) ? STEP_AGAIN : STEP_DONE;
    }
    step -= domain->slot_count;
    struct vcpu *vcpu = vcpu_of_domain(domain);
    if (vcpu != NULL) {
        if (step < vcpu->config->vectors) {
            vcpu_drop(vcpu, step);
            return STEP_DONE;
        }
        step -= vcpu->config->vectors;
    }
    if (step < domain->capability_count) {
        if (slot_revoke(&domain->capability[step])) {
            return STEP_AGAIN;
        }
        drop_capability(&domain->capability[step]);
        return STEP_DONE;
    }
    step -= domain->capability_count;
    if (step < FVM_EVENTS) {
        event_drop(index, step);
        return STEP_DONE;
    }
    return STEPS_DONE;
}

/* What returns once all is done is `end`: at once, for who waits for that may be more urgent. */
static FVM_RARE int32_t stop_step(uint32_t index, int32_t end)
{
    struct domain *domain = &domain_table[index];
    FVM_ONCE(domain);
    if (domain->state != DOMAIN_STOPPING) {
        if (domain->state == DOMAIN_STOPPED) {
            return end;
        }
        begin_stop(index);
        if (vcpu_of_domain(&fvm_domain[index]) != NULL) {
            vcpu_halt(vcpu_of_domain(&fvm_domain[index]));
        }
    }
    switch (stop(index, domain->step)) {
    case STEP_DONE:
        domain->step++;
        break;
    case STEP_AGAIN:
        break;
    case STEPS_DONE:
        domain->state = DOMAIN_STOPPED;
        domain->step = 0;
        /* Who decides what comes now is told, but not where a restart goes on anyway. */
        if (end == FVM_OK && fvm_domain[index].fault_signal != FVM_FAULT_SIGNAL) {
            signal_send_later(fvm_domain[index].fault_signal);
        }
        return end;
    }
    return FVM_MORE;
}

int32_t domain_stop(uint32_t index) { return stop_step(index, FVM_OK); }

/* A function of its own, for those who watch the kernel from outside. */
FVM_RARE int32_t domain_start_again(uint32_t index, struct domain *domain)
{
    domain->state = DOMAIN_STARTING;
    int32_t result = start_step(index);
    if (result == FVM_OK) {
        domain->restarts++;
    }
    return result;
}

int32_t domain_restart(uint32_t index)
{
    struct domain *domain = &domain_table[index];
    FVM_ONCE(domain);
    return domain->state < DOMAIN_STOPPED ? stop_step(index, FVM_MORE)
                                          : domain_start_again(index, domain);
}

uint32_t domain_stopped(void) { return stopped; }
