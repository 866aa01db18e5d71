/* The system as the composer described it: const tables in flash, one array a subject.
 * The composer generates fvm_tables.c (the definitions) and fvm_config.h (the sizes, FVM_*).
 * Nothing here changes at run time; run-time state is in the kernel's own arrays of equal index.
 */
#ifndef FVM_KERNEL_TABLES_H
#define FVM_KERNEL_TABLES_H

#include <stdint.h>

#include "fvm_config.h" /* FVM_DOMAINS FVM_THREADS FVM_VCPUS FVM_SIGNALS FVM_EVENTS FVM_TIMERS
                           FVM_IRQS FVM_BOOT_OPS FVM_PINS FVM_PORTS FVM_FUNCTIONS FVM_TEXTS
                           FVM_THREAD_CALLS FVM_SLOTS FVM_ROOTS FVM_MEMORY_WORDS FVM_RECORDS FVM_CPU_HZ
                           FVM_TICK_HZ FVM_MPU_ENABLE */
#include <fvm/hypercall.h>
#include <fvm/protection.h>

#define FVM_NO_INDEX 0xFFu

enum fvm_capability_type {
    FVM_CAP_EMPTY,
    FVM_CAP_SIGNAL,   /* index into signals */
    FVM_CAP_VCPU,     /* index into vCPUs */
    FVM_CAP_DOMAIN,   /* index into domains */
    FVM_CAP_LOG,      /* the fault log and the counters; index 0; READ, or CONTROL to make room */
    FVM_CAP_EVENT,    /* index into events; right SEND */
    FVM_CAP_TIMER,    /* index into timers */
    FVM_CAP_PORT,     /* index into ports; right INVOKE, for its server CONTROL */
    FVM_CAP_FUNCTION, /* FVM_FUNCTION_* of <fvm/hypercall.h>; right INVOKE */
    FVM_CAP_THREAD,   /* index into threads; START, STOP, CONTROL: its priority, up to `limit` */
    FVM_CAP_TABLE,    /* index into domains: its slots for run-time capabilities; right CONTROL */
    FVM_CAP_MEMORY,   /* index into domains: its kernel memory; CONTROL, threads up to `limit` */
};

struct fvm_capability {
    uint8_t type, rights; /* FVM_RIGHT_* of <fvm/hypercall.h> */
    uint8_t index;
    uint8_t limit; /* highest priority it may give; of a domain: that its threads may have; of a
                      table: how many of its slots, from 0 up, it fills; with
                      right DELEGATE: its number among those */
};

struct fvm_domain {
    char name[24];
    uint32_t flash_base, flash_size; /* bytes; the header is at flash_base */
    uint32_t ram_base, ram_size;     /* bytes; fvm_state is at its start, all stacks are inside */
    const struct fvm_capability *capability;
    uint16_t capability_count;
    uint8_t vcpu;         /* index, or FVM_NO_INDEX for a process */
    uint8_t thread_first; /* index of the thread of header slot 0 */
    uint8_t thread_count;
    uint8_t fault_signal; /* sent when a thread of it faults; FVM_NO_INDEX for the hypervisor, whose
                             faults reset the chip */
    uint8_t port_first;   /* index of its first port */
    uint8_t port_count;
    uint8_t slot_first; /* index of its first slot for run-time capabilities */
    uint8_t slot_count;
    uint16_t memory_first, memory_words; /* its part of the kernel memory for run-time objects */
    struct fvm_protection protection;
};

/* The threads of all domains, then the ports, FVM_PORTS of them: what runs in a port is a thread
 * that takes the place of its caller meanwhile. */
struct fvm_thread_config {
    uint8_t domain;
    uint8_t slot;     /* index in fvm_domain_header.thread; port: FVM_DOMAIN_THREADS and up */
    uint8_t priority; /* processes: unique, 0..31, larger runs first; vCPUs and ports: unused, 0 */
    uint8_t held;     /* 1: it waits for somebody to start it */
};

struct fvm_vcpu_config {
    uint8_t domain;
    uint8_t vct, usr;       /* thread indices */
    uint8_t vectors;        /* number of virtual vectors in use, FVM_VIRT_FIRST..FVM_VECTORS_MAX */
    uint8_t request_signal; /* hypervisor signal: a hypercall waits to be served */
    uint8_t budget_signal;  /* hypervisor signal: the budget is used up */
    uint16_t catchup;       /* most tick periods to catch up */
    uint32_t budget;        /* cycles a round, the first from the start */
    uint32_t watchdog;      /* kernel ticks; 0: none */
    uint32_t peers;         /* bit: vCPU of equal priority, this one too */
    uint8_t priority;       /* larger is more urgent; indices are sorted by it, falling */
    uint8_t text; /* its number, from 1, among those that write into the log; 0: it may not */
};

/* Where an interrupt or event goes. */
#define FVM_ROUTE_NONE 0u
#define FVM_ROUTE_VCPU 1u           /* target: vCPU, virt_id */
#define FVM_ROUTE_SIGNAL 2u         /* target: signal (processes); a line: by its own stub */
#define FVM_ROUTE_TRANSPARENT 0x80u /* or-ed: not held by VIRT_BASEPRI */

struct fvm_route {
    uint8_t kind, target, virt_id;
    uint8_t bottom; /* line of a signal: vCPU whose vector virt_id ends the service, or none */
};

struct fvm_event_config {
    uint8_t sender; /* domain that may send */
    struct fvm_route route;
};

struct fvm_timer_config {
    uint8_t signal;
    uint32_t period; /* kernel ticks; 0: sends only when it was set */
};

/* Clock and pin set-up, run once at boot in this order. */
enum fvm_boot_kind {
    FVM_BOOT_WRITE,  /* *address = value */
    FVM_BOOT_MODIFY, /* *address = (*address & ~mask) | value */
    FVM_BOOT_WAIT,   /* until (*address & mask) == value, at most `limit` reads; then log */
};

struct fvm_boot_op {
    uint32_t kind, address, mask, value, limit;
};

/* A domain's pins of one port. */
struct fvm_pin_grant {
    uint8_t domain, port; /* port 0 = A */
    uint16_t mask;        /* outputs that it may set at run time */
    uint16_t own;         /* pins that it may read: all it has */
    /* Set/reset register (BSRR): set bits low half, reset bits high half. The two words before it
     * are the levels at the pins (IDR) and of the outputs (ODR). */
    uint32_t address;
};

extern const struct fvm_domain fvm_domain[];
extern const struct fvm_thread_config fvm_thread[];
extern const struct fvm_vcpu_config fvm_vcpu[];
extern const struct fvm_route fvm_irq_route[];
extern const struct fvm_event_config fvm_event[];
extern const struct fvm_timer_config fvm_timer[];
extern const struct fvm_boot_op fvm_boot[];
extern const struct fvm_pin_grant fvm_pin[];

#endif
