/* Commands and answers. Every answer ends with a line `ok` or `error: ...`. Times are printed t=,
 * counts n=; everything else depends only on the commands given. */
#include "console.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger.h"
#include "main.h"

#define LINE_MAX 64U
#define RX_SIZE 128U       /* a power of two */
#define TX_TIMEOUT 1000U   /* milliseconds for one answer line */
#define DELAY_LONGEST 300U /* milliseconds: the watchdog waits 500 */

static uint8_t rx_byte; /* where the HAL puts the next character */
static volatile uint8_t rx_buffer[RX_SIZE];
static volatile uint32_t rx_head, rx_tail, rx_errors;
static volatile uint32_t tx_complete;

static void print(const char *text)
{
    HAL_UART_Transmit(&huart1, (const uint8_t *)text, (uint16_t)strlen(text), TX_TIMEOUT);
}

static void print_number(const char *before, uint32_t number)
{
    char text[12];

    print(before);
    print(utoa(number, text, 10));
}

void HAL_UART_RxCpltCallback(UART_HandleTypeDef *huart)
{
    uint32_t next = (rx_head + 1U) % RX_SIZE;

    if (next != rx_tail) {
        rx_buffer[rx_head] = rx_byte;
        rx_head = next;
    }
    HAL_UART_Receive_IT(huart, &rx_byte, 1);
}

void HAL_UART_TxCpltCallback(UART_HandleTypeDef *huart)
{
    (void)huart;
    tx_complete++;
}

void HAL_UART_ErrorCallback(UART_HandleTypeDef *huart)
{
    rx_errors++;
    HAL_UART_Receive_IT(huart, &rx_byte, 1);
}

static const char *status(char *argument)
{
    (void)argument;
    print_number("status t=", HAL_GetTick());
    print_number(" samples n=", logger_count());
    print_number(" errors n=", error_count);
    print_number(" overruns n=", rx_errors);
    print("\r\n");
    return NULL;
}

static const char *clock(char *argument)
{
    (void)argument;
    print_number("clock hclk=", HAL_RCC_GetHCLKFreq());
    print_number(" pclk1=", HAL_RCC_GetPCLK1Freq());
    print_number(" pclk2=", HAL_RCC_GetPCLK2Freq());
    print("\r\n");
    return NULL;
}

static const char *dump(char *argument)
{
    uint32_t wanted = *argument == '\0' ? 1U : strtoul(argument, NULL, 10);
    struct record record;

    while (wanted != 0U) {
        wanted--;
        if (logger_record(wanted, &record)) {
            print_number("record n=", record.number);
            print_number(" t=", record.time);
            print_number(" v=", record.value);
            print("\r\n");
        }
    }
    return NULL;
}

static const char *clear(char *argument)
{
    (void)argument;
    logger_clear();
    return NULL;
}

static const char *period(char *argument)
{
    uint32_t milliseconds = strtoul(argument, NULL, 10);

    if (*argument != '\0') {
        if (milliseconds == 0U || milliseconds > 10000U) {
            return "1 to 10000 ms";
        }
        logger_set_period(milliseconds);
    }
    print_number("period ms=", logger_period());
    print("\r\n");
    return NULL;
}

static const char *led(char *argument)
{
    if (strcmp(argument, "on") == 0) {
        HAL_GPIO_WritePin(LED_GPIO_Port, LED_Pin, GPIO_PIN_SET);
    } else if (strcmp(argument, "off") == 0) {
        HAL_GPIO_WritePin(LED_GPIO_Port, LED_Pin, GPIO_PIN_RESET);
    } else if (strcmp(argument, "toggle") == 0) {
        HAL_GPIO_TogglePin(LED_GPIO_Port, LED_Pin);
    } else {
        return "usage: led on|off|toggle";
    }
    return NULL;
}

static const char *delay(char *argument)
{
    uint32_t milliseconds = strtoul(argument, NULL, 10);
    uint32_t start = HAL_GetTick();

    if (milliseconds > DELAY_LONGEST) {
        return "too long for the watchdog";
    }
    HAL_Delay(milliseconds);
    print_number("delayed t=", HAL_GetTick() - start);
    print("\r\n");
    return NULL;
}

/* Sends without waiting. The interrupt is pended by hand as well: a port whose transmit interrupt
 * never comes would keep the text for ever. */
static const char *send(char *argument)
{
    uint32_t before = tx_complete;
    uint32_t start = HAL_GetTick();

    if (*argument == '\0') {
        return "usage: send TEXT";
    }
    if (HAL_UART_Transmit_IT(&huart1, (const uint8_t *)argument, (uint16_t)strlen(argument)) !=
        HAL_OK) {
        return "port is busy";
    }
    while (tx_complete == before && HAL_GetTick() - start < TX_TIMEOUT) {
        HAL_NVIC_SetPendingIRQ(USART1_IRQn);
    }
    print("\r\n");
    return tx_complete == before ? "not sent" : NULL;
}

static const char *echo(char *argument)
{
    if (*argument != '\0') {
        print(argument);
    }
    print("\r\n");
    return NULL;
}

static const char *crash(char *argument)
{
    if (*argument == '\0') {
        return "usage: crash ADDRESS";
    }
    *(volatile uint32_t *)strtoul(argument, NULL, 16) = 0xDEADBEEFUL;
    print("written\r\n");
    return NULL;
}

static const char *hang(char *argument)
{
    (void)argument;
    print("hanging\r\n");
    __disable_irq();
    for (;;) {
    }
    return NULL;
}

static const char *reset(char *argument)
{
    (void)argument;
    print("resetting\r\n");
    HAL_NVIC_SystemReset();
    return NULL;
}

static const char *help(char *argument);

static const struct {
    const char *name;
    const char *(*run)(char *argument); /* returns NULL, or what was wrong */
    const char *help;
} commands[] = {
    {"help", help, "this list"},
    {"status", status, "ticks, samples, errors"},
    {"clock", clock, "clocks that the HAL knows of"},
    {"dump", dump, "[N]: the last records"},
    {"clear", clear, "forget all records"},
    {"period", period, "[MS]: time between two samples"},
    {"led", led, "on|off|toggle"},
    {"delay", delay, "MS: HAL_Delay"},
    {"send", send, "TEXT: sends by interrupt"},
    {"echo", echo, "TEXT"},
    {"crash", crash, "ADDRESS: write a word there"},
    {"hang", hang, "mask interrupts and loop"},
    {"reset", reset, "restart the logger"},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static const char *help(char *argument)
{
    (void)argument;
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
    char *argument = strchr(line, ' ');

    if (argument == NULL) {
        argument = line + strlen(line);
    } else {
        *argument++ = '\0';
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(line, commands[i].name) == 0) {
            return commands[i].run(argument);
        }
    }
    return "unknown command, try help";
}

void console_init(void)
{
    HAL_UART_Receive_IT(&huart1, &rx_byte, 1);
    print("\r\ndata-logger 3.2\r\nready\r\n");
}

void console_poll(void)
{
    static char line[LINE_MAX + 1U];
    static uint32_t length;

    while (rx_tail != rx_head) {
        uint8_t c = rx_buffer[rx_tail];

        rx_tail = (rx_tail + 1U) % RX_SIZE;
        if (c == '\r' || c == '\n') {
            if (length != 0U) {
                const char *error;

                line[length] = '\0';
                length = 0U;
                error = run_line(line);
                if (error != NULL) {
                    print("error: ");
                    print(error);
                    print("\r\n");
                } else {
                    print("ok\r\n");
                }
            }
        } else if (length < LINE_MAX) {
            line[length++] = (char)c;
        }
    }
}
