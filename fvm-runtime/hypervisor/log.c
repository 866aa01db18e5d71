/* The log thread: fault records, boot messages, a periodic status and what VMs say, as `key=value`
 * lines.
 *
 * It is the least urgent process thread. Once a millisecond it composes at most a line and writes a
 * few characters, without ever waiting for the transmitter, so the log costs no VM more than that.
 * While there is nothing to write it looks less often, unless a VM may write; a fault wakes it.
 */
#include <fvm/fault.h>
#include <fvm/native.h>

#include "hyp_config.h"
#include "hypervisor/console.h"
#include "hypervisor/policy.h"
#include "hypervisor/text.h"

#define CHARACTERS_A_TIME 16u /* 16,000 a second: more than 115200 baud take */
#define TEXT_MOST 80u         /* characters of a VM in a line, those that don't show too */

static struct hyp_text line;
static size_t sent;          /* of the line */
static uint32_t report_tick; /* when the next status is due */
static uint32_t report_next; /* its next line: domains first, then signals */
static uint32_t lost_reported;
static uint32_t last_serial; /* of the newest record written */
static uint32_t text_next;   /* whose text is looked for first */

static struct fvm_result status(uint32_t subject, uint32_t index)
{
    return fvm_call(FVM_CALL_STATUS, HYP_CAP_LOG, subject, index, 0);
}

static void begin(const char *kind)
{
    line.length = 0;
    sent = 0;
    text_string(&line, "fvm: ");
    text_string(&line, kind);
}

static void value(const char *key, uint32_t number)
{
    text_string(&line, key);
    text_number(&line, number);
}

static void place(const char *key, uint32_t address, int valid)
{
    text_string(&line, key);
    if (valid != 0) {
        text_hex(&line, address);
    } else {
        text_string(&line, "none");
    }
}

static const char *cause_name(uint8_t cause)
{
    static const char *const name[] = {
        [FVM_FAULT_MEMORY] = "memory",     [FVM_FAULT_BUS] = "bus",
        [FVM_FAULT_USAGE] = "usage",       [FVM_FAULT_HARD] = "hard",
        [FVM_FAULT_STACKING] = "stacking", [FVM_FAULT_WATCHDOG] = "watchdog",
        [FVM_FAULT_RESET] = "reset",       [FVM_FAULT_HEADER] = "header",
    };
    return cause < sizeof name / sizeof name[0] ? name[cause] : "unknown";
}

static void write_decision(const struct fvm_fault *fault)
{
    static const char *const name[] = {
        [FVM_UNDECIDED] = "open", [FVM_RESTART] = "restart", [FVM_STOP] = "stop"};
    text_string(&line, " action=");
    text_string(&line, name[fault->decision % (sizeof name / sizeof name[0])]);
    if (fault->delay != 0) {
        value(" delay=", fault->delay);
    }
}

static void write_thread(const struct fvm_fault *fault)
{
    text_string(&line, " thread=");
    if (hyp_domain[fault->domain].vcpu == HYP_NO_VCPU) {
        text_number(&line, fault->thread);
    } else {
        text_string(&line, fault->thread == 0 ? "vct" : "usr");
    }
}

static void write_fault(const struct fvm_fault *fault)
{
    if (fault->cause == FVM_FAULT_BOOT) {
        begin("timeout address=");
        text_hex(&line, fault->address);
        text_string(&line, " mask=");
        text_hex(&line, fault->status);
        return;
    }
    begin("fault domain=");
    text_string(&line, hyp_name[fault->domain]);
    text_string(&line, " cause=");
    text_string(&line, cause_name(fault->cause));
    text_string(&line, " cfsr=");
    text_hex(&line, fault->status);
    place(" address=", fault->address, fault->flags & FVM_FAULT_ADDRESS_VALID);
    place(" pc=", fault->pc, fault->flags & FVM_FAULT_PC_VALID);
    place(" lr=", fault->lr, fault->flags & FVM_FAULT_PC_VALID);
    write_thread(fault);
    value(" restarts=", fault->restarts);
    value(" tick=", fault->tick);
    write_decision(fault);
    text_string(&line, " task=");
    text_quoted(&line, fault->task, sizeof fault->task);
}

/* The next record of the kernel's log, or 0. */
static int take_fault(void)
{
    struct fvm_fault fault;
    if (fvm_fault_read(HYP_CAP_LOG, last_serial, &fault) != 1) {
        return 0;
    }
    last_serial = fault.serial;
    (void)fvm_call(FVM_CALL_FAULT_NEXT, HYP_CAP_LOG, 0, 0, 0);
    write_fault(&fault);
    return 1;
}

static int take_lost(uint32_t lost)
{
    if (lost == lost_reported) {
        return 0;
    }
    begin("lost");
    value(" records=", lost - lost_reported);
    lost_reported = lost;
    return 1;
}

