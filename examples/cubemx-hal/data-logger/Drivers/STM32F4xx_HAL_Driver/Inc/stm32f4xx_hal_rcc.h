/* Clocks. */
#ifndef STM32F4XX_HAL_RCC_H
#define STM32F4XX_HAL_RCC_H

#include "stm32f4xx_hal_def.h"

typedef struct {
    uint32_t PLLState;
    uint32_t PLLSource;
    uint32_t PLLM;
    uint32_t PLLN;
    uint32_t PLLP;
    uint32_t PLLQ;
} RCC_PLLInitTypeDef;

typedef struct {
    uint32_t OscillatorType; /* which of the oscillators below are meant */
    uint32_t HSEState;
    uint32_t HSIState;
    uint32_t LSIState;
    RCC_PLLInitTypeDef PLL;
} RCC_OscInitTypeDef;

typedef struct {
    uint32_t ClockType; /* which of the clocks below are meant */
    uint32_t SYSCLKSource;
    uint32_t AHBCLKDivider;
    uint32_t APB1CLKDivider;
    uint32_t APB2CLKDivider;
} RCC_ClkInitTypeDef;

#define RCC_OSCILLATORTYPE_NONE 0x00000000U
#define RCC_OSCILLATORTYPE_HSE 0x00000001U
#define RCC_OSCILLATORTYPE_HSI 0x00000002U
#define RCC_OSCILLATORTYPE_LSI 0x00000008U

#define RCC_HSE_OFF 0x00000000U
#define RCC_HSE_ON RCC_CR_HSEON
#define RCC_HSE_BYPASS ((uint32_t)(RCC_CR_HSEBYP | RCC_CR_HSEON))
#define RCC_HSI_OFF ((uint8_t)0x00)
#define RCC_HSI_ON ((uint8_t)0x01)
#define RCC_LSI_OFF ((uint8_t)0x00)
#define RCC_LSI_ON ((uint8_t)0x01)

#define RCC_PLL_NONE ((uint8_t)0x00)
#define RCC_PLL_OFF ((uint8_t)0x01)
#define RCC_PLL_ON ((uint8_t)0x02)
#define RCC_PLLP_DIV2 0x00000002U
#define RCC_PLLP_DIV4 0x00000004U
#define RCC_PLLSOURCE_HSI RCC_PLLCFGR_PLLSRC_HSI
#define RCC_PLLSOURCE_HSE RCC_PLLCFGR_PLLSRC_HSE

#define RCC_CLOCKTYPE_SYSCLK 0x00000001U
#define RCC_CLOCKTYPE_HCLK 0x00000002U
#define RCC_CLOCKTYPE_PCLK1 0x00000004U
#define RCC_CLOCKTYPE_PCLK2 0x00000008U

#define RCC_SYSCLKSOURCE_HSI RCC_CFGR_SW_HSI
#define RCC_SYSCLKSOURCE_HSE RCC_CFGR_SW_HSE
#define RCC_SYSCLKSOURCE_PLLCLK RCC_CFGR_SW_PLL
#define RCC_SYSCLK_DIV1 RCC_CFGR_HPRE_DIV1
#define RCC_SYSCLK_DIV2 RCC_CFGR_HPRE_DIV2
#define RCC_HCLK_DIV1 RCC_CFGR_PPRE1_DIV1
#define RCC_HCLK_DIV2 RCC_CFGR_PPRE1_DIV2
#define RCC_HCLK_DIV4 RCC_CFGR_PPRE1_DIV4
#define RCC_HCLK_DIV16 RCC_CFGR_PPRE1_DIV16

/* A flag names its register in bits 5 and up (1: CR, 3: CSR), its bit below. */
#define RCC_FLAG_HSIRDY ((uint8_t)0x21)
#define RCC_FLAG_HSERDY ((uint8_t)0x31)
#define RCC_FLAG_PLLRDY ((uint8_t)0x39)
#define RCC_FLAG_LSIRDY ((uint8_t)0x61)
#define RCC_FLAG_MASK ((uint8_t)0x1FU)

#define HSE_TIMEOUT_VALUE HSE_STARTUP_TIMEOUT
#define HSI_TIMEOUT_VALUE 2U
#define LSI_TIMEOUT_VALUE 2U
#define PLL_TIMEOUT_VALUE 2U
#define CLOCKSWITCH_TIMEOUT_VALUE 5000U

/* Switching a clock on takes two of its periods: reading the register back passes them. */
#define __HAL_RCC_GPIOA_CLK_ENABLE()                                                               \
    do {                                                                                           \
        __IO uint32_t tmpreg = 0x00U;                                                              \
        SET_BIT(RCC->AHB1ENR, RCC_AHB1ENR_GPIOAEN);                                                \
        tmpreg = READ_BIT(RCC->AHB1ENR, RCC_AHB1ENR_GPIOAEN);                                      \
        UNUSED(tmpreg);                                                                            \
    } while (0U)
