/* The kernel's own objects. Indices are those of the const tables (kernel/tables.h). */
#ifndef FVM_KERNEL_H
#define FVM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fvm/domain_header.h>
#include <fvm/fault.h>
#include <fvm/hypercall.h>
#include <fvm/state.h>

#include "arch/interface/arch.h"
#include "kernel/tables.h"

/* Of the tables, at least one element each, so that an empty subject still is an array. */
#define FVM_AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

/* Not on a path that has to be short: a function of its own, so that its registers and branches
 * cost the others nothing. */
#define FVM_RARE __attribute__((noinline))

/* Keeps the compiler from multiplying an index again for every member it accesses. */
#define FVM_ONCE(pointer) __asm("" : "+r"(pointer))

enum thread_state {
    THREAD_STOPPED, /* faulted or not started: only a restart of its domain revives it */
    THREAD_READY,
    THREAD_WAITING, /* for a signal, an interrupt or a request */
    THREAD_LEAVING, /* a port's, whose call is being broken off */
};

struct signal;
struct vcpu;
struct port;

struct thread {
    struct fvm_usr_reg *context; /* kernel memory; for USR fvm_state.usr_reg of its VM */
    uint32_t return_bits;        /* context_arch_return_bits of its domain */
    const struct fvm_domain *domain;
    struct vcpu *vcpu;     /* NULL for a process */
    struct signal *signal; /* that it waited for last */
    /* Of a process's thread, its place: these three go together from one thread to another. */
    uint32_t bit;     /* in cpu.ready */
    uint8_t rank;     /* the higher one runs; a vCPU's have one too */
    uint8_t priority; /* bit and rank come from it */
    uint16_t none;    /* 0: it goes where the priority does, in one word */
    uint8_t state;
    uint8_t slot;
    uint8_t domain_index;
#if FVM_PORTS > 0
    struct port *port; /* that this thread runs; NULL for all others */
#endif
};

extern struct thread thread_table[FVM_THREADS];

struct cpu {
    struct thread *current;
    struct thread *next; /* the best of the ready ones, once nothing is put off */
    uint32_t charged;    /* timer_arch_count up to which is paid */
    uint32_t ready;      /* threads of processes, a bit a priority */
    struct vcpu *payer;  /* the vCPU whose call made the processes work that run; or NULL */
    struct vcpu *left;   /* the vCPU that ran last */
    uint32_t late;       /* what the scheduler put off */
};
extern struct cpu cpu;
extern struct thread *process_thread[32]; /* by priority, what runs with it */

/* What a wait of VCT or USR and what it waits for have to do with each other. */
enum vcpu_wait {
    WAIT_NONE,
    WAIT_LATCHED, /* it came: the next wait returns at once */
    WAIT_SLEEPS,  /* the thread waits */
};

struct vcpu {
    const struct fvm_vcpu_config *config;
    struct thread *vct, *usr;
    struct fvm_state *state; /* in the VM: store, and read nothing to decide by */
    uint32_t bit;            /* 1 << index */
    int32_t budget;          /* cycles left; negative: debt */
    uint8_t usr_wait;        /* enum vcpu_wait, for a vector to be pended */
    uint8_t vct_wait;        /* for its wake signal */
    bool open;               /* hyp_int_ena */
    uint8_t locked;          /* 1: after hyp_vct_lck */
    bool watched;            /* the watchdog was fed since the start */
    uint8_t index;
    uint16_t tick_owed;
    uint32_t tick_period; /* kernel ticks; 0: no tick */
    uint32_t tick_served, tick_dropped;
    uint32_t fed; /* kernel tick of the last feed */
#if FVM_HELD_WORDS != 0
    const uint32_t *held; /* lines that wait while it runs, LINE_WORDS words */
#endif
    uint8_t line[FVM_VECTORS]; /* physical line of a registered vector, or FVM_NO_INDEX */
};
extern struct vcpu vcpu_table[FVM_AT_LEAST_ONE(FVM_VCPUS)];

/* The vCPU of a thread or a domain, NULL for a process. In a system without VMs the compiler knows
 * that, and leaves out what is for them. */
static inline struct vcpu *vcpu_of_thread(const struct thread *thread)
{
    return FVM_VCPUS == 0 ? NULL : thread->vcpu;
}

static inline struct vcpu *vcpu_of_domain(const struct fvm_domain *domain)
{
    return FVM_VCPUS == 0 || domain->vcpu == FVM_NO_INDEX ? NULL : &vcpu_table[domain->vcpu];
}

