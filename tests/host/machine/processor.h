/* The processor that the kernel runs on in host tests: exceptions, lines and time, as far as the
 * kernel can tell. What a thread "executes" comes from the driver. */
#ifndef HOST_PROCESSOR_H
#define HOST_PROCESSOR_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "fvm_config.h"

/* Memory of domain n, of its description's size: generated. */
struct host_memory {
    uint32_t *flash, *ram;
    uint32_t flash_size, ram_size;
};
extern const struct host_memory host_memory[FVM_DOMAINS];

/* The stubs of lines that have their own; NULL for all others: generated. */
extern void (*const host_stub[FVM_IRQS])(void);

#define HOST_PORT_SET_RESET 6 /* word of the pins' only port that the generated tables name */
extern uint32_t host_port[8];

extern uint32_t host_psp;    /* of the running thread: the frame that an entry stacked */
extern uint32_t host_loaded; /* domain whose protection table was loaded last */
extern jmp_buf host_started; /* where cpu_arch_start goes */

void processor_power_on(void);
void processor_first_thread(void);

/* What the kernel asks of it, by the files of tests/host/arch. */
void processor_line_open(uint32_t line, bool is_open);
void processor_line_clear(uint32_t line);
void processor_defer(void);

/* Exceptions. Each runs the kernel's entry and returns on the thread that it chose. */
void processor_call(void);
void processor_fault(uint32_t exception, uint32_t status, uint32_t address);
void processor_spend(uint32_t cycles); /* ticks that come meanwhile are taken */

/* An interrupt that arrives right before the first instruction of the next deferred work. */
#define HOST_NO_LINE UINT32_MAX
extern uint32_t host_nested_line;
extern uint32_t host_nested_tick; /* the kernel's time then */

/* An interrupt arrives; it is taken if its line is open. */
void processor_raise(uint32_t line);
bool processor_is_open(uint32_t line);
bool processor_is_pending(uint32_t line);

#endif
