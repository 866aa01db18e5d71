/* Clocks: oscillators, PLL, bus dividers. */
#include "stm32f4xx_hal.h"

/* Waits with a bound for what a function has switched on. */
HAL_StatusTypeDef HAL_RCC_OscConfig(RCC_OscInitTypeDef *RCC_OscInitStruct)
{
    uint32_t tickstart, pll_config;

    if (RCC_OscInitStruct == NULL) {
        return HAL_ERROR;
    }

    /* --- crystal --- */
    if (((RCC_OscInitStruct->OscillatorType) & RCC_OSCILLATORTYPE_HSE) == RCC_OSCILLATORTYPE_HSE) {
        /* What drives the core stays on. */
        if ((__HAL_RCC_GET_SYSCLK_SOURCE() == RCC_CFGR_SWS_HSE) ||
            ((__HAL_RCC_GET_SYSCLK_SOURCE() == RCC_CFGR_SWS_PLL) &&
             ((RCC->PLLCFGR & RCC_PLLCFGR_PLLSRC) == RCC_PLLCFGR_PLLSRC_HSE))) {
            if ((__HAL_RCC_GET_FLAG(RCC_FLAG_HSERDY) != RESET) &&
                (RCC_OscInitStruct->HSEState == RCC_HSE_OFF)) {
                return HAL_ERROR;
            }
        } else {
            __HAL_RCC_HSE_CONFIG(RCC_OscInitStruct->HSEState);
            tickstart = HAL_GetTick();
            if ((RCC_OscInitStruct->HSEState) != RCC_HSE_OFF) {
                while (__HAL_RCC_GET_FLAG(RCC_FLAG_HSERDY) == RESET) {
                    if ((HAL_GetTick() - tickstart) > HSE_TIMEOUT_VALUE) {
                        return HAL_TIMEOUT;
                    }
                }
            } else {
                while (__HAL_RCC_GET_FLAG(RCC_FLAG_HSERDY) != RESET) {
                    if ((HAL_GetTick() - tickstart) > HSE_TIMEOUT_VALUE) {
                        return HAL_TIMEOUT;
                    }
                }
            }
        }
    }

    /* --- internal RC oscillator --- */
    if (((RCC_OscInitStruct->OscillatorType) & RCC_OSCILLATORTYPE_HSI) == RCC_OSCILLATORTYPE_HSI) {
        if ((__HAL_RCC_GET_SYSCLK_SOURCE() == RCC_CFGR_SWS_HSI) ||
            ((__HAL_RCC_GET_SYSCLK_SOURCE() == RCC_CFGR_SWS_PLL) &&
             ((RCC->PLLCFGR & RCC_PLLCFGR_PLLSRC) == RCC_PLLCFGR_PLLSRC_HSI))) {
            if ((__HAL_RCC_GET_FLAG(RCC_FLAG_HSIRDY) != RESET) &&
                (RCC_OscInitStruct->HSIState != RCC_HSI_ON)) {
                return HAL_ERROR;
            }
        } else if ((RCC_OscInitStruct->HSIState) != RCC_HSI_OFF) {
            __HAL_RCC_HSI_ENABLE();
            tickstart = HAL_GetTick();
            while (__HAL_RCC_GET_FLAG(RCC_FLAG_HSIRDY) == RESET) {
                if ((HAL_GetTick() - tickstart) > HSI_TIMEOUT_VALUE) {
                    return HAL_TIMEOUT;
                }
            }
        } else {
            __HAL_RCC_HSI_DISABLE();
            tickstart = HAL_GetTick();
            while (__HAL_RCC_GET_FLAG(RCC_FLAG_HSIRDY) != RESET) {
                if ((HAL_GetTick() - tickstart) > HSI_TIMEOUT_VALUE) {
                    return HAL_TIMEOUT;
                }
            }
        }
    }

    /* --- PLL --- */
    if ((RCC_OscInitStruct->PLL.PLLState) == RCC_PLL_NONE) {
        return HAL_OK;
    }
    if (__HAL_RCC_GET_SYSCLK_SOURCE() != RCC_CFGR_SWS_PLL) {
        /* It can only be changed while it stands still. */
        __HAL_RCC_PLL_DISABLE();
        tickstart = HAL_GetTick();
        while (__HAL_RCC_GET_FLAG(RCC_FLAG_PLLRDY) != RESET) {
            if ((HAL_GetTick() - tickstart) > PLL_TIMEOUT_VALUE) {
                return HAL_TIMEOUT;
            }
        }
        if ((RCC_OscInitStruct->PLL.PLLState) == RCC_PLL_ON) {
            WRITE_REG(RCC->PLLCFGR,
                      (RCC_OscInitStruct->PLL.PLLSource | RCC_OscInitStruct->PLL.PLLM |
                       (RCC_OscInitStruct->PLL.PLLN << RCC_PLLCFGR_PLLN_Pos) |
                       (((RCC_OscInitStruct->PLL.PLLP >> 1U) - 1U) << RCC_PLLCFGR_PLLP_Pos) |
                       (RCC_OscInitStruct->PLL.PLLQ << RCC_PLLCFGR_PLLQ_Pos)));
            __HAL_RCC_PLL_ENABLE();
            tickstart = HAL_GetTick();
            while (__HAL_RCC_GET_FLAG(RCC_FLAG_PLLRDY) == RESET) {
                if ((HAL_GetTick() - tickstart) > PLL_TIMEOUT_VALUE) {
                    return HAL_TIMEOUT;
                }
            }
        }
    } else {
        /* It drives the core: all that may be asked for is what it does already. */
        if ((RCC_OscInitStruct->PLL.PLLState) == RCC_PLL_OFF) {
            return HAL_ERROR;
        }
        pll_config = RCC->PLLCFGR;
        if ((READ_BIT(pll_config, RCC_PLLCFGR_PLLSRC) != RCC_OscInitStruct->PLL.PLLSource) ||
            (READ_BIT(pll_config, RCC_PLLCFGR_PLLM) != (RCC_OscInitStruct->PLL.PLLM)
                                                           << RCC_PLLCFGR_PLLM_Pos) ||
            (READ_BIT(pll_config, RCC_PLLCFGR_PLLN) != (RCC_OscInitStruct->PLL.PLLN)
                                                           << RCC_PLLCFGR_PLLN_Pos) ||
            (READ_BIT(pll_config, RCC_PLLCFGR_PLLP) != (((RCC_OscInitStruct->PLL.PLLP >> 1U) - 1U))
                                                           << RCC_PLLCFGR_PLLP_Pos) ||
            (READ_BIT(pll_config, RCC_PLLCFGR_PLLQ) !=
             (RCC_OscInitStruct->PLL.PLLQ << RCC_PLLCFGR_PLLQ_Pos))) {
            return HAL_ERROR;
        }
    }
    return HAL_OK;
}

