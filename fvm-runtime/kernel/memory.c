/* Kernel memory: objects that a process makes at run time, signals and threads of its own.
 *
 * The process says where in its part of the kernel memory an object lies; the kernel only looks
 * that every word of that is free, by one bit a word. So nothing here searches, and no object has
 * to be aligned to more than a word. An object lives as long as the capability that its creation
 * returned; all others to it were delegated from that one and are gone before it is.
 *
 * Memory is taken and given back by pieces, one a call. Meanwhile the slot holds no capability, but
 * how far that is: SLOT_TAKES, SLOT_GIVES.
 */
#include "kernel/kernel.h"

#if FVM_MEMORY_WORDS > 0

static uint32_t memory[FVM_MEMORY_WORDS];
/* Bit: word. What lies in one word of the map may reach into the next. */
static uint32_t used[(FVM_MEMORY_WORDS + 31u) / 32u + 1u];

#define PIECE 32u /* words */

struct thread_object {
    struct thread thread;
    struct fvm_usr_reg context; /* without FPU its first part alone */
};

_Static_assert(sizeof(struct fvm_usr_core) % 4u == 0, "objects are words");
_Static_assert(sizeof(struct thread_object) <= FVM_OBJECT_THREAD_SIZE_FPU, "size is ABI");
_Static_assert(offsetof(struct thread_object, context) + sizeof(struct fvm_usr_core) <=
                   FVM_OBJECT_THREAD_SIZE,
               "size is ABI");

/* Up to PIECE words of the memory, as bits of two words of the map. */
struct piece {
    uint32_t *map, low, high;
};

static inline struct piece piece_of(uint32_t first, uint32_t words)
{
    uint32_t bits = ~0u >> (PIECE - words), at = first % 32u;
    return (struct piece){&used[first / 32u], bits << at, bits >> 1 >> (31u - at)};
}

/* The next piece of an object, if all of it is free. */
static bool take(struct slot *slot, uint32_t first, uint32_t words)
{
    uint32_t taken = slot->capability.limit;
    uint32_t more = words - taken < PIECE ? words - taken : PIECE;
    struct piece piece = piece_of(first + taken, more);
    if (((piece.map[0] & piece.low) | (piece.map[1] & piece.high)) != 0) {
        return false;
    }
    piece.map[0] |= piece.low;
    piece.map[1] |= piece.high;
    slot->capability.limit = (uint8_t)(taken + more);
    return true;
}

#define SIGNAL_WORDS (FVM_OBJECT_SIGNAL_SIZE / 4u)

static uint32_t thread_words(const struct fvm_domain *domain)
{
    return (domain->protection.cpacr != 0 ? FVM_OBJECT_THREAD_SIZE_FPU : FVM_OBJECT_THREAD_SIZE) /
           4u;
}

static void make_thread(const struct thread *maker, struct thread_object *object, uint32_t slot,
                        uint32_t priority)
{
    struct thread *thread = &object->thread; /* what lay there before was the process's to choose */
    thread->context = &object->context;
    thread->return_bits = maker->return_bits;
    thread->domain = maker->domain;
    thread->vcpu = NULL;
    thread->signal = NULL;
    thread->none = 0;
    thread->state = THREAD_STOPPED;
    thread->slot = (uint8_t)(FVM_FAULT_RUN_TIME | slot);
    thread->domain_index = maker->domain_index;
#if FVM_PORTS > 0
    thread->port = NULL;
#endif
    scheduler_add(thread, priority);
}

/* Fills the slot with a capability to its object, with all rights. That its `limit` isn't 0 tells
 * it from those that were delegated: with it the object ends. */
static int32_t hand_out(struct slot *slot, uint8_t type, uint8_t rights, uint8_t limit)
{
    slot->capability = (struct fvm_capability){type, rights, FVM_NO_INDEX, limit};
    return (int32_t)slot->id;
}

