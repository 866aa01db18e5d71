/* Runs the kernel one step a line of input, and answers each with all that can be seen from
 * outside.
 *
 *   tables              the description's tables, for the model
 *   new                 power on; what follows, up to `end`, is one run in a process of its own
 *   call N A B C D      the running thread makes a system call
 *   store OFFSET BYTES VALUE   it stores into its domain's memory
 *   stack ADDRESS       it moves its stack pointer
 *   fault EXCEPTION STATUS ADDRESS
 *   line N              an interrupt arrives
 *   spend CYCLES LINE   it computes; LINE arrives right before the deferred work of a tick
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/kernel.h"
#include "processor.h"

#define LONGEST_STEP 10u /* seconds: a kernel with a mistake may go round forever */

_Noreturn void kernel_main(void);

static bool in_own_memory(uint32_t address, uint32_t size)
{
    const struct host_memory *memory = &host_memory[cpu.current->domain_index];
    uint32_t offset = address - (uint32_t)memory->ram;
    return offset <= memory->ram_size && size <= memory->ram_size - offset;
}

static void number(uint32_t value) { printf(" %" PRIu32, value); }

/* The four result words of the running thread. */
static void tell_frame(void)
{
    uint32_t frame[4] = {0};
    if (in_own_memory(host_psp, sizeof frame)) {
        memcpy(frame, (const void *)host_psp, sizeof frame);
    }
    for (uint32_t i = 0; i < 4; i++) {
        number(frame[i]);
    }
}

/* At most 32 bytes as one word. */
static void tell_flags(const volatile uint8_t *bytes, uint32_t count)
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < count; i++) {
        word |= (uint32_t)(bytes[i] != 0) << i;
    }
    number(word);
}

static void tell_vcpu(const struct vcpu *vcpu)
{
    const struct fvm_state *state = (const struct fvm_state *)host_memory[vcpu->config->domain].ram;
    number((uint32_t)vcpu->budget);
    number(state->int_ena);
    number(state->int_mask.both);
    number(state->int_pend.any);
    tell_flags(state->pending_group, FVM_VECTORS_MAX / FVM_VECTOR_GROUP);
    tell_flags(state->pending, 32);
    tell_flags(state->pending + 32, 32);
}

/* 32 lines a word. */
static void tell_lines(bool (*is)(uint32_t line))
{
    for (uint32_t first = 0; first < FVM_IRQS; first += 32) {
        uint32_t word = 0;
        for (uint32_t i = 0; i < 32 && first + i < FVM_IRQS; i++) {
            word |= (uint32_t)is(first + i) << i;
        }
        number(word);
    }
}

static void tell_state(void)
{
    printf("state");
    number((uint32_t)(cpu.current - thread_table));
    number(host_loaded);
    number(domain_stopped());
    number(fault_lost());
    number(host_psp);
    tell_frame();
    for (uint32_t i = 0; i < FVM_THREADS; i++) {
        number(thread_table[i].state);
    }
    for (uint32_t i = 0; i < FVM_SIGNALS; i++) {
        uint32_t delivered = 0, pending = 0;
        (void)signal_status(i, &delivered, &pending);
        number(delivered);
        number(pending);
    }
    for (uint32_t i = 0; i < FVM_DOMAINS; i++) {
        number(domain_table[i].restarts);
    }
    for (uint32_t i = 0; i < FVM_VCPUS; i++) {
        tell_vcpu(&vcpu_table[i]);
    }
    tell_lines(processor_is_open);
    tell_lines(processor_is_pending);
    number(host_nested_tick);
    putchar('\n');
}

#define TELL(name) printf("constant " #name " %u\n", (unsigned)FVM_##name)

static void tell_constants(void)
{
    TELL(CAP_SIGNAL);
    TELL(CAP_VCPU);
    TELL(CAP_DOMAIN);
    TELL(CAP_LOG);
    TELL(CAP_EVENT);
    TELL(CAP_TIMER);
    TELL(RIGHT_WAIT);
    TELL(RIGHT_SEND);
    TELL(RIGHT_CONTROL);
    TELL(RIGHT_READ);
}