HAL_StatusTypeDef HAL_RCC_ClockConfig(RCC_ClkInitTypeDef *RCC_ClkInitStruct, uint32_t FLatency)
{
    uint32_t tickstart;

    if (RCC_ClkInitStruct == NULL) {
        return HAL_ERROR;
    }

    /* More wait states before the core gets faster. */
    if (FLatency > __HAL_FLASH_GET_LATENCY()) {
        __HAL_FLASH_SET_LATENCY(FLatency);
        if (__HAL_FLASH_GET_LATENCY() != FLatency) {
            return HAL_ERROR;
        }
    }

    /* The slowest buses while HCLK changes, so that none is ever too fast. */
    if (((RCC_ClkInitStruct->ClockType) & RCC_CLOCKTYPE_HCLK) == RCC_CLOCKTYPE_HCLK) {
        MODIFY_REG(RCC->CFGR, RCC_CFGR_PPRE1, RCC_HCLK_DIV16);
        MODIFY_REG(RCC->CFGR, RCC_CFGR_PPRE2, (RCC_HCLK_DIV16 << 3));
        MODIFY_REG(RCC->CFGR, RCC_CFGR_HPRE, RCC_ClkInitStruct->AHBCLKDivider);
    }

    if (((RCC_ClkInitStruct->ClockType) & RCC_CLOCKTYPE_SYSCLK) == RCC_CLOCKTYPE_SYSCLK) {
        if (RCC_ClkInitStruct->SYSCLKSource == RCC_SYSCLKSOURCE_HSE) {
            if (__HAL_RCC_GET_FLAG(RCC_FLAG_HSERDY) == RESET) {
                return HAL_ERROR;
            }
        } else if (RCC_ClkInitStruct->SYSCLKSource == RCC_SYSCLKSOURCE_PLLCLK) {
            if (__HAL_RCC_GET_FLAG(RCC_FLAG_PLLRDY) == RESET) {
                return HAL_ERROR;
            }
        } else {
            if (__HAL_RCC_GET_FLAG(RCC_FLAG_HSIRDY) == RESET) {
                return HAL_ERROR;
            }
        }

        __HAL_RCC_SYSCLK_CONFIG(RCC_ClkInitStruct->SYSCLKSource);
        tickstart = HAL_GetTick();
        while (__HAL_RCC_GET_SYSCLK_SOURCE() !=
               (RCC_ClkInitStruct->SYSCLKSource << RCC_CFGR_SWS_Pos)) {
            if ((HAL_GetTick() - tickstart) > CLOCKSWITCH_TIMEOUT_VALUE) {
                return HAL_TIMEOUT;
            }
        }
    }

    /* Fewer wait states once it is slower. */
    if (FLatency < __HAL_FLASH_GET_LATENCY()) {
        __HAL_FLASH_SET_LATENCY(FLatency);
        if (__HAL_FLASH_GET_LATENCY() != FLatency) {
            return HAL_ERROR;
        }
    }

    if (((RCC_ClkInitStruct->ClockType) & RCC_CLOCKTYPE_PCLK1) == RCC_CLOCKTYPE_PCLK1) {
        MODIFY_REG(RCC->CFGR, RCC_CFGR_PPRE1, RCC_ClkInitStruct->APB1CLKDivider);
    }
    if (((RCC_ClkInitStruct->ClockType) & RCC_CLOCKTYPE_PCLK2) == RCC_CLOCKTYPE_PCLK2) {
        MODIFY_REG(RCC->CFGR, RCC_CFGR_PPRE2, ((RCC_ClkInitStruct->APB2CLKDivider) << 3U));
    }

    SystemCoreClock = HAL_RCC_GetSysClockFreq() >>
                      AHBPrescTable[(RCC->CFGR & RCC_CFGR_HPRE) >> RCC_CFGR_HPRE_Pos];

    HAL_InitTick(uwTickPrio);

    return HAL_OK;
}

