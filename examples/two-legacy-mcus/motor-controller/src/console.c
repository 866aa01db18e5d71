/* Task `console`: one command a line. Every answer ends with a line `ok` or `error: ...`.
 * Times are printed t=, counts n=; everything else depends only on the commands given. */
#include "console.h"

#include <stdint.h>
#include <string.h>

#include "FreeRTOS.h"
#include "task.h"

#include "clock.h"
#include "comm.h"
#include "motor.h"
#include "serial.h"
#include "stm32f405xx.h"
#include "text.h"

#define CONSOLE_PRIORITY 1
#define STACK_WORDS 320
#define LINE_MAX 64U

struct command {
    const char *name;
    const char *help;
    const char *(*run)(char *arguments); /* returns NULL, or what was wrong */
};

static void print(const char *text) { serial_write(text, strlen(text)); }

static void print_number(const char *before, uint32_t value)
{
    char digits[TEXT_NUMBER_MAX];

    print(before);
    print(text_decimal(value, digits));
}

static const char *help_cmd(char *arguments);

static const char *status_cmd(char *arguments)
{
    struct motor_status status;

    (void)arguments;
    motor_get_status(&status);
    print_number("status t=", status.ticks);
    print_number(" hb1 n=", status.control_beats);
    print_number(" hb2 n=", status.monitor_beats);
    print_number(" blinks n=", status.blinks);
    print_number(" longest t=", status.longest);
    print(status.fpu_errors == 0 ? " fpu ok\r\n" : " fpu FAILED\r\n");
    return NULL;
}

static const char *link_cmd(char *arguments)
{
    struct comm_status status;

    (void)arguments;
    comm_get_status(&status);
    print_number("link sent n=", status.sent);
    print_number(" received n=", status.receiver.received);
    print_number(" gaps=", status.receiver.gaps);
    print_number(" peer restarts n=", status.receiver.restarts);
    print_number(" errors n=", status.link.errors);
    print_number(" dropped n=", status.link.dropped);
    print("\r\n");
    return NULL;
}

static const char *clock_cmd(char *arguments)
{
    (void)arguments;
    print_number("clock hz=", SystemCoreClock);
    print_number(" timeouts n=", clock_timeouts);
    print("\r\n");
    return NULL;
}

static const char *get_cmd(char *arguments)
{
    if (strcmp(arguments, "speed") != 0) {
        return "usage: get speed";
    }
    print_number("speed ", motor_get_speed());
    print("\r\n");
    return NULL;
}

static const char *set_cmd(char *arguments)
{
    char *value = text_next_word(arguments);
    uint32_t rpm;

    if (strcmp(arguments, "speed") != 0 || !text_parse(value, 10, &rpm)) {
        return "usage: set speed RPM";
    }
    if (rpm > MOTOR_SPEED_MAX) {
        return "speed is 0 to 3000";
    }
    motor_set_speed(rpm);
    print_number("speed ", rpm);
    print("\r\n");
    return NULL;
}

static const char *echo_cmd(char *arguments)
{
    print(arguments);
    print("\r\n");
    return NULL;
}

static const char *txirq_cmd(char *arguments)
{
    if (strcmp(arguments, "on") == 0) {
        serial_send_by_interrupt(1);
    } else if (strcmp(arguments, "off") == 0) {
        serial_send_by_interrupt(0);
    } else if (*arguments != '\0') {
        return "usage: txirq [on|off]";
    }
    print_number("txirq bytes n=", serial_interrupt_bytes());
    print("\r\n");
    return NULL;
}

static const char *crash_cmd(char *arguments)
{
    uint32_t address;

    if (!text_parse(arguments, 16, &address)) {
        return "usage: crash ADDRESS";
    }
    *(volatile uint32_t *)address = 0xDEADBEEFUL;
    print("written\r\n");
    return NULL;
}

static const char *hang_cmd(char *arguments)
{
    (void)arguments;
    print("hanging\r\n");
    serial_flush();
    __disable_irq();
    for (;;) {
    }
    return NULL;
}

static const char *reset_cmd(char *arguments)
{
    (void)arguments;
    print("resetting\r\n");
    serial_flush();
    NVIC_SystemReset();
    return NULL;
}

static const struct command commands[] = {
    {"help", "this list", help_cmd},
    {"status", "ticks, heartbeats, floating point", status_cmd},
    {"link", "messages to and from the sensor node", link_cmd},
    {"clock", "system clock", clock_cmd},
    {"get", "speed", get_cmd},
    {"set", "speed RPM", set_cmd},
    {"echo", "TEXT", echo_cmd},
    {"txirq", "[on|off]: send from the interrupt only", txirq_cmd},
    {"crash", "ADDRESS: write a word there", crash_cmd},
    {"hang", "mask interrupts and loop", hang_cmd},
    {"reset", "restart the controller", reset_cmd},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static const char *help_cmd(char *arguments)
{
    (void)arguments;
    for (size_t i = 0; i < COMMANDS; i++) {
        print(commands[i].name);
        print(": ");
        print(commands[i].help);
        print("\r\n");
    }
    return NULL;
}

static const char *run_line(char *line)
{
    char *arguments = text_next_word(line);

    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(line, commands[i].name) == 0) {
            return commands[i].run(arguments);
        }
    }
    return "unknown command, try help";
}

/* Reads up to the end of a line, of which there may be two characters. Returns what is wrong
 * with it, or NULL. */
static const char *read_line(char *line)
{
    const char *error = NULL;
    uint32_t length = 0;

    for (;;) {
        char c = serial_getc();

        if (c == '\r' || c == '\n') {
            if (length != 0 || error != NULL) {
                line[length] = '\0';
                return error;
            }
        } else if (c == '\b' || c == 0x7F) {
            length -= length != 0;
        } else if (c < ' ' || c > '~') {
            error = "bad character";
        } else if (length == LINE_MAX) {
            error = "line too long";
        } else {
            line[length++] = c;
        }
    }
}

static void console_task(void *argument)
{
    static char line[LINE_MAX + 1U];

    (void)argument;
    print("\r\nmotor-controller 2.1, FreeRTOS " tskKERNEL_VERSION_NUMBER "\r\nready\r\n");
    for (;;) {
        const char *error = read_line(line);

        if (error == NULL) {
            error = run_line(line);
        }
        if (error != NULL) {
            print("error: ");
            print(error);
            print("\r\n");
        } else {
            print("ok\r\n");
        }
    }
}

void console_init(void)
{
    BaseType_t ok;

    serial_init();
    ok = xTaskCreate(console_task, "console", STACK_WORDS, NULL, CONSOLE_PRIORITY, NULL);
    configASSERT(ok == pdPASS);
}