static int take_status(uint32_t tick)
{
    if (HYP_REPORT_TICKS == 0 || (report_next == 0 && (int32_t)(tick - report_tick) < 0)) {
        return 0;
    }
    begin("stat");
    value(" tick=", tick);
    if (report_next < HYP_DOMAINS) {
        struct fvm_result domain = status(FVM_STATUS_DOMAIN, report_next);
        text_string(&line, " domain=");
        text_string(&line, hyp_name[report_next]);
        value(" ticks=", domain.r2);
        value(" dropped=", domain.r3);
        value(" restarts=", (uint32_t)domain.r0);
    } else {
        const struct hyp_signal *signal = &hyp_signal[report_next - HYP_DOMAINS];
        text_string(&line, " signal=");
        text_string(&line, signal->name);
        value(" count=", (uint32_t)status(FVM_STATUS_SIGNAL, signal->index).r0);
    }
    if (++report_next == HYP_DOMAINS + HYP_SIGNALS) {
        report_next = 0;
        report_tick += HYP_REPORT_TICKS;
    }
    return 1;
}

static struct fvm_result text_piece(uint32_t number)
{
    return fvm_call(FVM_CALL_TEXT_TAKE, HYP_CAP_LOG, number + 1, 0, 0);
}

/* What a VM wrote, to the end of its line, or as far as it got, or as far as there is room. */
static void write_text(uint32_t number, struct fvm_result piece)
{
    char said[TEXT_MOST];
    uint32_t length = 0, taken = 0;
    bool ends = false;
    begin("text domain=");
    text_string(&line, hyp_name[hyp_text[number]]);
    if (piece.r2 != 0) {
        value(" lost=", piece.r2);
    }
    while (piece.r0 > 0) {
        taken += (uint32_t)piece.r0;
        for (int32_t i = 0; i < piece.r0; i++, piece.r1 >>= 8) {
            char character = (char)piece.r1;
            ends = character == '\n';
            if (!ends && character != '\r') {
                said[length++] = character == '\0' ? '?' : character;
            }
        }
        if (ends || taken + sizeof piece.r1 > TEXT_MOST) {
            break;
        }
        piece = text_piece(number);
    }
    text_string(&line, " said=");
    text_quoted(&line, said, length);
}

/* VMs take turns. */
static int take_text(void)
{
    for (uint32_t i = 0; i != HYP_TEXTS; i++) {
        uint32_t number = text_next;
        text_next = number + 1 == HYP_TEXTS ? 0 : number + 1;
        struct fvm_result piece = text_piece(number);
        if (piece.r0 > 0) {
            write_text(number, piece);
            return 1;
        }
    }
    return 0;
}

enum { FAULT, LOST, STATUS, TEXT, KINDS };

static int take(uint32_t kind, struct fvm_result kernel)
{
    switch (kind) {
    case FAULT:
        return take_fault();
    case LOST:
        return take_lost(kernel.r1);
    case STATUS:
        return take_status((uint32_t)kernel.r0);
    default:
        return take_text();
    }
}

/* Ticks until there may be something to write, if nobody says so before. */
static uint32_t quiet(uint32_t tick)
{
    uint32_t left = report_tick - tick;
    return HYP_REPORT_TICKS != 0 && left < HYP_LOG_IDLE_TICKS ? left : HYP_LOG_IDLE_TICKS;
}

/* Puts the next line into `line`, or sleeps for a while if there is none and only a fault could
 * make one. The kinds take turns: a VM that faults again and again fills the log with its faults,
 * but keeps no other line out. */
static void compose(void)
{
    static uint32_t next;
    struct fvm_result kernel = status(FVM_STATUS_KERNEL, 0);
    for (uint32_t i = 0; i < KINDS; i++) {
        if (take(next++ % KINDS, kernel) != 0) {
            text_string(&line, "\r\n");
            return;
        }
    }
    if (HYP_TEXTS == 0) {
        uint32_t ticks = quiet((uint32_t)kernel.r0);
        (void)fvm_call(FVM_CALL_TIMER_SET, HYP_CAP_LOG_TIMER, ticks, 0, 0);
    }
}

static void announce(void)
{
    struct fvm_result kernel = status(FVM_STATUS_KERNEL, 0);
    begin("boot");
    value(" domains=", HYP_DOMAINS);
    text_string(&line, kernel.r2 != 0 ? " mpu=on\r\n" : " mpu=off\r\n");
    report_tick = HYP_REPORT_TICKS;
}

_Noreturn void hyp_log_thread(void)
{
    console_init();
    announce();
    for (;;) {
        (void)fvm_signal_wait(HYP_CAP_LOG_TICK);
        if (sent == line.length) {
            compose();
        }
        for (uint32_t i = 0; i < CHARACTERS_A_TIME && sent < line.length; i++) {
            if (!console_put(line.character[sent])) {
                break;
            }
            sent++;
        }
    }
}