uint32_t HAL_RCC_GetSysClockFreq(void)
{
    uint32_t pllm = 0U;
    uint32_t pllvco = 0U;
    uint32_t pllp = 0U;
    uint32_t sysclockfreq = 0U;

    switch (RCC->CFGR & RCC_CFGR_SWS) {
    case RCC_CFGR_SWS_HSE: {
        sysclockfreq = HSE_VALUE;
        break;
    }
    case RCC_CFGR_SWS_PLL: {
        pllm = RCC->PLLCFGR & RCC_PLLCFGR_PLLM;
        if (__HAL_RCC_GET_PLL_OSCSOURCE() != RCC_PLLSOURCE_HSI) {
            pllvco = (uint32_t)(((uint64_t)HSE_VALUE *
                                 ((RCC->PLLCFGR & RCC_PLLCFGR_PLLN) >> RCC_PLLCFGR_PLLN_Pos)) /
                                pllm);
        } else {
            pllvco = (uint32_t)(((uint64_t)HSI_VALUE *
                                 ((RCC->PLLCFGR & RCC_PLLCFGR_PLLN) >> RCC_PLLCFGR_PLLN_Pos)) /
                                pllm);
        }
        pllp = ((((RCC->PLLCFGR & RCC_PLLCFGR_PLLP) >> RCC_PLLCFGR_PLLP_Pos) + 1U) * 2U);
        sysclockfreq = pllvco / pllp;
        break;
    }
    case RCC_CFGR_SWS_HSI:
    default: {
        sysclockfreq = HSI_VALUE;
        break;
    }
    }
    return sysclockfreq;
}

uint32_t HAL_RCC_GetHCLKFreq(void) { return SystemCoreClock; }

uint32_t HAL_RCC_GetPCLK1Freq(void)
{
    return (HAL_RCC_GetHCLKFreq() >>
            APBPrescTable[(RCC->CFGR & RCC_CFGR_PPRE1) >> RCC_CFGR_PPRE1_Pos]);
}

uint32_t HAL_RCC_GetPCLK2Freq(void)
{
    return (HAL_RCC_GetHCLKFreq() >>
            APBPrescTable[(RCC->CFGR & RCC_CFGR_PPRE2) >> RCC_CFGR_PPRE2_Pos]);
}
