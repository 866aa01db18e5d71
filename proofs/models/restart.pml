/* A domain faults and is restarted in steps (kernel/domain.c) by the hypervisor's fault thread, while
 * interrupts, events and the watchdog go on. The fault thread outranks the domain; the kernel
 * comes between any two steps.
 */

/* kernel's view of the domain */
bool runs = true, begins;       /* its threads may run; from their entries on */
bool stopped;                   /* bit of domain_stopped() */
bool registered, irq_enabled, closed; /* its line: vcpu.line, interrupt.c */
bool bound;                     /* its event: event.c */
bool watched;                   /* its watchdog was fed */
bool wake;                      /* sticky wake signal of VCT */
bool is_open;                   /* hyp_int_ena */
byte restarts;

/* its fvm_state */
bool pending[2];                /* the line's vector, the event's */

/* the line at the NVIC */
bool latched;
#define line_open (irq_enabled && !closed)

/* the signal that the fault thread waits for: signal.c */
byte count;
bool fault_thread_waits = true;
bool late;                      /* PendSV sends it before any thread's next instruction */

/* of another domain, only that it is stopped */
bool other_stopped;

byte faults = 3, other_faults = 2, interrupts = 3, events = 3;

inline signal_send() {
    if
    :: fault_thread_waits -> fault_thread_waits = false
#ifdef WRONG_SIGNAL_ISNT_COUNTED
    :: !fault_thread_waits
#else
    :: !fault_thread_waits -> count++
#endif
    fi
}

inline vcpu_pend(v) {
    pending[v] = true;
    if
    :: is_open -> wake = true
    :: !is_open
    fi
}

/* fault_raise, domain_halt, vcpu_halt */
inline fault_raise() {
    faults--;
    runs = false;
    stopped = true;
    is_open = false;
#ifndef WRONG_WATCHDOG_GOES_ON
    watched = false;
#endif
    late = true                 /* scheduler_tell_fault */
}

active proctype environment() {
    do
    :: atomic { late -> late = false; signal_send() } /* scheduler_catch_up */
    :: atomic { interrupts > 0 && !latched -> interrupts--; latched = true }
    :: atomic { latched && line_open -> /* interrupt_dispatch */
           latched = false;
           closed = true;
           vcpu_pend(0) }
    :: atomic { events > 0 && bound -> events--; vcpu_pend(1) }
    :: atomic { watched && faults > 0 -> fault_raise() }
    :: atomic { other_faults > 0 && !other_stopped ->
           other_faults--;
           other_stopped = true;
           late = true }
    od
}

/* The fault thread outranks the domain's: it runs to its next wait, except for kernel entries. */
active proctype domain() provided (runs && fault_thread_waits && !late) {
    do
    ::  {
            atomic {            /* nothing is left of the incarnation before */
                assert(!pending[0] && !pending[1] && !wake);
                assert(!registered && !irq_enabled && !closed && !bound && !is_open && !watched);
                registered = true
            };
            bound = true;
            is_open = true;
            atomic { irq_enabled = true; watched = true };
            do
            :: atomic { wake -> wake = false; pending[0] = false; pending[1] = false;
                                closed = false }
            :: atomic { faults > 0 -> fault_raise() }
            od
        } unless { atomic { begins -> begins = false } }
    od
}

inline drop_line() {            /* vcpu_drop, interrupt_drop */
    atomic { registered = false; irq_enabled = false; closed = false; latched = false }
}

inline drop_events() { bound = false }

inline clear_state() {          /* vcpu_start */
    atomic { pending[0] = false; pending[1] = false; wake = false }
}

active proctype fault_thread() provided (!fault_thread_waits && !late) {
    bool mine, others;
    do
    :: atomic { mine = stopped; others = other_stopped }; /* FVM_CALL_STATUS */
       if
       :: mine ->               /* FVM_CALL_DOMAIN_RESTART until it is done */
#ifdef WRONG_STATE_CLEARED_FIRST
           clear_state();
#endif
           drop_line();
           drop_events();
           restarts++;
#ifndef WRONG_STATE_CLEARED_FIRST
           clear_state();
#endif
           atomic { runs = true; begins = true; stopped = false }
       :: !mine
       fi;
       if
       :: others -> other_stopped = false
       :: !others
       fi;
       atomic {                 /* signal_wait */
           if
           :: count > 0 -> count = 0
           :: count == 0 -> fault_thread_waits = true
           fi
       }
    od
}

/* A domain that was stopped runs again. */
ltl runs_again { [] (stopped -> <> runs) }
ltl other_runs_again { [] (other_stopped -> <> !other_stopped) }
