/* Core voltage. */
#ifndef STM32F4XX_HAL_PWR_H
#define STM32F4XX_HAL_PWR_H

#include "stm32f4xx_hal_def.h"

#define PWR_REGULATOR_VOLTAGE_SCALE1 PWR_CR_VOS
#define PWR_REGULATOR_VOLTAGE_SCALE2 0x00000000U

#define __HAL_PWR_VOLTAGESCALING_CONFIG(__REGULATOR__)                                             \
    do {                                                                                           \
        __IO uint32_t tmpreg = 0x00U;                                                              \
        MODIFY_REG(PWR->CR, PWR_CR_VOS, (__REGULATOR__));                                          \
        tmpreg = READ_BIT(PWR->CR, PWR_CR_VOS);                                                    \
        UNUSED(tmpreg);                                                                            \
    } while (0U)

#endif
