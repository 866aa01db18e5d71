/* Invocation: a thread runs a function of another process and comes back with a result.
 *
 * A process exports ports: a function with a stack of its own each. What runs in a port is a thread
 * object that takes the place and the priority of its caller, so the scheduler, signals and faults
 * know it as any thread of the server; the caller is away meanwhile, its registers in kernel
 * memory. The server gets the arguments and no register of the caller, the caller gets the result
 * and no register of the server. A port holds one caller. Since it then is busy for everybody, a
 * chain of invocations that came back to it would be refused: chains are no longer than there are
 * ports.
 *
 * The architecture's entry does `enter` and the return itself for what it knows, the capability
 * that the description gives: invocation.inc.
 *
 * When the server restarts, its callers go on with FVM_E_FAULT. When a caller restarts, the port is
 * free again; the server's memory is as the caller left it, so the server gets the number of calls
 * that were broken off as the fourth argument of the next one.
 */
#include "kernel/kernel.h"

#if FVM_PORTS > 0

struct port port_table[FVM_PORTS];

static const struct fvm_domain_entry *exported(const struct fvm_domain *domain)
{
    const struct fvm_domain_header *header = (const struct fvm_domain_header *)domain->flash_base;
    return (const struct fvm_domain_entry *)(header + 1);
}

void invocation_init(void)
{
    for (uint32_t i = 0; i < FVM_PORTS; i++) {
        struct port *port = &port_table[i];
        port->thread = &thread_table[FVM_THREADS - FVM_PORTS + i];
        port->thread->port = port;
        port->caller = port->thread;
    }
}

bool invocation_prepare(const struct fvm_domain *domain, uint32_t number)
{
    const struct fvm_domain_entry *entry = &exported(domain)[number];
    struct port *port = &port_table[domain->port_first + number];
    uint32_t size = context_arch_frame_size();
    context_arch_prepare(&port->call, entry->entry, entry->stack);
    port->call.fourth = 0;
    return (entry->stack & 7u) == 0 && domain_holds(domain, entry->stack - size, size);
}

/* Into the caller's frame, which was checked when it called. */
static FVM_RARE void give_results(const struct port *port, int32_t status, uint32_t result)
{
    context_arch_results(context_arch_stack(port->caller->context), (uint32_t)status, result);
}

/* Who goes on. */
static struct thread *leave(struct port *port)
{
    struct thread *caller = port->caller;
    port->caller = NULL;
    return caller;
}

static void close(struct port *port)
{
    port->caller = port->thread;
    port->thread->state = THREAD_STOPPED;
}

/* What runs in the place of a thread, `home`, is being broken off: the port that was entered last,
 * then the one before, by steps. Up to `until`, which closes, and whose caller goes on; or, if that
 * is NULL, until the thread is at home, stopped. */
static struct {
    struct thread *home; /* NULL: nothing is */
    const struct port *until;
} broken;

/* The steps are the deferred work's: no thread runs before the last one, so none can go elsewhere
 * in between, and nobody has to call twice. */
static void begin(struct thread *home, const struct port *until)
{
    broken.home = home;
    broken.until = until;
    scheduler_look_again();
}

static void come_back(struct port *port)
{
    struct thread *inner = port->thread, *caller = leave(port);
    scheduler_give_place(inner, caller);
    inner->state = THREAD_READY; /* for the next caller */
    if (port == broken.until) {
        close(port);
        scheduler_wake_later(caller);
        broken.home = NULL;
    } else if (caller == broken.home) {
        caller->state = THREAD_STOPPED;
        broken.home = NULL;
    }
}

/* It waits no more and goes on no more; then its caller gets its result and comes back. */
bool invocation_break_off(void)
{
    if (broken.home == NULL) {
        return false;
    }
    struct thread *inner = scheduler_runs_for(broken.home);
    struct port *port = inner->port;
    FVM_ONCE(inner);
    if (inner->state != THREAD_LEAVING) {
        signal_leave(inner);
        scheduler_halt(inner);
        inner->state = THREAD_LEAVING;
        port->call.fourth++;
    } else {
        give_results(port, FVM_E_FAULT, 0);
        come_back(port);
    }
    return true;
}

/* The thread of a domain in whose place this one runs. */
static struct thread *at_home(struct thread *thread)
{
    while (thread->port != NULL) {
        thread = thread->port->caller;
    }
    return thread;
}

bool invocation_is_inside(const struct thread *thread) { return thread->port != NULL; }

bool invocation_may_be_for(const struct thread *thread, uint32_t domain)
{
    const struct thread *caller = thread->port->caller;
    return thread->domain_index == domain || caller->domain_index == domain || caller->port != NULL;
}

bool invocation_leave(struct thread *thread)
{
    if (scheduler_runs_for(thread) == thread) {
        return false;
    }
    begin(thread, NULL);
    return true;
}

bool invocation_stop(uint32_t number)
{
    struct port *port = &port_table[number];
    FVM_ONCE(port);
    if (port->caller != NULL && port->caller != port->thread) {
        begin(at_home(port->caller), port);
        return true;
    }
    close(port);
    return false;
}

static int32_t enter(struct thread *caller, struct port *port, const struct call_frame *frame)
{
    if (port->caller != NULL) {
        return FVM_E_BUSY;
    }
    port->caller = caller;
    context_arch_call(port->thread->context, &port->call, &frame->r[1]);
    scheduler_replace(caller, port->thread);
    return FVM_OK;
}

static int32_t open(struct port *port, bool admit)
{
    if (admit && (domain_stopped() & 1u << port->thread->domain_index) != 0) {
        return FVM_E_BUSY; /* a port that still runs would open others again behind the stop */
    }
    if (admit && port->caller == port->thread) {
        port->thread->state = THREAD_READY;
        port->caller = NULL;
    } else if (!admit && port->caller == NULL) {
        port->caller = port->thread;
    } else if (!admit && port->caller != port->thread) {
        return FVM_E_BUSY;
    }
    return FVM_OK;
}

int32_t invocation_call(struct call_frame *frame, struct thread *caller)
{
    if (frame->number == FVM_CALL_INVOKE_RETURN) {
        if (caller->port == NULL) {
            return FVM_E_CALL;
        }
        give_results(caller->port, FVM_OK, frame->r[0]);
        scheduler_replace(caller, leave(caller->port));
        return FVM_OK;
    }
    bool invoke = frame->number == FVM_CALL_INVOKE;
    const struct fvm_capability *cap = capability_find(
        caller, frame->r[0], FVM_CAP_PORT, invoke ? FVM_RIGHT_INVOKE : FVM_RIGHT_CONTROL);
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    return invoke ? enter(caller, &port_table[cap->index], frame)
                  : open(&port_table[cap->index], frame->r[1] != 0);
}

#else /* no process exports a port */

void invocation_init(void) {}

bool invocation_prepare(const struct fvm_domain *domain, uint32_t number)
{
    (void)domain;
    (void)number;
    return true;
}

bool invocation_is_inside(const struct thread *thread)
{
    (void)thread;
    return false;
}

bool invocation_may_be_for(const struct thread *thread, uint32_t domain)
{
    return thread->domain_index == domain;
}

bool invocation_leave(struct thread *thread)
{
    (void)thread;
    return false;
}

bool invocation_break_off(void) { return false; }

bool invocation_stop(uint32_t number)
{
    (void)number;
    return false;
}

#endif
