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
jmp_buf host_started;
uint32_t host_port[8];

/* Of the architecture's C files, as entry.S names them. */
void fault_entry(uint32_t exception, uint32_t exc_return);
void call_entry(uint32_t stack);

static bool open[FVM_IRQS], pending[FVM_IRQS];
static uint32_t now, period, next_tick;

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

void processor_timer(uint32_t cycles) { period = next_tick = cycles; }

uint32_t processor_now(void) { return now; }

/* `enter` of entry.S. */
static void enter(void)
{
    struct thread *next = (struct thread *)(scheduler_switch() & ~1u);
    const struct fvm_usr_reg *context = next->context;
    host_psp = context->Reg.SP;
    kernel_exc_return = (context->Reg.LR & 0x10u) | next->return_bits;
}

/* `leave` of entry.S, and every open line that is pending is taken before a thread runs. */
static void leave(void)
{
    if (cpu.current != cpu.next) {
        cpu.current->context->Reg.SP = host_psp;
        cpu.current->context->Reg.LR = kernel_exc_return;
        enter();
    }
}

static void take_lines(void)
{
    for (uint32_t line = 0; line < FVM_IRQS; line++) {
        if (!open[line] || !pending[line]) {
            continue;
        }
        pending[line] = false;
        if (host_stub[line] != NULL) {
            host_stub[line]();
        } else {
            interrupt_dispatch(line);
        }
        leave();
        line = UINT32_MAX; /* from the first line on again: what is open may have changed */
    }
}

void processor_power_on(void)
{
    void *space = mmap((void *)SYSTEM_SPACE, 4096, PROT_READ | PROT_WRITE,
                       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (space == MAP_FAILED) {
        perror("the system control space");
        exit(2);
    }
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
    enter();
    take_lines();
}

void processor_call(void)
{
    call_entry(host_psp);
    leave();
    take_lines();
}

void processor_fault(uint32_t exception, uint32_t status, uint32_t address)
{
    SCB_CFSR = status;
    SCB_MMFAR = address;
    SCB_BFAR = address;
    fault_entry(exception, EXC_RETURN_THREAD_PSP_BASIC);
    leave();
    take_lines();
}

void processor_spend(uint32_t cycles)
{
    while (cycles >= next_tick - now) {
        cycles -= next_tick - now;
        now = next_tick;
        next_tick += period;
        time_tick();
        leave();
        take_lines();
    }
    now += cycles;
}

void processor_raise(uint32_t line)
{
    pending[checked(line)] = true;
    take_lines();
}

bool processor_is_open(uint32_t line) { return open[checked(line)]; }

bool processor_is_pending(uint32_t line) { return pending[checked(line)]; }
