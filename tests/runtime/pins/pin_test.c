/* The kernel's pins on ports that are made of memory. Exit code 0, or the line of the check that
 * failed. */
#include "kernel/kernel.h"

#define MINE 1u
#define OTHERS 2u

/* Input levels, output levels, set/reset register. */
#define PORT_A ((volatile uint32_t *)0x20001000)
#define PORT_B ((volatile uint32_t *)0x20001100)
#define SET_RESET_A 0x20001008u
#define SET_RESET_B 0x20001108u

const struct fvm_pin_grant fvm_pin[FVM_PINS] = {
    {.domain = MINE, .port = 0, .mask = 0x0020, .own = 0x0031, .address = SET_RESET_A},
    {.domain = OTHERS, .port = 0, .mask = 0x0002, .own = 0x0002, .address = SET_RESET_A},
    {.domain = OTHERS, .port = 1, .mask = 0, .own = 0xFFFF, .address = SET_RESET_B},
};

extern char _estack[];
void start(void);

__attribute__((used, section(".vectors"))) static const void *const vectors[] = {_estack,
                                                                                 (void *)start};

static _Noreturn void finish(uint32_t code)
{
    uint32_t block[2] = {0x20026u /* ADP_Stopped_ApplicationExit */, code};
    register uint32_t operation __asm("r0") = 0x20u; /* SYS_EXIT_EXTENDED */
    register uint32_t *argument __asm("r1") = block;

    __asm volatile("bkpt 0xAB" : : "r"(operation), "r"(argument) : "memory");
    for (;;) {
    }
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            finish(__LINE__);                                                                      \
        }                                                                                          \
    } while (0)

void start(void)
{
    PORT_A[0] = 0xFFFF00F1u;
    PORT_A[1] = 0x000000A3u;
    PORT_B[0] = PORT_B[1] = 0x0000FFFFu;
    PORT_A[2] = PORT_B[2] = 0;

    /* Only the caller's own pins, whatever else is high. */
    CHECK(pin_get(MINE, 0, FVM_PIN_INPUT) == 0x31);
    CHECK(pin_get(MINE, 0, FVM_PIN_OUTPUT) == 0x21);
    CHECK(pin_get(OTHERS, 0, FVM_PIN_INPUT) == 0);
    CHECK(pin_get(OTHERS, 1, FVM_PIN_INPUT) == 0xFFFF);
    CHECK(pin_get(MINE, 1, FVM_PIN_INPUT) == FVM_E_OWNER);
    CHECK(pin_get(MINE, 0x80000000u, FVM_PIN_INPUT) == FVM_E_OWNER);
    CHECK(pin_get(MINE, 0, 2) == FVM_E_ARGUMENT);

    /* What may be read may not be set for that. */
    CHECK(pin_set(MINE, 0, 0x01, 0x01) == FVM_E_OWNER && PORT_A[2] == 0);
    CHECK(pin_set(OTHERS, 1, 0x01, 0x01) == FVM_E_OWNER && PORT_B[2] == 0);
    CHECK(pin_set(MINE, 0, 0x20, 0xFFFF) == FVM_OK && PORT_A[2] == 0x20);
    CHECK(pin_set(MINE, 0, 0x20, 0) == FVM_OK && PORT_A[2] == 0x200000);
    finish(0);
}
