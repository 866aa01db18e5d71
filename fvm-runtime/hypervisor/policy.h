/* The hypervisor's policy: which VM may have which line and event, and its budget. The composer
 * generates the tables (hyp_config.c) and their lengths (hyp_config.h).
 */
#ifndef FVM_HYPERVISOR_POLICY_H
#define FVM_HYPERVISOR_POLICY_H

#include <stdint.h>

#include "hyp_config.h"

#define HYP_NO_VCPU 0xFFu

/* What becomes of a domain that faulted. */
enum hyp_action {
    HYP_RESTART,
    HYP_STOP,
    HYP_OTHERS, /* a process decides, when this lets it; or nobody: the hypervisor itself */
};

/* Faults that follow the one before within a time form a row. */
struct hyp_fault_policy {
    uint8_t action;
    uint8_t starting;        /* `most` is for a VM that never got going: no tick of its was served,
                                and all its faults since the chip started are one row */
    uint16_t most;           /* restarts in a row; 0: no limit */
    uint32_t within;         /* kernel ticks, as the two below */
    uint32_t delay, longest; /* before the second restart of a row, and before any */
};

struct hyp_domain {
    uint8_t cap;  /* FVM_CAP_DOMAIN of it */
    uint8_t vcpu; /* index, HYP_NO_VCPU for a process */
    struct hyp_fault_policy fault;
};

struct hyp_vcpu {
    uint8_t cap;     /* FVM_CAP_VCPU of it */
    uint32_t budget; /* cycles a round */
};

/* A process's timer signal whose count the log reports. */
struct hyp_signal {
    const char *name;
    uint8_t index;
};

/* A line that a vCPU may bind with hyp_vct_phys, and only to this virtual vector. */
struct hyp_route {
    uint8_t vcpu, virt_id;
    uint16_t phys;
};

/* An event; sender and receiver are HYP_NO_VCPU where that side is a process. */
struct hyp_event {
    uint8_t evt, sender_vcpu, receiver_vcpu, virt_id;
};

extern const struct hyp_domain hyp_domain[];
extern const char *const hyp_name[]; /* of domains */
extern const struct hyp_vcpu hyp_vcpu[];
extern const struct hyp_signal hyp_signal[];
extern const uint8_t hyp_text[]; /* domains that write into the log */
extern const struct hyp_route hyp_route[];
extern const struct hyp_event hyp_event[];

/* The threads; the generated start-up calls them by name. The manager is there when there are VMs,
 * the log when there is a console. */
_Noreturn void hyp_fault_thread(void);
_Noreturn void hyp_manager_thread(void);
_Noreturn void hyp_log_thread(void);
_Noreturn void hyp_idle_thread(void);

#endif