struct domain {
    uint32_t restarts; /* the epoch of its rings, too */
    /* Of the fault that is to be recorded, as fault_raise got it; then of its task's name. */
    union {
        uint32_t status;
        uint32_t room; /* bytes that may be read */
    };
    uint32_t address;
    struct thread *faulted; /* NULL: none */
    uint8_t cause;          /* and flags */
    uint8_t state;          /* enum domain_state */
    uint16_t step, steps;   /* of a part of stopping or starting: those that are done, and all */
    uint8_t record;         /* place of its newest record, if that still is its */
    bool held;              /* it faulted, and who decides about it isn't to be asked yet */
};
extern struct domain domain_table[FVM_DOMAINS];

/* --- hypercall.c, syscall.c: what a call's number stands for ---------------------------------- */
/* The frame lies in the caller's memory; what this returns is stored in its first word. */
typedef int32_t kernel_call(struct call_frame *frame, struct thread *caller);
kernel_call no_call; /* FVM_E_CALL, as for numbers beyond the last */
/* By number, for VMs and for processes. */
extern kernel_call *const hypercall_table[FVM_CALLS_OF_VM];
extern kernel_call *const syscall_table[FVM_CALLS];

/* --- scheduler.c: who runs ---------------------------------------------------------------- */
void scheduler_init(void);
void scheduler_wake(struct thread *thread);       /* of a process: WAITING or new -> READY */
void scheduler_wake_later(struct thread *thread); /* the same by a call with no time to switch */
void scheduler_wake_vcpu(struct vcpu *vcpu, struct thread *thread); /* as that, one of the vCPU's */
void scheduler_block(struct thread *thread, uint8_t state);         /* of a process */
void scheduler_block_vcpu(struct vcpu *vcpu, struct thread *thread);
/* These two: not one instruction of it runs any more; who runs instead is seen to at the end of the
 * entry. The hypervisor's fault thread is told then, too. */
void scheduler_halt(struct thread *thread);  /* of a process */
void scheduler_halt_vcpu(struct vcpu *vcpu); /* both its threads */
void scheduler_tell_fault(void);
void scheduler_tick(void);
void scheduler_charge_stub(struct vcpu *target); /* a stub ran for `target` */
/* What processes do is on this vCPU's account from now on, until none is ready; NULL: as it is. */
void scheduler_pay(struct vcpu *vcpu);
int32_t scheduler_replenish(struct vcpu *vcpu, uint32_t cycles);
void scheduler_catch_up(void); /* with what it put off */

/* `by` runs in the place of `thread` and with its priority. */
void scheduler_replace(struct thread *thread, struct thread *by);
void scheduler_give_place(const struct thread *thread, struct thread *to); /* and doesn't run */
void scheduler_look_again(void); /* at who runs, before any thread does */
/* Who runs in the place of a process's thread: itself, or the thread of a port. */
struct thread *scheduler_runs_for(const struct thread *thread);

/* --- invocation.c: ports, by which a thread runs in another domain -------------------------- */
struct port {              /* the architecture's entry knows it */
    struct thread *caller; /* NULL: free; `thread`: closed */
    struct thread *thread; /* that runs in it */
    struct call_entry call;
};
#if FVM_PORTS > 0
extern struct port port_table[FVM_PORTS];
#endif
void invocation_init(void);
/* A port of a domain that starts, as the image's header has it; false: its stack lies outside. */
bool invocation_prepare(const struct fvm_domain *domain, uint32_t number);
/* Steps; false when there is no more to do. */
bool invocation_stop(uint32_t number);        /* a port lets nobody in, and all go */
bool invocation_leave(struct thread *thread); /* it comes home from where it is */
bool invocation_break_off(void);              /* a step of these two; false: none is due */
bool invocation_is_inside(const struct thread *thread); /* it runs in a port */
/* For one in a port: it or its caller is the domain's, or its caller is in a port itself. */
bool invocation_may_be_for(const struct thread *thread, uint32_t domain);
kernel_call invocation_call;

/* A thread that isn't of the description; at first it is stopped. */
bool scheduler_is_free(uint32_t priority);
void scheduler_add(struct thread *thread, uint32_t priority);
void scheduler_remove(struct thread *thread);
/* Moves one thread, or two at once (b may be NULL), to other priorities, before a thread runs
 * again; then the call's result becomes FVM_E_BUSY if somebody else has them. */
int32_t scheduler_move(struct call_frame *frame, struct thread *a, uint32_t to, struct thread *b,
                       uint32_t b_to);

/* --- thread.c: threads of processes, by capability ------------------------------------------ */
kernel_call thread_call;
/* A step; false: it has stopped. It waits for nothing, and is nowhere else. */
bool thread_stop(struct thread *thread);