int32_t memory_create(struct call_frame *frame, struct thread *caller)
{
    const struct fvm_domain *domain = caller->domain;
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_MEMORY, FVM_RIGHT_CONTROL);
    uint32_t offset = frame->r[1], kind = frame->r[2] & 0xFFu;
    uint32_t number = frame->r[2] >> 8 & 0xFFu, priority = frame->r[2] >> 16;
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    bool thread = kind == FVM_OBJECT_THREAD;
    uint32_t words = SIGNAL_WORDS, at = offset / 4u;
    if (thread) {
        if (priority - 1u >= cap->limit) {
            return FVM_E_ARGUMENT;
        }
        words = thread_words(domain);
    } else if (kind != FVM_OBJECT_SIGNAL) {
        return FVM_E_ARGUMENT;
    }
    if ((offset & 3u) != 0 || at + words > domain->memory_words) {
        return FVM_E_ARGUMENT;
    }
    at += domain->memory_first;
    struct slot *slot = slot_at(domain, number, domain->slot_count);
    if (slot == NULL) {
        return FVM_E_BUSY;
    }
    switch (slot->capability.type) {
    case FVM_CAP_EMPTY:
        if (!take(slot, at, words)) {
            return FVM_E_BUSY;
        }
        slot->capability.type = SLOT_TAKES;
        slot->object = &memory[at];
        return FVM_MORE;
    case SLOT_TAKES: /* perhaps for another thread of this process */
        if (slot->object != &memory[at] || slot->capability.limit > words) {
            return FVM_E_BUSY;
        }
        if (slot->capability.limit < words) {
            if (take(slot, at, words)) {
                return FVM_MORE;
            }
        } else if (!thread) {
            signal_create(slot->object);
            return hand_out(slot, FVM_CAP_SIGNAL,
                            FVM_RIGHT_WAIT | FVM_RIGHT_SEND | FVM_RIGHT_DELEGATE, 1);
        } else if (scheduler_is_free(priority)) {
            make_thread(caller, slot->object, number, priority);
            return hand_out(slot, FVM_CAP_THREAD,
                            FVM_RIGHT_START | FVM_RIGHT_STOP | FVM_RIGHT_CONTROL, cap->limit);
        }
        slot->capability.type = SLOT_GIVES;
        return FVM_MORE;
    case SLOT_GIVES:
        return slot_drop(domain, number) ? FVM_MORE : FVM_E_BUSY;
    default:
        return FVM_E_BUSY;
    }
}

/* By steps, one a call: a thread stops, who waits goes on; then the object is one no more. */
void memory_end(struct slot *slot)
{
    uint32_t words = SIGNAL_WORDS;
    if (slot->capability.type == FVM_CAP_THREAD) {
        struct thread *thread = slot->object;
        if (thread->state != THREAD_STOPPED) {
            /* As thread_stop, for one that serves no request. */
            if (scheduler_runs_for(thread) != thread) {
                (void)invocation_leave(thread);
            } else if (thread->state == THREAD_WAITING) {
                signal_leave(thread);
                thread->state = THREAD_STOPPED;
            } else {
                scheduler_halt(thread);
            }
            return;
        }
        scheduler_remove(thread);
        words = thread_words(thread->domain);
    } else if (signal_dismiss(slot->object)) {
        return;
    }
    slot->capability = (struct fvm_capability){.type = SLOT_GIVES, .limit = (uint8_t)words};
}

/* A piece of the memory of what isn't an object, or isn't one yet. */
void memory_give(struct slot *slot)
{
    uint32_t taken = slot->capability.limit, piece = taken < PIECE ? taken : PIECE;
    uint32_t rest = taken - piece;
    struct piece last = piece_of((uint32_t)((uint32_t *)slot->object - memory) + rest, piece);
    last.map[0] &= ~last.low;
    last.map[1] &= ~last.high;
    slot->capability.type = SLOT_GIVES;
    slot->capability.limit = (uint8_t)rest;
}

#else /* no process has kernel memory */

void memory_end(struct slot *slot) { (void)slot; }

void memory_give(struct slot *slot) { (void)slot; }

#endif
