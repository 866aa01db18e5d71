/* Kernel memory: objects that a process makes at run time, signals and threads of its own.
 *
 * The process says where in its part of the kernel memory an object lies; the kernel only looks
 * that every word of that is free, by one bit a word. So nothing here searches, and no object has
 * to be aligned to more than a word. An object lives as long as the capability that its creation
 * returned; all others to it were delegated from that one and are gone before it is.
 */
#include "kernel/kernel.h"

#if FVM_MEMORY_WORDS > 0

static uint32_t memory[FVM_MEMORY_WORDS];
static uint32_t used[(FVM_MEMORY_WORDS + 31u) / 32u]; /* bit: word */

struct thread_object {
    struct thread thread;
    struct fvm_usr_reg context; /* without FPU its first part alone */
};

_Static_assert(sizeof(struct fvm_usr_core) % 4u == 0, "objects are words");
_Static_assert(sizeof(struct thread_object) <= FVM_OBJECT_THREAD_SIZE_FPU, "size is ABI");
_Static_assert(offsetof(struct thread_object, context) + sizeof(struct fvm_usr_core) <=
                   FVM_OBJECT_THREAD_SIZE,
               "size is ABI");

/* The bits of `*words` words from `first` on in one word of the map; takes them off. */
static uint32_t some(uint32_t *first, uint32_t *words, uint32_t *map)
{
    uint32_t low = *first % 32u, count = 32u - low < *words ? 32u - low : *words;
    uint32_t bits = ~0u >> (32u - count) << low;
    *map = *first / 32u;
    *first += count;
    *words -= count;
    return bits;
}

static bool is_free(uint32_t first, uint32_t words)
{
    uint32_t map, taken = 0;
    while (words != 0) {
        uint32_t bits = some(&first, &words, &map);
        taken |= used[map] & bits;
    }
    return taken == 0;
}

static void mark(uint32_t first, uint32_t words, bool in_use)
{
    uint32_t map;
    while (words != 0) {
        uint32_t bits = some(&first, &words, &map);
        used[map] = in_use ? used[map] | bits : used[map] & ~bits;
    }
}

static uint32_t words_of(const struct fvm_domain *domain, uint32_t kind)
{
    if (kind == FVM_OBJECT_SIGNAL) {
        return FVM_OBJECT_SIGNAL_SIZE / 4u;
    }
    return (domain->protection.cpacr != 0 ? FVM_OBJECT_THREAD_SIZE_FPU : FVM_OBJECT_THREAD_SIZE) /
           4u;
}

static void make_thread(const struct thread *maker, struct thread_object *object, uint32_t slot,
                        uint32_t priority)
{
    object->thread = (struct thread){
        .context = &object->context,
        .return_bits = context_arch_return_bits(maker->fpu),
        .domain = maker->domain,
        .fpu = maker->fpu,
        .state = THREAD_STOPPED,
        .slot = (uint8_t)(FVM_FAULT_RUN_TIME | slot),
        .domain_index = maker->domain_index,
    };
    scheduler_add(&object->thread, priority);
}

int32_t memory_create(const struct thread *caller, const struct call_frame *frame)
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
    if ((!thread && kind != FVM_OBJECT_SIGNAL) || (offset & 3u) != 0 ||
        number >= domain->slot_count || (thread && (priority == 0 || priority > cap->limit))) {
        return FVM_E_ARGUMENT;
    }
    uint32_t words = words_of(domain, kind), at = offset / 4u;
    if (at >= domain->memory_words || domain->memory_words - at < words) {
        return FVM_E_ARGUMENT;
    }
    struct slot *slot = slot_empty(domain, number);
    at += domain->memory_first;
    if (slot == NULL || !is_free(at, words) || (thread && !scheduler_is_free(priority))) {
        return FVM_E_BUSY;
    }
    mark(at, words, true);
    slot->object = &memory[at];
    slot->capability = (struct fvm_capability){.index = FVM_NO_INDEX};
    if (thread) {
        make_thread(caller, slot->object, number, priority);
        slot->capability.type = FVM_CAP_THREAD;
        slot->capability.rights = FVM_RIGHT_START | FVM_RIGHT_STOP | FVM_RIGHT_CONTROL;
        slot->capability.limit = cap->limit;
    } else {
        signal_create(slot->object);
        slot->capability.type = FVM_CAP_SIGNAL;
        slot->capability.rights = FVM_RIGHT_WAIT | FVM_RIGHT_SEND | FVM_RIGHT_DELEGATE;
    }
    return (int32_t)slot->id;
}

bool memory_destroy(struct slot *slot)
{
    if (slot->object == NULL) {
        return false;
    }
    uint32_t words = FVM_OBJECT_SIGNAL_SIZE / 4u;
    if (slot->capability.type == FVM_CAP_THREAD) {
        struct thread *thread = slot->object;
        if (thread_stop(thread)) {
            return true;
        }
        scheduler_remove(thread);
        words = words_of(thread->domain, FVM_OBJECT_THREAD);
    } else {
        signal_destroy(slot->object);
    }
    mark((uint32_t)((uint32_t *)slot->object - memory), words, false);
    return false;
}

#else /* no process has kernel memory */

int32_t memory_create(const struct thread *caller, const struct call_frame *frame)
{
    (void)caller;
    (void)frame;
    return FVM_E_CALL;
}

bool memory_destroy(struct slot *slot)
{
    (void)slot;
    return false;
}

#endif
