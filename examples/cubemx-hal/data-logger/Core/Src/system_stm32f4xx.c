/* Early set-up of the core: runs before .data and .bss are there. */
#include "stm32f4xx.h"

#if !defined(HSE_VALUE)
#define HSE_VALUE 8000000U
#endif
#if !defined(HSI_VALUE)
#define HSI_VALUE 16000000U
#endif

uint32_t SystemCoreClock = 16000000;
const uint8_t AHBPrescTable[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 6, 7, 8, 9};
const uint8_t APBPrescTable[8] = {0, 0, 0, 0, 1, 2, 3, 4};

void SystemInit(void)
{
#if (__FPU_PRESENT == 1) && (__FPU_USED == 1)
    SCB->CPACR |= ((3UL << 10 * 2) | (3UL << 11 * 2));
#endif
#if defined(USER_VECT_TAB_ADDRESS)
    SCB->VTOR = FLASH_BASE;
#endif
}

/* Finds out from the registers how fast the core runs. */
void SystemCoreClockUpdate(void)
{
    uint32_t pllvco, pllsource;

    switch (RCC->CFGR & RCC_CFGR_SWS) {
    case 0x04:
        SystemCoreClock = HSE_VALUE;
        break;
    case 0x08:
        pllsource = (RCC->PLLCFGR & RCC_PLLCFGR_PLLSRC) >> 22;
        pllvco = (pllsource != 0 ? HSE_VALUE : HSI_VALUE) / (RCC->PLLCFGR & RCC_PLLCFGR_PLLM);
        pllvco *= (RCC->PLLCFGR & RCC_PLLCFGR_PLLN) >> 6;
        SystemCoreClock = pllvco / ((((RCC->PLLCFGR & RCC_PLLCFGR_PLLP) >> 16) + 1) * 2);
        break;
    default:
        SystemCoreClock = HSI_VALUE;
        break;
    }
    SystemCoreClock >>= AHBPrescTable[((RCC->CFGR & RCC_CFGR_HPRE) >> 4)];
}
