/* Numbers and results of the calls that enter the kernel.
 *
 * One SVC (Arm) or ecall (RISC-V) makes every call: the number in r12 (a7), up to four
 * arguments in r0-r3 (a0-a3), the result in r0 (a0). The SVC immediate is FVM_SVC and is not
 * read by the kernel; it exists so that the scanner can tell a port's call from a legacy SVC.
 * Guest calls follow Table I of the FVM paper; those marked "ours" serve legacy idioms.
 */
#ifndef FVM_HYPERCALL_H
#define FVM_HYPERCALL_H

#define FVM_SVC 0xF5

/* Served by the kernel for the calling vCPU itself. */
#define FVM_CALL_VCT_WAIT 0 /* r0: virt_id last served by VCT, or FVM_NONE */
#define FVM_CALL_INT_ENA 1  /* open the vCPU to virtual interrupts */
#define FVM_CALL_INT_DIS 2  /* close it; interrupts stay latched */
#define FVM_CALL_IRQ_ENA 3  /* r0: physical line (ours: NVIC_EnableIRQ); returns its virt_id */
#define FVM_CALL_IRQ_DIS 4  /* r0: physical line (ours: NVIC_DisableIRQ); returns its virt_id */
#define FVM_CALL_IRQ_DONE 5 /* r0: virt_id served (ours) */
#define FVM_CALL_TICK_SET 6 /* r0: virtual ticks per second, 0 stops (ours: SysTick_Config) */
#define FVM_CALL_WDG_CLR 7  /* feed the watchdog; the first call starts it */
#define FVM_CALL_EVT_SND 8  /* r0: evt_id; from a process: cap */
#define FVM_CALL_VCT_WAKE 9 /* wake the caller's own VCT (ours: unmask found work) */
#define FVM_CALL_RESUME 10  /* r0: SP of an exception frame, r1: EXC_RETURN (ours: fast yield) */
#define FVM_CALL_PIN_SET 11 /* r0: port, r1: mask, r2: value (ours) */
#define FVM_CALL_CYCLES 12  /* ours: DWT->CYCCNT */
#define FVM_CALL_PIN_GET 13 /* r0: port, r1: FVM_PIN_*; levels of the caller's own pins (ours) */
#define FVM_CALL_PUTC 14    /* r0: character for the log, lowest byte (ours: ITM_SendChar) */

/* Served by the hypervisor; the caller is blocked meanwhile. */
#define FVM_CALL_HYPERVISOR 16 /* first number of this group */
#define FVM_CALL_VCT_PHYS 16   /* r0: phys_id, r1: virt_id */
#define FVM_CALL_VCT_EVT 17    /* r0: evt_id, r1: virt_id */
#define FVM_CALL_EVT_ADD 18    /* r0: evt_id */
#define FVM_CALL_VCT_LCK 19
#define FVM_CALL_HYPERVISOR_END 20
#define FVM_CALL_REBOOT 20 /* ours: NVIC_SystemReset; handled like a fault; doesn't return */
#define FVM_CALLS_OF_VM 21 /* a VM's numbers are below this */

/* For processes: the first argument is a capability number of the caller's table. */
/* r0: log cap; makes room: the oldest record may go; r0: how many are left */
#define FVM_CALL_FAULT_NEXT 32
#define FVM_CALL_SIGNAL_SEND 33 /* r0: cap */
/* r0: log cap, right READ, r1: FVM_STATUS_*, r2: index; returns r0-r3 */
#define FVM_CALL_STATUS 34
#define FVM_CALL_VCPU_BUDGET 39 /* r0: vCPU cap, r1: cycles; refill, end of the round */
/* r0: domain cap; one step of it: to be repeated while the result is FVM_MORE, by a thread that
 * outranks the domain's. FVM_E_BUSY: it stopped by a fault, and the hypervisor holds it back so
 * that faults in a row don't follow each other too fast; who decides about it gets its signal then.
 */
#define FVM_CALL_DOMAIN_RESTART 40
#define FVM_CALL_DOMAIN_STOP 35 /* as before; it stays stopped until it is restarted */
/* r0: log cap, r1: number of a VM among those that write into the log, from 1; takes its next
 * characters, 4 at most, up to the end of a line. Returns r0: how many (0: it wrote no more),
 * r1: the characters, the first one lowest, r2: how many found no room since it was last asked */
#define FVM_CALL_TEXT_TAKE 36
/* r0: log cap, right READ, r1: serial, r2: first word; of the oldest record after this serial,
 * returns r0: its own (0: none), r1-r3: three words */
#define FVM_CALL_FAULT_READ 41
#define FVM_CALL_SIGNAL_WAIT 42 /* r0: cap; returns the count, at least 1 */
/* For the one thread that decides on the calls of VMs. r0: cap of the signal that it may wait for;
 * r1: what it decided on the call that it took last, FVM_OK: the kernel does what was asked for,
 * FVM_E_*: refused. Waits for the next request and returns r0: vCPU index (or FVM_E_*), r1: number
 * of the call or FVM_REQUEST_BUDGET, r2, r3: its arguments. */
