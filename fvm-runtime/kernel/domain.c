/* Domains: memory check, start, stop and restart. A restart is the same path as the first start.
 *
 * Stopping and starting take long, so they go by steps, one a call: whoever restarts a domain is a
 * thread, and an interrupt waits for one step only. Meanwhile nothing of the domain runs: a VM is
 * halted by its fault, and a process by the rank of the thread that restarts it.
 */
#include "kernel/kernel.h"

/* Between running and stopped, what a stop and a start consist of, each of as many steps as
 * steps_of says. Each step is short, and so is what goes on to the next part, which is a step of
 * its own. */
enum domain_state {
    DOMAIN_RUNNING,
    STOP_RECORD, /* that of its fault */
    STOP_PORTS,
    STOP_THREADS,
    STOP_SLOTS,
    STOP_VECTORS,
    STOP_CAPABILITIES, /* what was delegated by them, and sent to them */
    STOP_EVENTS,
    DOMAIN_STOPPED,
    START_CHECK, /* of the image */
    START_PORTS,
#if FVM_SLOTS > 0
    START_SLOTS,
#endif
    START_VCPU,
    START_CONTEXTS,
    START_CAPABILITIES, /* what was sent since the stop; later is as if the threads already ran */
    START_THREADS,
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

static uint32_t steps_of(const struct fvm_domain *domain, uint32_t state)
{
    const struct vcpu *vcpu = vcpu_of_domain(domain);
    switch (state) {
    case STOP_RECORD:
        return FAULT_STEPS;
    case STOP_PORTS:
    case START_PORTS:
        return domain->port_count;
    case STOP_SLOTS:
#if FVM_SLOTS > 0
    case START_SLOTS:
#endif
        return domain->slot_count;
    case STOP_VECTORS:
        return vcpu == NULL ? 0 : vcpu->config->vectors;
    case STOP_CAPABILITIES:
    case START_CAPABILITIES:
        return domain->capability_count;
    case STOP_EVENTS:
        return FVM_EVENTS;
    case START_VCPU:
        return vcpu == NULL ? 0 : VCPU_START_STEPS;
    default:
        return domain->thread_count;
    }
}

/* A VM pays for its stops and starts, whoever sees to them: nobody else's time is lost by it. */
static FVM_RARE void go_on_with(uint32_t index, uint32_t state)
{
    scheduler_pay(vcpu_of_domain(&fvm_domain[index]));
    domain_table[index].state = (uint8_t)state;
    domain_table[index].step = 0;
    domain_table[index].steps = (uint16_t)steps_of(&fvm_domain[index], state);
}

/* A step. FVM_OK: its last thread runs. */
static int32_t start(const struct fvm_domain *domain, uint32_t state, uint32_t step)
{
    switch (state) {
    case START_CHECK:
        return slot_good(domain, step) ? FVM_MORE : FVM_E_ARGUMENT;
    case START_PORTS:
        return invocation_prepare(domain, step) ? FVM_MORE : FVM_E_ARGUMENT;
#if FVM_SLOTS > 0
    case START_SLOTS:
        slot_open(domain, step);
        return FVM_MORE;
#endif
    case START_VCPU:
        vcpu_start(vcpu_of_domain(domain), step);
        return FVM_MORE;
    case START_CONTEXTS:
        domain_prepare_thread(&thread_table[domain->thread_first + step]);
        return FVM_MORE;
    case START_CAPABILITIES:
        drop_capability(&domain->capability[step]);
        return FVM_MORE;
    default: /* START_THREADS */
        start_thread(domain->thread_first + step);
        return step + 1u < domain->thread_count ? FVM_MORE : FVM_OK;
    }
}

static FVM_RARE int32_t start_step(uint32_t index)
{
    struct domain *domain = &domain_table[index];
    FVM_ONCE(domain);
    if (domain->step == domain->steps) {
        go_on_with(index, domain->state + 1u);
        return FVM_MORE;
    }
    int32_t result = start(&fvm_domain[index], domain->state, domain->step++);
    if (result == FVM_OK) {
        domain->state = DOMAIN_RUNNING;
        stopped &= ~(1u << index);
    } else if (result < 0) {
        domain->state = DOMAIN_STOPPED; /* flash doesn't change: it never can start */
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
        go_on_with(i, START_CHECK);
        int32_t result;
        do {
            result = start_step(i);
        } while (result == FVM_MORE);
        if (result != FVM_OK) {
            fault_raise(&thread_table[fvm_domain[i].thread_first],
                        FVM_FAULT_HEADER | FAULT_NO_FRAME, 0, 0);
        }
    }
    cpu.payer = NULL; /* the start of the chip is on nobody's account */
}

static void begin_stop(uint32_t index)
{
    domain_table[index].state = STOP_RECORD;
    domain_table[index].step = 0;
    domain_table[index].steps = FAULT_STEPS;
    stopped |= 1u << index;
}

/* A process decides about its faults. */
static bool is_decided(const struct fvm_domain *domain)
{
    return FVM_DECIDERS > 0 && domain->fault_signal != FVM_FAULT_SIGNAL;
}

void domain_halt(struct thread *thread)
{
    begin_stop(thread->domain_index);
    if (FVM_DECIDERS > 0) {
        domain_table[thread->domain_index].held = is_decided(thread->domain);
    }
    if (vcpu_of_thread(thread) != NULL) {
        vcpu_halt(thread->vcpu);
        cpu.payer = thread->vcpu; /* for what comes of it */
    } else {
        scheduler_halt(thread);
    }
    cpu_arch_forget();
}

/* A step; true: the same once more. */
static bool stop(uint32_t index, uint32_t state, uint32_t step)
{
    const struct fvm_domain *domain = &fvm_domain[index];
    switch (state) {
    case STOP_RECORD:
        return fault_record(index, step);
    case STOP_PORTS:
        return invocation_stop(domain->port_first + step);
    case STOP_THREADS:
        return thread_stop(&thread_table[domain->thread_first + step]);
    case STOP_SLOTS:
        return slot_stop(domain, step);
    case STOP_VECTORS:
        vcpu_drop(vcpu_of_domain(domain), step);
        return false;
    case STOP_CAPABILITIES:
        if (slot_revoke(&domain->capability[step])) {
            return true;
        }
        drop_capability(&domain->capability[step]);
        return false;
    default: /* STOP_EVENTS */
        event_drop(index, step);
        return false;
    }
}

/* All steps were done. What returns then is `end`: at once, for who waits for that may be more
 * urgent. */
static int32_t end_stop(uint32_t index, struct domain *domain, int32_t end)
{
    if (FVM_DECIDERS > 0 && domain->held) {
        return FVM_E_BUSY;
    }
    domain->state = DOMAIN_STOPPED;
    /* Who decides what comes now is told, but not where a restart goes on anyway. */
    if (end == FVM_OK && is_decided(&fvm_domain[index])) {
        signal_send_later(fvm_domain[index].fault_signal);
    }
    return end;
}

/* The longest path, a step, comes first. */
static FVM_RARE int32_t stop_step(uint32_t index, int32_t end)
{
    struct domain *domain = &domain_table[index];
    FVM_ONCE(domain);
    if (domain->state >= STOP_RECORD && domain->state <= STOP_EVENTS) {
        if (domain->step != domain->steps) {
            if (!stop(index, domain->state, domain->step)) {
                domain->step++;
            }
        } else if (domain->state != STOP_EVENTS) {
            go_on_with(index, domain->state + 1u);
        } else {
            return end_stop(index, domain, end);
        }
    } else if (domain->state == DOMAIN_STOPPED) {
        return end;
    } else {
        begin_stop(index);
        if (vcpu_of_domain(&fvm_domain[index]) != NULL) {
            vcpu_halt(vcpu_of_domain(&fvm_domain[index]));
        }
    }
    return FVM_MORE;
}

int32_t domain_stop(uint32_t index) { return stop_step(index, FVM_OK); }

int32_t domain_let_go(uint32_t index)
{
    domain_table[index].held = false;
    scheduler_pay(vcpu_of_domain(&fvm_domain[index]));
    return FVM_OK;
}

/* A function of its own, for those who watch the kernel from outside. */
FVM_RARE int32_t domain_start_again(uint32_t index, struct domain *domain)
{
    if (domain->state == DOMAIN_STOPPED) {
        go_on_with(index, START_CHECK);
        return FVM_MORE;
    }
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
