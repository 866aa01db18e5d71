/* What bare metal needs: clocks (168 MHz from a crystal), the pin of USART1, the cycle counter. */
#include <stdint.h>

#include "operations.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define RCC_CR REGISTER(0x40023800u)
#define RCC_PLLCFGR REGISTER(0x40023804u)
#define RCC_CFGR REGISTER(0x40023808u)
#define RCC_AHB1ENR REGISTER(0x40023830u)
#define RCC_APB1ENR REGISTER(0x40023840u)
#define PWR_CR REGISTER(0x40007000u)
#define FLASH_ACR REGISTER(0x40023C00u)
#define GPIOA_MODER REGISTER(0x40020000u)
#define GPIOA_AFRH REGISTER(0x40020024u)
#define DEMCR REGISTER(0xE000EDFCu)
#define DWT_CTRL REGISTER(0xE0001000u)

#define LONGEST 100000u /* reads */

const char hw_side[] = "bare";

static void await(volatile uint32_t *address, uint32_t mask, uint32_t value)
{
    for (uint32_t i = 0; i < LONGEST && (*address & mask) != value; i++) {
    }
}

void hw_init(void)
{
    RCC_CR |= 1u << 16; /* HSE */
    await(&RCC_CR, 1u << 17, 1u << 17);
    RCC_APB1ENR |= 1u << 28;
    PWR_CR |= 1u << 14;
    RCC_PLLCFGR = HW_HSE_MHZ | 336u << 6 | 1u << 22 | 7u << 24;
    FLASH_ACR = 0x705u; /* five wait states; prefetch and caches on */
    RCC_CFGR = 5u << 10 | 4u << 13;
    RCC_CR |= 1u << 24;
    await(&RCC_CR, 1u << 25, 1u << 25);
    RCC_CFGR |= 2u;
    await(&RCC_CFGR, 3u << 2, 2u << 2);
    RCC_AHB1ENR |= 1u;
    GPIOA_AFRH = (GPIOA_AFRH & ~0xF0u) | 0x70u;
    GPIOA_MODER = (GPIOA_MODER & ~(3u << 18)) | 2u << 18;
    DEMCR |= 1u << 24;
    DWT_CTRL |= 1u;
    hw_calibrate();
}

void run_guest(void) { hw_report(); }
