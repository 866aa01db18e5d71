/* Capabilities of the run time: delegated ones and those to objects in kernel memory.
 *
 * A slot holds one capability. Its number carries a generation that grows whenever the slot is
 * emptied, so a number never comes to mean something else; a slot whose generations are used up
 * stays empty. What was delegated from what is a list a root: behind each capability come its
 * children, each followed by its own. So "delegated from this, transitively" is what follows at a
 * greater depth, and taking it back is one entry a call, however much there is.
 */
#include "kernel/kernel.h"

#if FVM_SLOTS > 0

#define NODES (FVM_ROOTS + FVM_SLOTS)
/* A node at depth 0 that ends every list: what is written to it doesn't matter. */
#define NOBODY NODES

struct slot slot_table[FVM_SLOTS]; /* the architecture's entry looks there, too */

/* Those of the description that may be delegated, by their number, then the slots. */
static struct node {
    uint8_t next, previous;
    uint8_t depth;    /* 0: delegated by nobody. It outgrows the number of nodes where a chain loses
                         its upper half again and again, and must not begin anew */
    uint8_t reserved; /* a node is a word */
} node[NODES + 1u];
static const struct node nobody = {.next = NOBODY, .previous = NOBODY};

_Static_assert(NODES < 256u, "a node's index is a byte");

void slot_init(void)
{
    for (uint32_t i = 0; i <= NODES; i++) {
        node[i] = nobody;
    }
}

const struct fvm_capability *slot_find(const struct fvm_domain *domain, uint32_t number)
{
    uint32_t i = number & SLOT_MASK;
    if (i >= domain->slot_count || slot_table[domain->slot_first + i].id != number) {
        return NULL;
    }
    return &slot_table[domain->slot_first + i].capability;
}

struct slot *slot_at(const struct fvm_domain *domain, uint32_t number, uint32_t limit)
{
    if (number >= limit) {
        return NULL;
    }
    struct slot *slot = &slot_table[domain->slot_first + number];
    FVM_ONCE(slot);
    return (slot->id & FVM_CAP_RUN_TIME) != 0 ? slot : NULL;
}

/* Where a capability is in the lists. It is delegable or in a slot. */
static uint32_t node_of(const struct fvm_capability *capability)
{
    uint32_t offset = (uint32_t)capability - (uint32_t)slot_table;
    return offset < sizeof slot_table ? FVM_ROOTS + offset / sizeof *slot_table : capability->limit;
}

static void insert(uint32_t parent, uint32_t child)
{
    uint8_t behind = node[parent].next;
    node[child].previous = (uint8_t)parent;
    node[child].next = behind;
    node[child].depth = (uint8_t)(node[parent].depth + 1u);
    node[parent].next = (uint8_t)child;
    node[behind].previous = (uint8_t)child;
}

static void take_out(uint32_t which)
{
    uint8_t before = node[which].previous, behind = node[which].next;
    node[before].next = behind;
    node[behind].previous = before;
    node[which] = nobody;
}

static void empty(struct slot *slot)
{
    slot->capability = (struct fvm_capability){.type = FVM_CAP_EMPTY};
    slot->object = NULL;
    slot->id += SLOT_MASK + 1u;
}

/* One of those that were delegated from it, if there is one. In place: a call more would make the
 * longest step of a stop too long. */
static inline __attribute__((always_inline)) bool revoke(uint32_t from)
{
    uint32_t child = node[from].next;
    if (node[child].depth <= node[from].depth) {
        return false;
    }
    take_out(child);
    empty(&slot_table[child - FVM_ROOTS]);
    return true;
}

/* A step of emptying a slot; false: it is. In place, as revoke. */
static inline __attribute__((always_inline)) bool drop(uint32_t which)
{
    struct slot *slot = &slot_table[which - FVM_ROOTS];
    FVM_ONCE(slot);
    if (slot->capability.type == FVM_CAP_EMPTY) {
        return false;
    }
    if (slot->capability.type >= SLOT_TAKES) {
        if (slot->capability.limit != 0) {
            memory_give(slot);
            return true;
        }
        empty(slot);
        return false;
    }
    if ((slot->capability.rights & FVM_RIGHT_DELEGATE) != 0) {
        if (!revoke(which)) {
            slot->capability.rights = 0; /* nor will anybody be given it again */
        }
        return true;
    }
    if (slot->capability.limit != 0) {
        memory_end(slot);
        return true;
    }
    take_out(which);
    empty(slot);
    return false;
}

