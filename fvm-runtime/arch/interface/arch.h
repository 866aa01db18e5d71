/* Everything the kernel needs of an architecture. One implementation a folder under arch/; a
 * missing function is a link error. All run in handler mode with every other kernel entry held
 * off, or before the first thread runs. */
#ifndef FVM_ARCH_H
#define FVM_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include <fvm/protection.h>
#include <fvm/usr_reg.h>

struct thread;

/* What a system call brought, and where its results go: the words of the stacked frame. */
struct call_frame {
    uint32_t r[4]; /* arguments in, results out */
    uint32_t number;
};

/* --- processor ------------------------------------------------------------------------ */
void cpu_arch_init(void);            /* fault enables, priorities, FPU policy */
_Noreturn void cpu_arch_start(void); /* leave boot: run the thread the scheduler chose */
_Noreturn void cpu_arch_reset(void); /* restart the whole chip */
void cpu_arch_settle(void);          /* returns when every write so far has reached its register */
void cpu_arch_defer(void);           /* call time_deferred() when nothing else is to be done */
void cpu_arch_forget(void); /* drop exceptions the current thread has pending: it was stopped */

/* --- faults --------------------------------------------------------------------------- */
/* What the processor's status says about a fault it noticed; `cause` as in fault_raise. */
uint32_t fault_arch_cause(uint32_t cause, uint32_t status);

/* --- memory protection ----------------------------------------------------------------- */
/* A switch to a thread of another domain loads that one's table. */
void protection_arch_init(bool enable);
bool protection_arch_active(void);

/* --- interrupt lines -------------------------------------------------------------------- */
void line_arch_open(uint32_t line);
void line_arch_close(uint32_t line);
void line_arch_clear(uint32_t line); /* forget a pending interrupt */
/* Of lines 32 * word and so on, a bit each: closes some and opens others. */
void line_arch_mask(uint32_t word, uint32_t close, uint32_t open);

/* --- time ------------------------------------------------------------------------------- */
void timer_arch_init(void);    /* calls time_tick() FVM_TICK_HZ times a second */
uint32_t timer_arch_now(void); /* processor cycles, wraps */
/* The same for less than a tick, with fewer instructions: a count from the last tick that was
 * handled, which runs down a cycle at a time. */
uint32_t timer_arch_count(void);
/* The cycles since a count, which becomes that up to which they are; at a tick, and else. */
int32_t timer_arch_tick(uint32_t *count);
int32_t timer_arch_spent(uint32_t *count);

/* Cycles of the default stub of a line, from the exception's entry to its return. */
#define TIMER_ARCH_STUB 128u

/* --- contexts --------------------------------------------------------------------------- */
/* Bytes of stack that the first frame of a thread takes. */
uint32_t context_arch_frame_size(void);
/* Makes the context start at entry with the given stack, whose memory the caller has checked.
 * Without fpu the context has room for fvm_usr_core only. */
void context_arch_init(struct fvm_usr_reg *context, uint32_t entry, uint32_t stack);
/* How a function is called in a context, whose stack was checked; in the order in which the
 * architecture loads it. */
struct call_entry {
    uint32_t place;   /* of its first frame */
    uint32_t fourth;  /* argument; the first three come with the call */
    uint32_t word[4]; /* the rest of the frame */
};
void context_arch_prepare(struct call_entry *call, uint32_t entry, uint32_t stack);
/* Makes the context start so. Registers that no argument is in hold what its domain left there. */
void context_arch_call(struct fvm_usr_reg *context, const struct call_entry *call,
                       const uint32_t argument[3]);
/* The value or-ed into what a thread resumes with, so that it resumes unprivileged. */
uint32_t context_arch_return_bits(bool fpu);
/* SP of a thread that isn't running, as saved; untrusted. */
uint32_t context_arch_stack(const struct fvm_usr_reg *context);
/* pc and lr of the frame at `stack`, whose memory the caller has checked. */
void context_arch_place(uint32_t stack, uint32_t *pc, uint32_t *lr);
/* First result word of the frame at `stack`, whose memory the caller has checked. */
void context_arch_result(uint32_t stack, uint32_t result);
/* Both result words. */
void context_arch_results(uint32_t stack, uint32_t first, uint32_t second);
/* The current thread resumes at the frame at `stack` instead of its own; nothing is trusted. */
void context_arch_resume(uint32_t stack, uint32_t state);

#endif
