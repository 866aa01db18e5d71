/* One command a line. Every answer ends with a line `ok` or `error: ...`. Times are printed t=,
 * counts n=; everything else depends only on the commands given. */
#include "console.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "clock.h"
#include "sensor.h"
#include "serial.h"
#include "stm32f405xx.h"
#include "system_stm32f4xx.h"
#include "systick.h"
#include "text.h"

#define LINE_MAX 64U

struct command {
    const char *name;
    const char *help;
    const char *(*run)(char *arguments); /* returns NULL, or what was wrong */
};

static void print_number(const char *before, uint32_t value)
{
    char digits[TEXT_NUMBER_MAX];

    serial_write(before);
    serial_write(text_decimal(value, digits));
}

static const char *help_cmd(char *arguments);

static const char *status_cmd(char *arguments)
{
    struct systick_status time;
    struct sensor_status sensor;

    (void)arguments;
    systick_get_status(&time);
    sensor_get_status(&sensor);
    print_number("status t=", time.ticks);
    print_number(" hb1 n=", time.loop_beats);
    print_number(" hb2 n=", time.isr_beats);
    print_number(" samples n=", sensor.samples);
    serial_write("\r\n");
    return NULL;
}

static const char *link_cmd(char *arguments)
{
    struct sensor_status status;

    (void)arguments;
    sensor_get_status(&status);
    print_number("link sent n=", status.sent);
    print_number(" received n=", status.receiver.received);
    print_number(" gaps=", status.receiver.gaps);
    print_number(" peer restarts n=", status.receiver.restarts);
    print_number(" errors n=", status.link.errors);
    print_number(" dropped n=", status.link.dropped);
    serial_write("\r\n");
    return NULL;
}

static const char *clock_cmd(char *arguments)
{
    (void)arguments;
    print_number("clock hz=", SystemCoreClock);
    print_number(" timeouts n=", clock_timeouts);
    serial_write("\r\n");
    return NULL;
}

static const char *get_cmd(char *arguments)
{
    if (strcmp(arguments, "gain") == 0) {
        print_number("gain ", sensor_get_gain());
    } else if (strcmp(arguments, "setpoint") == 0) {
        print_number("setpoint ", sensor_get_setpoint());
    } else {
        return "usage: get gain|setpoint";
    }
    serial_write("\r\n");
    return NULL;
}

static const char *set_cmd(char *arguments)
{
    char *value = text_next_word(arguments);
    uint32_t gain;

    if (strcmp(arguments, "gain") != 0 || !text_parse(value, 10, &gain)) {
        return "usage: set gain N";
    }
    if (gain == 0 || gain > SENSOR_GAIN_MAX) {
        return "gain is 1 to 16";
    }
    sensor_set_gain(gain);
    print_number("gain ", sensor_get_gain());
    serial_write("\r\n");
    return NULL;
}

static const char *echo_cmd(char *arguments)
{
    serial_write(arguments);
    serial_write("\r\n");
    return NULL;
}

static const char *crash_cmd(char *arguments)
{
    uint32_t address;

    if (!text_parse(arguments, 16, &address)) {
        return "usage: crash ADDRESS";
    }
    *(volatile uint32_t *)address = 0xDEADBEEFUL;
    serial_write("written\r\n");
    return NULL;
}

static const char *hang_cmd(char *arguments)
{
    (void)arguments;
    serial_write("hanging\r\n");
    serial_flush();
    __disable_irq();
    for (;;) {
    }
    return NULL;
}

static const char *reset_cmd(char *arguments)
{
    (void)arguments;
    serial_write("resetting\r\n");
    serial_flush();
    NVIC_SystemReset();
    return NULL;
}

static const struct command commands[] = {
    {"help", "this list", help_cmd},
    {"status", "ticks, heartbeats, samples", status_cmd},
    {"link", "messages to and from the motor controller", link_cmd},
    {"clock", "system clock", clock_cmd},
    {"get", "gain|setpoint", get_cmd},
    {"set", "gain N", set_cmd},
    {"echo", "TEXT", echo_cmd},
    {"crash", "ADDRESS: write a word there", crash_cmd},
    {"hang", "mask interrupts and loop", hang_cmd},
    {"reset", "restart the node", reset_cmd},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static const char *help_cmd(char *arguments)
{
    (void)arguments;
    for (size_t i = 0; i < COMMANDS; i++) {
        serial_write(commands[i].name);
        serial_write(": ");
        serial_write(commands[i].help);
        serial_write("\r\n");
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

static void answer(char *line, const char *error)
{
    if (error == NULL) {
        error = run_line(line);
    }
    if (error != NULL) {
        serial_write("error: ");
        serial_write(error);
        serial_write("\r\n");
    } else {
        serial_write("ok\r\n");
    }
}

void console_init(void)
{
    serial_init();
    serial_write("\r\nsensor-node 1.7\r\nready\r\n");
}

void console_poll(void)
{
    static char line[LINE_MAX + 1U];
    static uint32_t length;
    static const char *error; /* what is wrong with the line so far */
    int c;

    while ((c = serial_getc()) >= 0) {
        if (c == '\r' || c == '\n') {
            if (length != 0 || error != NULL) {
                line[length] = '\0';
                answer(line, error);
            }
            length = 0;
            error = NULL;
        } else if (c == '\b' || c == 0x7F) {
            length -= length != 0;
        } else if (c < ' ' || c > '~') {
            error = "bad character";
        } else if (length == LINE_MAX) {
            error = "line too long";
        } else {
            line[length++] = (char)c;
        }
    }
}