bool slot_drop(const struct fvm_domain *domain, uint32_t number)
{
    uint32_t which = domain->slot_first + number;
    return drop(FVM_ROOTS + which);
}

/* From the first step on nobody fills it, nor uses what is left in it: not a thread of the process
 * that still runs between two steps, nor who delegates. No number names a slot SLOT_MASK. */
bool slot_stop(const struct fvm_domain *domain, uint32_t number)
{
    uint32_t which = domain->slot_first + number;
    bool more = drop(FVM_ROOTS + which);
    slot_table[which].id = (slot_table[which].id | SLOT_MASK) & ~FVM_CAP_RUN_TIME;
    return more;
}

/* Generations that are used up begin again: who knew the old numbers starts anew. */
void slot_open(const struct fvm_domain *domain, uint32_t number)
{
    uint32_t *id = &slot_table[domain->slot_first + number].id;
    *id = FVM_CAP_RUN_TIME | (*id & (FVM_CAP_RUN_TIME - 1u) & ~SLOT_MASK) | number;
}

bool slot_revoke(const struct fvm_capability *capability)
{
    return (capability->rights & FVM_RIGHT_DELEGATE) != 0 && revoke(node_of(capability));
}

static int32_t delegate(const struct thread *caller, const struct call_frame *frame)
{
    const struct fvm_capability *table =
        capability_find(caller, frame->r[0], FVM_CAP_TABLE, FVM_RIGHT_CONTROL);
    const struct fvm_capability *source = capability_at(caller->domain, frame->r[1]);
    uint32_t rights = frame->r[2];
    if (table == NULL || source == NULL || (source->rights & FVM_RIGHT_DELEGATE) == 0 ||
        rights == 0 || (rights & ~(uint32_t)source->rights) != 0) {
        return FVM_E_CAPABILITY;
    }
    const struct fvm_domain *to = &fvm_domain[table->index];
    struct slot *slot = slot_at(to, frame->r[3], table->limit);
    uint32_t parent = node_of(source);
    if (slot == NULL || slot->capability.type != FVM_CAP_EMPTY || node[parent].depth == UINT8_MAX) {
        return FVM_E_BUSY;
    }
    slot->capability = (struct fvm_capability){
        .type = source->type, .rights = (uint8_t)rights, .index = source->index};
    slot->object = source->index == FVM_NO_INDEX ? slot_object(source) : NULL;
    insert(parent, FVM_ROOTS + (uint32_t)(slot - slot_table));
    return (int32_t)slot->id;
}

/* It is to a thread in kernel memory that is the caller, or has invoked it: nobody would be left to
 * finish its end. */
static bool ends_caller(const struct fvm_capability *capability, const struct thread *caller)
{
    return capability->type == FVM_CAP_THREAD && capability->limit != 0 &&
           scheduler_runs_for(slot_object(capability)) == caller;
}

int32_t slot_call(struct call_frame *frame, struct thread *caller)
{
    if (frame->number == FVM_CALL_CAP_DELEGATE) {
        return delegate(caller, frame);
    }
    const struct fvm_capability *capability = capability_at(caller->domain, frame->r[0]);
    if (capability == NULL || capability->type == FVM_CAP_EMPTY) {
        return FVM_E_CAPABILITY;
    }
    if (frame->number == FVM_CALL_CAP_REVOKE) {
        return slot_revoke(capability) ? FVM_MORE : FVM_OK;
    }
    if (frame->r[0] < FVM_CAP_RUN_TIME) {
        return FVM_E_CAPABILITY; /* the description's stay */
    }
    if (ends_caller(capability, caller)) {
        return FVM_E_CALL;
    }
    return drop(node_of(capability)) ? FVM_MORE : FVM_OK;
}

#else /* no domain has slots */

void slot_init(void) {}

const struct fvm_capability *slot_find(const struct fvm_domain *domain, uint32_t number)
{
    (void)domain;
    (void)number;
    return NULL;
}

bool slot_stop(const struct fvm_domain *domain, uint32_t number)
{
    (void)domain;
    (void)number;
    return false;
}

bool slot_revoke(const struct fvm_capability *capability)
{
    (void)capability;
    return false;
}

#endif