#define __HAL_RCC_GPIOB_CLK_ENABLE()                                                               \
    do {                                                                                           \
        __IO uint32_t tmpreg = 0x00U;                                                              \
        SET_BIT(RCC->AHB1ENR, RCC_AHB1ENR_GPIOBEN);                                                \
        tmpreg = READ_BIT(RCC->AHB1ENR, RCC_AHB1ENR_GPIOBEN);                                      \
        UNUSED(tmpreg);                                                                            \
    } while (0U)
#define __HAL_RCC_GPIOC_CLK_ENABLE()                                                               \
    do {                                                                                           \
        __IO uint32_t tmpreg = 0x00U;                                                              \
        SET_BIT(RCC->AHB1ENR, RCC_AHB1ENR_GPIOCEN);                                                \
        tmpreg = READ_BIT(RCC->AHB1ENR, RCC_AHB1ENR_GPIOCEN);                                      \
        UNUSED(tmpreg);                                                                            \
    } while (0U)
#define __HAL_RCC_USART1_CLK_ENABLE()                                                              \
    do {                                                                                           \
        __IO uint32_t tmpreg = 0x00U;                                                              \
        SET_BIT(RCC->APB2ENR, RCC_APB2ENR_USART1EN);                                               \
        tmpreg = READ_BIT(RCC->APB2ENR, RCC_APB2ENR_USART1EN);                                     \
        UNUSED(tmpreg);                                                                            \
    } while (0U)
#define __HAL_RCC_USART1_CLK_DISABLE() (RCC->APB2ENR &= ~(RCC_APB2ENR_USART1EN))
#define __HAL_RCC_SYSCFG_CLK_ENABLE()                                                              \
    do {                                                                                           \
        __IO uint32_t tmpreg = 0x00U;                                                              \
        SET_BIT(RCC->APB2ENR, RCC_APB2ENR_SYSCFGEN);                                               \
        tmpreg = READ_BIT(RCC->APB2ENR, RCC_APB2ENR_SYSCFGEN);                                     \
        UNUSED(tmpreg);                                                                            \
    } while (0U)
#define __HAL_RCC_PWR_CLK_ENABLE()                                                                 \
    do {                                                                                           \
        __IO uint32_t tmpreg = 0x00U;                                                              \
        SET_BIT(RCC->APB1ENR, RCC_APB1ENR_PWREN);                                                  \
        tmpreg = READ_BIT(RCC->APB1ENR, RCC_APB1ENR_PWREN);                                        \
        UNUSED(tmpreg);                                                                            \
    } while (0U)

#define __HAL_RCC_HSE_CONFIG(__STATE__)                                                            \
    do {                                                                                           \
        if ((__STATE__) == RCC_HSE_ON) {                                                           \
            SET_BIT(RCC->CR, RCC_CR_HSEON);                                                        \
        } else if ((__STATE__) == RCC_HSE_BYPASS) {                                                \
            SET_BIT(RCC->CR, RCC_CR_HSEBYP);                                                       \
            SET_BIT(RCC->CR, RCC_CR_HSEON);                                                        \
        } else {                                                                                   \
            CLEAR_BIT(RCC->CR, RCC_CR_HSEON);                                                      \
            CLEAR_BIT(RCC->CR, RCC_CR_HSEBYP);                                                     \
        }                                                                                          \
    } while (0U)
#define __HAL_RCC_HSI_ENABLE() SET_BIT(RCC->CR, RCC_CR_HSION)
#define __HAL_RCC_HSI_DISABLE() CLEAR_BIT(RCC->CR, RCC_CR_HSION)
#define __HAL_RCC_LSI_ENABLE() SET_BIT(RCC->CSR, RCC_CSR_LSION)
#define __HAL_RCC_LSI_DISABLE() CLEAR_BIT(RCC->CSR, RCC_CSR_LSION)
#define __HAL_RCC_PLL_ENABLE() SET_BIT(RCC->CR, RCC_CR_PLLON)
#define __HAL_RCC_PLL_DISABLE() CLEAR_BIT(RCC->CR, RCC_CR_PLLON)
#define __HAL_RCC_SYSCLK_CONFIG(__SOURCE__) MODIFY_REG(RCC->CFGR, RCC_CFGR_SW, (__SOURCE__))
#define __HAL_RCC_GET_SYSCLK_SOURCE() (RCC->CFGR & RCC_CFGR_SWS)
#define __HAL_RCC_GET_PLL_OSCSOURCE() ((uint32_t)(RCC->PLLCFGR & RCC_PLLCFGR_PLLSRC))
#define __HAL_RCC_GET_FLAG(__FLAG__)                                                               \
    ((((((__FLAG__) >> 5U) == 1U) ? RCC->CR : RCC->CSR) & (1U << ((__FLAG__)&RCC_FLAG_MASK))) != 0U)

HAL_StatusTypeDef HAL_RCC_OscConfig(RCC_OscInitTypeDef *RCC_OscInitStruct);
HAL_StatusTypeDef HAL_RCC_ClockConfig(RCC_ClkInitTypeDef *RCC_ClkInitStruct, uint32_t FLatency);
uint32_t HAL_RCC_GetSysClockFreq(void);
uint32_t HAL_RCC_GetHCLKFreq(void);
uint32_t HAL_RCC_GetPCLK1Freq(void);
uint32_t HAL_RCC_GetPCLK2Freq(void);

#endif