/* --- slot.c: capabilities of the run time --------------------------------------------------- */
struct slot {
    struct fvm_capability capability; /* FVM_CAP_EMPTY: free; index FVM_NO_INDEX: to `object` */
    uint32_t id;  /* its number, if free that of its next use; used up or closed without
                    FVM_CAP_RUN_TIME */
    void *object; /* in kernel memory, or NULL */
};
static inline void *slot_object(const struct fvm_capability *capability)
{
    return ((const struct slot *)(const void *)capability)->object;
}
void slot_init(void);
const struct fvm_capability *slot_find(const struct fvm_domain *domain, uint32_t number);
/* Of a number: the slot in its domain, above that the generation. No domain has so many slots. */
#define SLOT_MASK 63u
/* Of its first `limit` words. No capability: nobody can name it but to delete it. */
#define SLOT_TAKES 0xFEu /* memory is taken for an object */
#define SLOT_GIVES 0xFFu /* and given back */
/* One of the first `limit`; NULL: none, used up. */
struct slot *slot_at(const struct fvm_domain *domain, uint32_t number, uint32_t limit);
kernel_call slot_call;
/* Steps; false when there is no more to do. */
bool slot_drop(const struct fvm_domain *domain, uint32_t number);
bool slot_stop(const struct fvm_domain *domain, uint32_t number); /* closes it, too */
void slot_open(const struct fvm_domain *domain, uint32_t number);
bool slot_revoke(const struct fvm_capability *capability);

/* --- memory.c: objects of the run time ------------------------------------------------------ */
kernel_call memory_create;
void memory_end(struct slot *slot); /* a step; the slot is SLOT_GIVES in the end */
void memory_give(struct slot *slot);

/* --- vcpu.c: virtual interrupts ----------------------------------------------------------- */
void vcpu_init(void);
#define VCPU_START_STEPS 4u
void vcpu_start(struct vcpu *vcpu, uint32_t step); /* state after boot or restart */
void vcpu_halt(struct vcpu *vcpu); /* neither of its threads runs, nothing wakes them */
void vcpu_drop(struct vcpu *vcpu, uint32_t virt_id); /* the line of a halted one's vector */
void vcpu_pend(struct vcpu *vcpu, uint32_t virt_id, bool transparent);
void vcpu_wake(struct vcpu *vcpu);
void vcpu_wait(struct thread *thread, uint32_t served);
void vcpu_wake_self(struct vcpu *vcpu);
int32_t vcpu_done(struct vcpu *vcpu, uint32_t virt_id); /* the vector was served */
void vcpu_resume(struct vcpu *vcpu, uint32_t stack, uint32_t state);
void vcpu_open(struct vcpu *vcpu, bool open);
int32_t vcpu_tick_set(struct vcpu *vcpu, uint32_t hz);
void vcpu_feed(struct vcpu *vcpu);
uint32_t vcpu_tick(struct vcpu *vcpu); /* these two: ticks until they are due again, 0: never */
uint32_t vcpu_watchdog(struct vcpu *vcpu, uint32_t expiry);

/* --- interrupt.c: physical lines ---------------------------------------------------------- */
#define LINE_WORDS ((FVM_IRQS + 31u) / 32u)
struct interrupt_lines {          /* the architecture's entry knows it; a bit a line */
    uint32_t closed[LINE_WORDS];  /* by the stub */
    uint32_t enabled[LINE_WORDS]; /* by the guest */
};
extern struct interrupt_lines interrupt_lines;
extern uint8_t line_of_signal[FVM_AT_LEAST_ONE(FVM_SIGNALS)]; /* or FVM_NO_INDEX */
void interrupt_init(void);
void interrupt_dispatch(uint32_t line); /* from entry.S */
/* Before a thread of a vCPU runs, or idle: the lines of less urgent vCPUs wait. False: they do. */
#if FVM_HELD_WORDS != 0
extern const uint32_t *interrupt_holding; /* whose `held`; NULL: nobody's */
bool interrupt_hold(const struct thread *next);
#else
static inline bool interrupt_hold(const struct thread *next)
{
    (void)next;
    return false;
}
#endif
/* What may be registered is a byte of the kernel's. FVM_OK, and where it is; not changed yet. */
int32_t interrupt_route(struct vcpu *vcpu, uint32_t line, uint32_t virt_id, uint8_t **right);
int32_t interrupt_enable(struct vcpu *vcpu, uint32_t line, bool enable);
void interrupt_reopen(uint32_t line);
void interrupt_drop(uint32_t line);
void interrupt_await(uint32_t signal);
void interrupt_leave(uint32_t signal);

/* --- event.c ------------------------------------------------------------------------------ */
int32_t event_grant(const struct vcpu *vcpu, uint32_t event, uint8_t **right); /* as above */
int32_t event_bind(const struct vcpu *vcpu, uint32_t event, uint32_t virt_id, uint8_t **right);
int32_t event_send(uint32_t event, uint8_t sender_domain);
int32_t event_deliver(uint32_t event); /* the right to send was checked */
void event_drop(uint32_t domain, uint32_t event);

