/* Deferred kernel work and thread switches on ARMv7-M (arch/armv7m/entry.S): PendSV is less urgent
 * than the other kernel entries, and masks them from its first instruction on; an entry that comes
 * before that or behind its last instruction returns to it.
 *
 * Registers are those of one thread; a context is only ever saved for the thread that they are of.
 */
#define THREADS 3

byte current, next;         /* struct cpu */
byte live;                  /* whose registers are in the processor */
bool saved[THREADS];        /* its context is in memory */

byte due;                   /* deferred pieces of work: alarms */
bool late;                  /* another one: the current thread was halted, who runs now is open */
bool pendsv, serving, primask; /* pended, running, masked */
bool line;                  /* another exception is pending */

byte lines = 4;             /* how many come at most */
bool wanted;                /* somebody waits for the deferred work */
byte asked, done;           /* pieces of it */

inline choose() {           /* any thread may be the one to run */
    if
    :: next = 0
    :: next = 1
    :: next = 2
    fi
}

inline switch_threads() {   /* leave, enter */
    d_step {
        assert(live == current);
        saved[current] = true;
        current = next
    };
    d_step {
        assert(saved[current]);
        saved[current] = false;
        live = current
    }
}

/* A line's stub, the timer's or a fault's; `from_thread`: what it interrupted. */
inline entry(from_thread) {
    line = false;
    choose();
    if                      /* fault_raise, scheduler_halt: cpu.next stays as it is */
    :: from_thread && current == live ->
        late = true;
        next = current;
#ifndef WRONG_HALT_ISNT_DEFERRED
        pendsv = true
#endif
    :: true
    fi;
    if                      /* time_tick, cpu_arch_defer */
    :: due < 2 -> due++; asked++; pendsv = true; wanted = true
    :: true
    fi;
    if
    :: current == next
#ifdef WRONG_NESTED_ENTRY_SWITCHES
    :: current != next -> assert(!serving); switch_threads()
#else
    :: current != next && from_thread ->
        assert(!serving);    /* it returns to a thread: refused while another exception runs */
        switch_threads()
#ifdef WRONG_NESTED_ENTRY_FORGETS
    :: current != next && !from_thread
#else
    :: current != next && !from_thread -> pendsv = true /* again */
#endif
#endif
    fi
}

/* Between two instructions of something less urgent. */
inline boundary(from_thread) {
    if
    :: lines > 0 -> lines--; line = true
    :: true
    fi;
    if
    :: line && !primask -> entry(from_thread)
    :: !line || primask
    fi
}

inline unmask_and_return() {
    primask = false;
    boundary(false);
    serving = false
}

inline deferred_stub() {
    pendsv = false;
    serving = true;
    boundary(false);        /* before its first instruction */
#ifndef WRONG_NOT_MASKED
    primask = true;
#endif
    boundary(false);
    more = false;
    if                      /* time_deferred; it changes what entries change too */
    :: late ->
        late = false;
        choose();
        worked = true
    :: !late && due > 0 ->
        left = due - 1;
        boundary(false);
        due = left;
        done++;
        choose();
        worked = true
    :: !late && due == 0 -> worked = false
    fi;
    if
    :: due == 0 -> wanted = false
    :: due > 0
    fi;
    if
#ifdef WRONG_REST_IS_FORGOTTEN
    :: worked && (late || due > 0) -> more = true
#else
    :: worked && (late || due > 0) -> pendsv = true; more = true
#endif
#ifdef WRONG_SWITCH_IS_FORGOTTEN
    :: worked && !late && due == 0 && current != next -> more = true
#else
    :: worked && !late && due == 0 && current != next -> pendsv = true; more = true
#endif
    :: !worked || (!late && due == 0 && current == next)
    fi;
    boundary(false);
    if
    :: more                 /* which thread runs is seen then */
#ifdef WRONG_DEFERRED_WORK_NEVER_SWITCHES
    :: !more
#else
    :: !more ->
        if
        :: current != next ->
            d_step { assert(live == current); saved[current] = true; current = next };
            primask = false; /* enter unmasks before all registers are loaded */
            boundary(false);
            d_step { assert(saved[current]); saved[current] = false; live = current }
        :: current == next
        fi
#endif
    fi;
    unmask_and_return()
}

active proctype processor() {
    bool more, worked;
    byte left;
    saved[1] = true;
    saved[2] = true;
    do
    :: line -> entry(true)
    :: !line && pendsv -> deferred_stub()
    :: !line && !pendsv ->  /* an instruction of a thread */
       atomic { assert(current == next && live == current && !late); assert(asked == done) };
       boundary(true)
    od
}

/* Deferred work is done, however many entries come meanwhile. */
ltl work_is_done { [] (wanted -> <> !wanted) }
