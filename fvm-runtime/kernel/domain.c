/* Domains: memory check, start, stop and restart. A restart is the same path as the first start. */
#include "kernel/kernel.h"

struct domain domain_table[FVM_DOMAINS];

static struct fvm_usr_reg kernel_context[FVM_THREADS]; /* of all threads but USR */
static uint32_t stopped;                               /* bit: domain */

bool domain_holds(const struct fvm_domain *domain, uint32_t address, uint32_t size)
{
    uint32_t offset = address - domain->ram_base;
    return (address & 3u) == 0 && offset < domain->ram_size && domain->ram_size - offset >= size;
}

static void describe_thread(struct thread *thread, const struct fvm_thread_config *config)
{
    const struct fvm_domain *domain = &fvm_domain[config->domain];
    thread->domain = domain;
    thread->domain_index = config->domain;
    thread->slot = config->slot;
    thread->priority = config->priority;
    thread->fpu = domain->protection.cpacr != 0;
    thread->return_bits = context_arch_return_bits(thread->fpu);
    thread->context = &kernel_context[thread - thread_table];
    if (domain->vcpu != FVM_NO_INDEX) {
        thread->vcpu = &vcpu_table[domain->vcpu];
        if (thread == thread->vcpu->usr) {
            thread->context = &thread->vcpu->state->usr_reg;
        }
    }
}

static const struct fvm_domain_header *header_of(const struct fvm_domain *domain)
{
    return (const struct fvm_domain_header *)domain->flash_base;
}

/* The image names entry and stack of each thread; both are checked or harmless. */
static bool header_good(const struct fvm_domain *domain)
{
    const struct fvm_domain_header *header = header_of(domain);
    if (header->magic != FVM_DOMAIN_MAGIC || header->version != 1) {
        return false;
    }
    for (uint32_t slot = 0; slot < domain->thread_count; slot++) {
        uint32_t stack = header->thread[slot].stack;
        uint32_t size = context_arch_frame_size();
        if ((stack & 7u) != 0 || !domain_holds(domain, stack - size, size)) {
            return false;
        }
    }
    return invocation_good(domain);
}

static void start(uint32_t index)
{
    const struct fvm_domain *domain = &fvm_domain[index];
    struct thread *thread = &thread_table[domain->thread_first];
    if (domain->vcpu != FVM_NO_INDEX) {
        vcpu_start(&vcpu_table[domain->vcpu]);
    }
    for (uint32_t slot = 0; slot < domain->thread_count; slot++, thread++) {
        context_arch_init(thread->context, header_of(domain)->thread[slot].entry,
                          header_of(domain)->thread[slot].stack);
        scheduler_ready(thread);
    }
    invocation_start(domain);
    stopped &= ~(1u << index);
}

void domain_init(void)
{
    vcpu_init();
    for (uint32_t i = 0; i < FVM_THREADS; i++) {
        describe_thread(&thread_table[i], &fvm_thread[i]);
    }
    invocation_init();
    scheduler_init();
    for (uint32_t i = 0; i < FVM_DOMAINS; i++) {
        if (header_good(&fvm_domain[i])) {
            start(i);
        } else {
            fault_raise(&thread_table[fvm_domain[i].thread_first], FVM_FAULT_HEADER,
                        &(struct fault_detail){.no_frame = true});
        }
    }
}

void domain_stop(uint32_t index)
{
    const struct fvm_domain *domain = &fvm_domain[index];
    struct thread *thread = &thread_table[domain->thread_first];
    struct vcpu *vcpu = NULL;
    invocation_stop(index);
    for (uint32_t slot = 0; slot < domain->thread_count; slot++, thread++) {
        signal_leave(thread);
        scheduler_block(thread, THREAD_STOPPED);
    }
    if (domain->vcpu != FVM_NO_INDEX) {
        vcpu = &vcpu_table[domain->vcpu];
        vcpu_stop(vcpu);
    }
    for (uint32_t i = 0; i < domain->capability_count; i++) {
        const struct fvm_capability *capability = &domain->capability[i];
        if (capability->type == FVM_CAP_SIGNAL && (capability->rights & FVM_RIGHT_WAIT) != 0) {
            signal_drop(capability->index);
        }
    }
    event_drop((uint8_t)index, vcpu);
    cpu_arch_forget();
    stopped |= 1u << index;
}

int32_t domain_restart(uint32_t index)
{
    domain_stop(index);
    if (!header_good(&fvm_domain[index])) {
        return FVM_E_ARGUMENT; /* flash doesn't change: it never can start */
    }
    domain_table[index].restarts++;
    domain_table[index].epoch++;
    start(index);
    return FVM_OK;
}

uint32_t domain_stopped(void) { return stopped; }
