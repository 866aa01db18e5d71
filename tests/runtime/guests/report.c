/* Output of test guests. A line is put together first and sent under no mask: it is the caller's
 * business that nobody else of its VM writes at the same time. */
#include "report.h"

#ifdef TEST_CMSDK_UART
struct uart {
    volatile uint32_t data, state, ctrl, cleared, bauddiv;
};

#define UART ((struct uart *)TEST_CMSDK_UART)
#define STATE_TX_FULL 1u
#define CTRL_TX 1u
#define FASTEST 16u

static void init(void)
{
    UART->bauddiv = FASTEST;
    UART->ctrl = CTRL_TX;
}

static void put(char character)
{
    while ((UART->state & STATE_TX_FULL) != 0) {
    }
    UART->data = (uint8_t)character;
}
#else
struct usart {
    volatile uint32_t sr, dr, brr, cr1;
};

#define USART ((struct usart *)TEST_USART)
#define CR1_UE_TE_RE ((1u << 13) | (1u << 3) | (1u << 2))

static void init(void) { USART->cr1 = CR1_UE_TE_RE; }
static void put(char character) { USART->dr = (uint8_t)character; }
#endif

extern volatile uint32_t end[]; /* behind .bss, from the linker script */

void report_init(void) { init(); }

void report_text(const char *text)
{
    while (*text != '\0') {
        put(*text++);
    }
}

void report(const char *key, int32_t value)
{
    char digit[12];
    int32_t i = sizeof digit - 1;
    uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    digit[i] = '\0';
    do {
        digit[--i] = (char)('0' + rest % 10u);
        rest /= 10u;
    } while (rest != 0);
    report_text(key);
    report_text(value < 0 ? "=-" : "=");
    report_text(&digit[i]);
    report_text("\r\n");
}

void report_hex(const char *key, uint32_t value)
{
    char digit[9];
    for (int32_t i = 7; i >= 0; i--, value >>= 4) {
        digit[i] = "0123456789abcdef"[value & 15u];
    }
    digit[8] = '\0';
    report_text(key);
    report_text("=0x");
    report_text(digit);
    report_text("\r\n");
}

/* QEMU's RAM is zero at power on. Call it once a start. */
uint32_t boots(void) { return ++end[0]; }