static void tell_tables(void)
{
    for (uint32_t i = 0; i < FVM_DOMAINS; i++) {
        const struct fvm_domain *domain = &fvm_domain[i];
        printf("domain %u %u %u %u %u %u %u %u %u\n", domain->ram_base, domain->ram_size,
               domain->flash_base, domain->flash_size, domain->vcpu, domain->thread_first,
               domain->thread_count, domain->fault_signal, domain->protection.cpacr != 0);
        for (uint32_t n = 0; n < domain->capability_count; n++) {
            const struct fvm_capability *capability = &domain->capability[n];
            printf("capability %u %u %u %u\n", i, capability->type, capability->rights,
                   capability->index);
        }
    }
    for (uint32_t i = 0; i < FVM_THREADS; i++) {
        printf("thread %u %u %u\n", fvm_thread[i].domain, fvm_thread[i].slot,
               fvm_thread[i].priority);
    }
    for (uint32_t i = 0; i < FVM_VCPUS; i++) {
        const struct fvm_vcpu_config *vcpu = &fvm_vcpu[i];
        printf("vcpu %u %u %u %u %u %u %u %u %u %u\n", vcpu->domain, vcpu->vct, vcpu->usr,
               vcpu->vectors, vcpu->request_signal, vcpu->budget_signal, vcpu->catchup,
               vcpu->budget, vcpu->watchdog, vcpu->text);
    }
    for (uint32_t i = 0; i < FVM_IRQS; i++) {
        const struct fvm_route *route = &fvm_irq_route[i];
        printf("route %u %u %u %u\n", route->kind, route->target, route->virt_id, route->bottom);
    }
    for (uint32_t i = 0; i < FVM_EVENTS; i++) {
        const struct fvm_event_config *event = &fvm_event[i];
        printf("event %u %u %u %u\n", event->sender, event->route.kind, event->route.target,
               event->route.virt_id);
    }
    for (uint32_t i = 0; i < FVM_TIMERS; i++) {
        printf("timer %u %u\n", fvm_timer[i].signal, fvm_timer[i].period);
    }
    for (uint32_t i = 0; i < FVM_PINS; i++) {
        printf("pin %u %u %u %u\n", fvm_pin[i].domain, fvm_pin[i].port, fvm_pin[i].mask,
               fvm_pin[i].own);
    }
    printf("size %u %u %u %u\n", FVM_SIGNALS, FVM_CPU_HZ, FVM_TICK_HZ, FVM_FAULT_SIGNAL);
    tell_constants();
    printf("offset mask %zu\n", offsetof(struct fvm_state, int_mask));
    printf("offset pend %zu\n", offsetof(struct fvm_state, int_pend));
    printf("offset task_name %zu\n", offsetof(struct fvm_state, task_name));
    printf("offset switch_task %zu\n", offsetof(struct fvm_state, task_switch.task));
    printf("offset switch_name %zu\n", offsetof(struct fvm_state, task_switch.name));
    printf("offset usr_return %zu\n", offsetof(struct fvm_state, usr_reg.Reg.LR));
    printf("offset usr_stack %zu\n", offsetof(struct fvm_state, usr_reg.Reg.SP));
    printf("offset pending_group %zu\n", offsetof(struct fvm_state, pending_group));
    printf("offset pending %zu\n", offsetof(struct fvm_state, pending));
    puts("end");
}

static void call(const uint32_t *word)
{
    if (in_own_memory(host_psp, 32)) {
        uint32_t frame[8] = {word[1], word[2], word[3], word[4], word[0], 0, 0x1000, 1u << 24};
        memcpy((void *)host_psp, frame, sizeof frame);
    }
    processor_call();
}

static void store(const uint32_t *word)
{
    uint32_t address = (uint32_t)host_memory[cpu.current->domain_index].ram + word[0];
    if (in_own_memory(address, word[1]) && word[1] <= sizeof word[2]) {
        memcpy((void *)address, &word[2], word[1]);
    }
}

static bool step(const char *name, const uint32_t *word)
{
    if (strcmp(name, "call") == 0) {
        call(word);
    } else if (strcmp(name, "store") == 0) {
        store(word);
    } else if (strcmp(name, "stack") == 0) {
        host_psp = word[0] & ~3u;
    } else if (strcmp(name, "fault") == 0) {
        processor_fault(word[0], word[1], word[2]);
    } else if (strcmp(name, "line") == 0) {
        processor_raise(word[0]);
    } else if (strcmp(name, "spend") == 0) {
        host_nested_line = word[1] < FVM_IRQS ? word[1] : HOST_NO_LINE;
        host_nested_tick = 0;
        processor_spend(word[0]);
        host_nested_line = HOST_NO_LINE;
    } else {
        return false;
    }
    return true;
}

/* One run, from power-on to `end`. */
static _Noreturn void run(void)
{
    char line[128], name[16];
    processor_power_on();
    if (setjmp(host_started) == 0) {
        kernel_main();
    }
    processor_first_thread();
    tell_state();
    while (fflush(stdout) == 0 && fgets(line, sizeof line, stdin) != NULL) {
        uint32_t word[5] = {0};
        alarm(LONGEST_STEP);
        int words = sscanf(line, "%15s %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32,
                           name, &word[0], &word[1], &word[2], &word[3], &word[4]);
        if (words < 1 || !step(name, word)) {
            break;
        }
        tell_state();
    }
    puts("over");
    exit(0);
}

int main(void)
{
    char line[128];
    while (fgets(line, sizeof line, stdin) != NULL) {
        int status;
        if (strcmp(line, "tables\n") == 0) {
            tell_tables();
        } else if (fork() == 0) {
            run();
        } else if (wait(&status) == -1 || status != 0) {
            puts("died");
        }
        fflush(stdout);
    }
    return 0;
}
