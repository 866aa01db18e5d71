/* HSE 8 MHz / M 8 * N 336 / P 2 = 168 MHz; AHB / 1, APB1 / 4, APB2 / 2. */
#include "clock.h"

#include "stm32f405xx.h"

#define READY_TIMEOUT                                                                              \
    0x5000UL /* reads of the ready bit, well above the crystal's start-up time                     \
              */

#define PLL_M 8UL
#define PLL_N 336UL
#define PLL_P 2UL
#define PLL_Q 7UL

uint32_t clock_timeouts;

void clock_init(void)
{
    uint32_t timeout;

    clock_timeouts = 0;

    /* Voltage scale 1 allows the full 168 MHz. */
    RCC->APB1ENR |= RCC_APB1ENR_PWREN;
    PWR->CR |= PWR_CR_VOS;

    /* Crystal. There is no way back to HSI: the baud rates would be wrong. A crystal that
     * doesn't report ready in time is counted, and start-up goes on. */
    RCC->CR |= RCC_CR_HSEON;
    timeout = READY_TIMEOUT;
    while ((RCC->CR & RCC_CR_HSERDY) == 0 && timeout != 0) {
        timeout--;
    }
    if (timeout == 0) {
        clock_timeouts++;
    }

    /* Bus dividers before the switch, so that no bus runs too fast. */
    RCC->CFGR |= RCC_CFGR_HPRE_DIV1 | RCC_CFGR_PPRE1_DIV4 | RCC_CFGR_PPRE2_DIV2;

    RCC->PLLCFGR = PLL_M | (PLL_N << RCC_PLLCFGR_PLLN_Pos) |
                   (((PLL_P >> 1) - 1UL) << RCC_PLLCFGR_PLLP_Pos) | RCC_PLLCFGR_PLLSRC_HSE |
                   (PLL_Q << RCC_PLLCFGR_PLLQ_Pos);
    RCC->CR |= RCC_CR_PLLON;
    timeout = READY_TIMEOUT;
    while ((RCC->CR & RCC_CR_PLLRDY) == 0 && timeout != 0) {
        timeout--;
    }
    if (timeout == 0) {
        clock_timeouts++;
    }

    FLASH->ACR = FLASH_ACR_LATENCY_5WS | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN;

    RCC->CFGR = (RCC->CFGR & ~RCC_CFGR_SW) | RCC_CFGR_SW_PLL;
    timeout = READY_TIMEOUT;
    while ((RCC->CFGR & RCC_CFGR_SWS) != RCC_CFGR_SWS_PLL && timeout != 0) {
        timeout--;
    }
    if (timeout == 0) {
        clock_timeouts++;
    }
}
