/* Chooses the chip's header by the symbol that the Makefile defines. */
#ifndef STM32F4XX_H
#define STM32F4XX_H

#if defined(STM32F405xx)
#include "stm32f405xx.h"
#else
#error "Define the chip, for example STM32F405xx."
#endif

typedef enum { RESET = 0U, SET = !RESET } FlagStatus;
typedef enum { DISABLE = 0U, ENABLE = !DISABLE } FunctionalState;

#if defined(USE_HAL_DRIVER)
#include "stm32f4xx_hal.h"
#endif

#endif