#define FVM_CALL_REQUEST_NEXT 43
#define FVM_REQUEST_BUDGET 0xFFu /* not a call: the vCPU is due for its budget of a new round */
/* r0: port cap, r1-r3: arguments; runs the port's function in its domain; r1: what it returned */
#define FVM_CALL_INVOKE 44
#define FVM_CALL_INVOKE_RETURN 45 /* r0: result; from a thread that was invoked; doesn't return */
#define FVM_CALL_PORT_OPEN 46     /* r0: port cap, r1: 1 admits callers, 0 refuses new ones */
#define FVM_CALL_FUNCTION 47      /* r0: function cap; returns r1: what it is about */
/* r0: thread cap, r1: its first argument; of one in kernel memory r2: entry, r3: stack's end */
#define FVM_CALL_THREAD_START 48
/* r0: thread cap, FVM_NONE: the caller; to be repeated while the result is FVM_MORE */
#define FVM_CALL_THREAD_STOP 49
/* r0: thread cap, r1: its priority; r2, r3: those of a second one, or FVM_NONE */
#define FVM_CALL_THREAD_PRIORITY 50
/* r0: table cap, r1: any cap, r2: rights, r3: slot; gives these rights; returns the new number;
 * FVM_E_BUSY: the slot isn't empty, or there is none of this number */
#define FVM_CALL_CAP_DELEGATE 51
/* r0: any cap; takes back what was delegated from it; to be repeated while it returns FVM_MORE */
#define FVM_CALL_CAP_REVOKE 52
#define FVM_CALL_CAP_DELETE 53 /* r0: run-time cap; revokes and empties its slot; FVM_MORE */
/* r0: memory cap, r1: byte in it, r2: FVM_OBJECT_* | slot << 8 | a thread's priority << 16; returns
 * the number of a capability with all rights; to be repeated while it returns FVM_MORE */
#define FVM_CALL_OBJECT_CREATE 54
/* r0: domain cap, r1: enum fvm_decision, r2: ticks; kept in the domain's newest record. FVM_ASK,
 * with the right START: nothing is kept, and it isn't held back any more */
#define FVM_CALL_FAULT_DECIDED 60
#define FVM_CALL_TIMER_SET 61 /* r0: timer cap, r1: ticks until it sends, once more; 0: never */
#define FVM_CALLS 62          /* all numbers are below this */

#define FVM_NONE 0xFFFFFFFFu

/* Rights, to be delegated (FVM_CALL_CAP_DELEGATE). */
#define FVM_RIGHT_WAIT 1u
#define FVM_RIGHT_SEND 2u
#define FVM_RIGHT_CONTROL 4u
#define FVM_RIGHT_READ 8u
#define FVM_RIGHT_INVOKE 16u
#define FVM_RIGHT_START 32u
#define FVM_RIGHT_STOP 64u
#define FVM_RIGHT_DELEGATE 128u

/* Numbers of run-time capabilities have this bit, those of the description don't. */
#define FVM_CAP_RUN_TIME 0x40000000u

/* FVM_CALL_OBJECT_CREATE: what, and how many bytes of kernel memory it takes. */
#define FVM_OBJECT_SIGNAL 1u
#define FVM_OBJECT_THREAD 2u
#define FVM_OBJECT_SIGNAL_SIZE 12u
#define FVM_OBJECT_THREAD_SIZE 80u
#define FVM_OBJECT_THREAD_SIZE_FPU 144u /* in a process that may use the FPU */

/* FVM_CALL_FUNCTION: what a capability of this type stands for. */
#define FVM_FUNCTION_RESET 0   /* of the chip; doesn't return */
#define FVM_FUNCTION_RESTART 1 /* of the caller's process, as after a fault; doesn't return */
#define FVM_FUNCTION_TICKS 2   /* kernel ticks since start */
#define FVM_FUNCTION_CYCLES 3  /* processor cycles, wraps */

/* FVM_CALL_PIN_GET: what levels. */
#define FVM_PIN_INPUT 0  /* at the pins */
#define FVM_PIN_OUTPUT 1 /* that the outputs were set to */

/* FVM_CALL_STATUS subjects and what r0-r3 then hold. */
#define FVM_STATUS_KERNEL 0 /* tick, records lost, protection on (1/0), mask of stopped domains */
#define FVM_STATUS_DOMAIN 1 /* restarts, epoch, ticks served, ticks dropped (0 without vCPU) */
#define FVM_STATUS_SIGNAL 2 /* counts handed to waiters, counts pending, 0, 0 */

/* Results. Every refusal is one of these; nothing else changed. */
#define FVM_OK 0
#define FVM_MORE 1            /* a step is done, others follow */
#define FVM_E_CALL (-1)       /* no such call, or not from this kind of thread */
#define FVM_E_CAPABILITY (-2) /* no such capability, wrong type or missing right */
#define FVM_E_ARGUMENT (-3)   /* out of range */
#define FVM_E_OWNER (-4)      /* line, event or pin belongs to somebody else or nobody */
#define FVM_E_LOCKED (-5)     /* frozen by hyp_vct_lck */
#define FVM_E_BUSY (-6)       /* somebody waits or is there already; a port that is closed */
#define FVM_E_FAULT (-7)      /* the domain that was invoked faulted or restarts */

#endif
