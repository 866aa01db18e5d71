/* Virtual interrupts of one VM: mask, pend, unmask, and the two callers of hyp_vct_wait.
 *
 * One processor: the kernel comes between any two instructions of the guest and is atomic towards
 * it; VCT runs whenever it is ready, USR only when VCT waits. Each statement below that touches
 * fvm_state is one load or store of the guest. Names are those of the C code.
 *
 * Three vectors: LINE is maskable and belongs to a line that the kernel closes until it was served;
 * EVENT is transparent, in another group; SOFT is maskable and pended by USR itself.
 */
#define VECTORS 3
#define LINE 0
#define EVENT 1
#define SOFT 2
#define GROUPS 2
#define group_of(v) (v == EVENT)

/* fvm_state */
bool int_mask_pri, int_mask_base, int_pend_vector;
bool pending[VECTORS], pending_group[GROUPS];

/* the kernel's */
bool vct_ready, wake;           /* VCT's state, its sticky wake signal */
bool usr_sleeps, latch;         /* USR in hyp_vct_wait; a vector was pended since it last waited */
bool line_closed;

/* to state the properties */
bool wanted[VECTORS];           /* pended, and its handler didn't start since */
byte interrupts = 3, events = 2, softs = 1;

#define held(v) (int_mask_pri || (v != EVENT && int_mask_base))

/* --- kernel: vcpu.c --------------------------------------------------------------------- */

inline vcpu_wake() {
    if
    :: !vct_ready -> vct_ready = true
#ifdef WRONG_WAKE_ISNT_STICKY
    :: else
#else
    :: else -> wake = true
#endif
    fi
}

inline vcpu_pend(v) {
    pending[v] = true;
    pending_group[group_of(v)] = true;
    wanted[v] = true;
    if
    :: usr_sleeps -> usr_sleeps = false
#ifdef WRONG_NO_LATCH
    :: else
#else
    :: else -> latch = true
#endif
    fi;
    if
#ifdef WRONG_MASKED_PEND_IS_FORGOTTEN
    :: held(v)
#else
    :: held(v) -> int_pend_vector = true
#endif
    :: else -> vcpu_wake()
    fi
}

/* interrupt.c, interrupt_dispatch; the line comes again as soon as it is open */
active proctype hardware() {
    do
    :: atomic { interrupts > 0 && !line_closed ->
           interrupts--;
           line_closed = true;
           vcpu_pend(LINE) }
    :: atomic { events > 0 -> events--; vcpu_pend(EVENT) }
    :: interrupts == 0 && events == 0 -> break
    od
}

/* --- guest, VCT: vct.c -------------------------------------------------------------------- */

byte best;
bool snapshot[GROUPS];

inline look_at_vector(v, seen) {
    if
    :: seen ->
        pending_group[group_of(v)] = true;
        if
#ifdef WRONG_LOOK_IGNORES_THE_MASK
        :: best == VECTORS -> best = v
        :: best != VECTORS
#else
        :: held(v) -> int_pend_vector = true
        :: !held(v) && best == VECTORS -> best = v
        :: !held(v) && best != VECTORS
#endif
        fi
    :: !seen
    fi
}

/* The bytes of a group are read at once. */
inline look_at() {
    if
    :: snapshot[0] ->
#ifdef WRONG_GROUP_CLEARED_AFTER_THE_LOOK
        d_step { first = pending[LINE]; second = pending[SOFT] };
        pending_group[0] = false;
#else
        pending_group[0] = false;
        d_step { first = pending[LINE]; second = pending[SOFT] };
#endif
        look_at_vector(LINE, first);
        look_at_vector(SOFT, second)
    :: !snapshot[0]
    fi;
    if
    :: snapshot[1] ->
        pending_group[1] = false;
        d_step { first = pending[EVENT] };
        look_at_vector(EVENT, first)
    :: !snapshot[1]
    fi
}

inline next_vector() {
    best = VECTORS;
#ifndef WRONG_INT_PEND_CLEARED_AFTER_THE_LOOK
    int_pend_vector = false;
#endif
    d_step { snapshot[0] = pending_group[0]; snapshot[1] = pending_group[1] };
    look_at();
#ifdef WRONG_INT_PEND_CLEARED_AFTER_THE_LOOK
    int_pend_vector = false
#endif
}