/* --- signal.c ----------------------------------------------------------------------------- */
void signal_send(uint32_t index);
void signal_send_later(uint32_t index); /* by a call with no time to switch */
int32_t signal_wait(struct thread *thread, uint32_t index);
/* Of those in kernel memory. */
void signal_create(struct signal *signal);
bool signal_dismiss(struct signal *signal); /* whoever waits goes on with FVM_E_CAPABILITY */
void signal_send_to(struct signal *signal);
int32_t signal_wait_for(struct thread *thread, struct signal *signal);
void signal_leave(struct thread *thread); /* a stopped thread waits for nothing */
void signal_drop(uint32_t index);         /* the process that waits for it restarts */
bool signal_status(uint32_t index, uint32_t *delivered, uint32_t *pending);

/* --- request.c: calls served by the hypervisor -------------------------------------------- */
struct request {               /* the architecture's entry knows it */
    struct thread *server;     /* that takes them, or NULL */
    struct vcpu *asking;       /* whose call is being decided on, or NULL */
    uint32_t exhausted;        /* bit: vCPU that is due for the budget of a new round */
    struct call_frame *call;   /* in the memory that was checked on entry */
    uint8_t *right;            /* what it asks for: that this becomes `granted` */
    uint32_t granted;          /* a byte */
    struct call_frame *answer; /* of the server's call while it waits, or NULL; checked as well */
};
extern struct request request;
kernel_call request_line;          /* calls of VMs: for a line, */
kernel_call request_right;         /* and the others */
void request_budget(uint32_t due); /* mask of vCPUs */
int32_t request_next(struct thread *thread, int32_t verdict, struct call_frame *frame);
void request_leave(const struct thread *thread); /* it stops: it serves no more */
void request_drop(const struct vcpu *vcpu);      /* its VM stops: nobody waits for the decision */

/* --- domain.c ----------------------------------------------------------------------------- */
void domain_init(void);
bool domain_may_use_fpu(const struct fvm_domain *domain);
void domain_prepare_thread(struct thread *thread); /* starts where its image says */
/* The domain's thread faulted: nothing of a VM runs from now on, of a process not this thread. */
void domain_halt(struct thread *thread);
/* One bounded step each; FVM_MORE until all is done. */
int32_t domain_stop(uint32_t index);
int32_t domain_restart(uint32_t index);
int32_t domain_start_again(uint32_t index, struct domain *domain); /* a step, once it stopped */
int32_t domain_let_go(uint32_t index); /* its restarts may go on, domain_stop tells who decides */
uint32_t domain_stopped(void);         /* mask */
/* True if [address, address + size) lies in the memory that holds the domain's stacks. */
bool domain_holds(const struct fvm_domain *domain, uint32_t address, uint32_t size);

/* --- fault.c ------------------------------------------------------------------------------ */
/* `cause`: an enum fvm_fault_cause and these flags; USAGE and HARD with a status are what the
 * architecture's fault_arch_cause makes of it. */
#define FAULT_ADDRESS 0x40u  /* `address` is one */
#define FAULT_NO_FRAME 0x80u /* the exception frame was not stored: read nothing from the stack */
void fault_raise(struct thread *thread, uint32_t cause, uint32_t status, uint32_t address);
#define FAULT_NAME_STEPS 8u
#define FAULT_STEPS (6u + FAULT_NAME_STEPS)
bool fault_record(uint32_t index, uint32_t step); /* of the domain's fault, if there was one */
void fault_boot(uint32_t address, uint32_t mask);
int32_t fault_read(uint32_t after, uint32_t from, struct call_frame *frame);
int32_t fault_next(void);
int32_t fault_decided(uint32_t domain_index, uint32_t decision, uint32_t delay);
uint32_t fault_lost(void);

/* --- time.c, pin.c, capability.c ---------------------------------------------------------- */
void time_init(void);
void time_tick(void);     /* from the architecture's timer */
bool time_deferred(void); /* after cpu_arch_defer, from the architecture */
void time_set_tick(const struct vcpu *vcpu, uint32_t period); /* ticks from now */
void time_set_watchdog(const struct vcpu *vcpu, uint32_t from_now);
uint32_t time_ticks(void);
int32_t time_set(uint32_t timer, uint32_t after); /* sends in so many ticks; 0: not */
kernel_call text_put;                             /* a VM's character for the log */
kernel_call text_take;                            /* for who writes the log */
int32_t pin_set(uint8_t domain_index, uint32_t port, uint32_t mask, uint32_t value);
int32_t pin_get(uint8_t domain_index, uint32_t port, uint32_t levels);
const struct fvm_capability *capability_at(const struct fvm_domain *domain, uint32_t number);
const struct fvm_capability *capability_find(const struct thread *thread, uint32_t number,
                                             uint8_t type, uint8_t rights);

#endif
