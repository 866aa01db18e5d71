/* What entry.S, the NVIC and SysTick do between the kernel's C functions. */
#include "processor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

#define SYSTEM_SPACE 0xE000E000u
#define EXC_RETURN_THREAD_PSP_BASIC 0xFFFFFFFDu

uint32_t kernel_exc_return; /* the word that entry.S keeps at the top of the kernel's stack */
uint32_t host_psp;
uint32_t host_loaded;
uint32_t host_nested_line = HOST_NO_LINE;
uint32_t host_nested_tick;
jmp_buf host_started;
uint32_t host_port[8];

/* Of the architecture's C files, as entry.S names them. */
bool fault_entry(uint32_t exception, uint32_t exc_return);
void stray_frame_entry(uint32_t stack);
void timer_entry(void);

#define TICK_CYCLES (FVM_CPU_HZ / FVM_TICK_HZ)

static bool open[FVM_IRQS], pending[FVM_IRQS];
static bool deferred;  /* PendSV is pended */
static uint32_t spent; /* cycles since the last tick */

static uint32_t checked(uint32_t line)
{
    if (line >= FVM_IRQS) {
        fprintf(stderr, "line %u is none of the NVIC\n", line);
        abort();
    }
    return line;
}

void processor_line_open(uint32_t line, bool is_open) { open[checked(line)] = is_open; }

void processor_line_clear(uint32_t line) { pending[checked(line)] = false; }

void processor_defer(void) { deferred = true; }

/* A vCPU runs no longer, or begins to: who ran pays, and who made the process work that did. */
static void charge(const struct thread *previous)
{
    struct vcpu *payer = previous->vcpu;
    uint32_t before = cpu.charged;
    if (payer == NULL) {
        payer = cpu.payer;
        cpu.payer = NULL;
    }
    cpu.charged = SYST_CVR; /* no tick is pending here */
    if (payer != NULL) {
        payer->budget -= (int32_t)(before - cpu.charged);
        if (payer->budget <= 0) {
            cpu.late |= payer->bit;
            deferred = true;
        }
    }
}

/* `enter` of entry.S, from the thread that ran to the one that shall. */
static void enter(const struct thread *previous, bool by_call)
{
    if (previous->domain != cpu.next->domain && previous->vcpu != NULL) {
        cpu.left = previous->vcpu;
        if (by_call && cpu.next->vcpu == NULL && cpu.next->rank != 0) {
            cpu.payer = previous->vcpu;
        }
    }
    if (previous->domain != cpu.next->domain &&
        (previous->vcpu != NULL || cpu.next->vcpu != NULL)) {
        charge(previous);
    }
    struct thread *next = cpu.next;
    if (previous->domain != next->domain) {
        (void)interrupt_hold(next);
        host_loaded = (uint32_t)(next->domain - fvm_domain);
    }
    cpu.current = next;
    host_psp = next->context->Reg.SP & ~3u; /* PSP has no lower bits */
    kernel_exc_return = (next->context->Reg.LR & 0x10u) | next->return_bits;
}

/* `leave` of entry.S, of an entry from a thread. */
static void leave_after(bool call)
{
    if (cpu.current != cpu.next) {
        cpu.current->context->Reg.SP = host_psp;
        cpu.current->context->Reg.LR = kernel_exc_return;
        enter(cpu.current, call);
    }
}

static void leave(void) { leave_after(false); }

static void run_stub(uint32_t line)
{
    uint32_t charged = cpu.charged;
    pending[line] = false;
    if (host_stub[line] != NULL) {
        host_stub[line]();
    } else {
        interrupt_dispatch(line);
    }
    cpu.charged = charged; /* no time passes here, whoever pays for the stub */
}

static void take_lines(void)
{
    for (uint32_t line = 0; line < FVM_IRQS; line++) {
        if (open[line] && pending[line]) {
            run_stub(line);
            leave();
            line = UINT32_MAX; /* from the first line on again: what is open may have changed */
        }
    }
}

/* `deferred_stub` of entry.S. An entry that interrupts it doesn't switch threads: `again`. */
static void run_deferred(void)
{
    deferred = false;
    if (host_nested_line != HOST_NO_LINE) {
        uint32_t line = host_nested_line;
        host_nested_line = HOST_NO_LINE;
        host_nested_tick = time_ticks();
        pending[line] = true;
        if (open[line]) {
            run_stub(line);
            deferred = deferred || cpu.current != cpu.next;
        }
    }
    if (!time_deferred()) {
        leave();
    }
}

/* Whatever is pending is taken before a thread's next instruction. */
static void take_pending(void)
{
    take_lines();
    while (deferred) {
        run_deferred();
        take_lines();
    }
}

static void set_time(uint32_t cycles)
{
    spent = cycles;
    SYST_CVR = TICK_CYCLES - 1u - spent;
}

void processor_power_on(void)
{
    void *space = mmap((void *)SYSTEM_SPACE, 4096, PROT_READ | PROT_WRITE,
                       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (space == MAP_FAILED) {
        perror("the system control space");
        exit(2);
    }
    set_time(0);
    for (uint32_t i = 0; i < FVM_DOMAINS; i++) {
        struct fvm_domain_header *header = (struct fvm_domain_header *)host_memory[i].flash;
        /* The last words are nobody's: hostile stack pointers go there. */
        uint32_t top = (uint32_t)host_memory[i].ram + host_memory[i].ram_size - 64u;
        *header = (struct fvm_domain_header){.magic = FVM_DOMAIN_MAGIC, .version = 1};
        for (uint32_t slot = 0; slot < FVM_DOMAIN_THREADS; slot++) {
            header->thread[slot].entry = (uint32_t)host_memory[i].flash + 0x41u;
            header->thread[slot].stack = top - slot * 256u;
        }
    }
}

void processor_first_thread(void)
{
    set_time(0); /* a cleared counter begins anew */
    cpu.charged = SYST_CVR;
    enter(cpu.current, false);
    take_pending();
}

/* `call_stub` of entry.S, the long ways only. */
void processor_call(void)
{
    const struct fvm_domain *domain = cpu.current->domain;
    if (host_psp - domain->ram_base > domain->ram_size - context_arch_frame_size()) {
        stray_frame_entry(host_psp);
    } else {
        struct call_frame *frame = (struct call_frame *)host_psp;
        bool of_vm = cpu.current->vcpu != NULL;
        kernel_call *const *table = of_vm ? hypercall_table : syscall_table;
        bool known = frame->number < (of_vm ? FVM_CALLS_OF_VM : FVM_CALLS);
        frame->r[0] = (uint32_t)(known ? table[frame->number] : no_call)(frame, cpu.current);
        host_psp &= ~3u; /* after a resume call */
    }
    leave_after(true);
    take_pending();
}

void processor_fault(uint32_t exception, uint32_t status, uint32_t address)
{
    SCB_CFSR = status;
    SCB_MMFAR = address;
    SCB_BFAR = address;
    (void)fault_entry(exception, EXC_RETURN_THREAD_PSP_BASIC);
    leave();
    take_pending();
}

void processor_spend(uint32_t cycles)
{
    while (cycles >= TICK_CYCLES - spent) {
        cycles -= TICK_CYCLES - spent;
        set_time(0);
        timer_entry();
        leave();
        take_pending();
    }
    set_time(spent + cycles);
}

void processor_raise(uint32_t line)
{
    pending[checked(line)] = true;
    take_pending();
}

bool processor_is_open(uint32_t line) { return open[checked(line)]; }

bool processor_is_pending(uint32_t line) { return pending[checked(line)]; }