inline handler(v) {
    atomic { assert(!held(v)); wanted[v] = false };
    skip
}

inline run_handler(v) {
#ifdef WRONG_PENDING_CLEARED_AFTER_THE_HANDLER
    handler(v);
    pending[v] = false
#else
    pending[v] = false;
    handler(v)
#endif
}

/* interrupt.c, interrupt_reopen; by hyp_irq_done or by the wait itself */
#define vcpu_done(v) line_closed = (v == LINE -> false : line_closed)

active proctype vct() provided (vct_ready) {
    bool first, second;
    byte served;
    do
    :: served = VECTORS;
       next_vector();
       do
       :: best != VECTORS ->
           run_handler(best);
           atomic { vcpu_done(served); served = best };
           next_vector()
       :: best == VECTORS -> break
       od;
       /* hyp_vct_wait: vcpu.c, vcpu_wait */
       atomic {
           vcpu_done(served);
           if
           :: wake -> wake = false
           :: else -> vct_ready = false
           fi
       }
    od
}

/* --- guest, ------------------------------------------------------------------------------ */

inline virt_unmask_pending() {
    atomic { vcpu_wake() }
}

/* Loads int_pend and leaves for VCT if it is set. */
inline look_behind_unmask() {
    if
    :: int_pend_vector -> virt_unmask_pending()
    :: !int_pend_vector
    fi
}

inline virt_int_unmask(mask) {
#ifdef WRONG_TEST_BEFORE_STORE
    bool found;
    d_step { found = int_pend_vector };
    mask = false;
    if
    :: found -> virt_unmask_pending()
    :: else
    fi
#else
    mask = false;
#ifndef WRONG_UNMASK_DOESNT_LOOK
    look_behind_unmask()
#endif
#endif
}

/* guest/vectors.h vector_pend, vectors.c serve */
inline virt_vct_trig(v) {
    wanted[v] = true;
#ifdef WRONG_GROUP_BEFORE_BYTE
    pending_group[group_of(v)] = true;
    pending[v] = true;
#else
    pending[v] = true;
    pending_group[group_of(v)] = true;
#endif
    if
    :: held(v) -> int_pend_vector = true
    :: !held(v) -> atomic { vcpu_wake() }
    fi
}

/* vct.c something_pending, byte by byte */
inline hyp_vct_wait() {
    if
    :: pending_group[0] && (pending[LINE] || pending[SOFT])
    :: !(pending_group[0] && (pending[LINE] || pending[SOFT])) ->
        if
        :: pending_group[1] && pending[EVENT]
        :: !(pending_group[1] && pending[EVENT]) ->
            atomic { /* vcpu_wait */
                 if
#ifndef WRONG_WAIT_IGNORES_THE_LATCH
                :: latch -> latch = false
#endif
                :: else -> usr_sleeps = true
                fi
            }
        fi
    fi
}

active proctype usr() provided (!vct_ready && !usr_sleeps) {
    do
    :: int_mask_pri = true; virt_int_unmask(int_mask_pri)
    :: int_mask_base = true; virt_int_unmask(int_mask_base)
    :: softs > 0 -> softs--; virt_vct_trig(SOFT)
    :: softs > 0 -> softs--;    /* under a mask */
       int_mask_pri = true;
       virt_vct_trig(SOFT);
       virt_int_unmask(int_mask_pri)
    :: int_mask_pri = true;     /* __disable_irq(); if (!work) __WFI(); __enable_irq(); */
       hyp_vct_wait();
       virt_int_unmask(int_mask_pri)
    :: hyp_vct_wait()
    :: break                    /* computes for ever, nothing masked */
    od
}

/* A vector that was pended is served, whatever else USR does, as long as it opens its masks. No
 * handler runs while its mask is closed: the assertion in `handler`. */
ltl line_served { [] (wanted[LINE] -> <> !wanted[LINE]) }
ltl event_served { [] (wanted[EVENT] -> <> !wanted[EVENT]) }
ltl soft_served { [] (wanted[SOFT] -> <> !wanted[SOFT]) }
