/* Flash timing. */
#ifndef STM32F4XX_HAL_FLASH_H
#define STM32F4XX_HAL_FLASH_H

#include "stm32f4xx_hal_def.h"

#define FLASH_LATENCY_0 0x00000000U
#define FLASH_LATENCY_5 0x00000005U

/* Only the byte with the wait states, so that the caches stay as they are. */
#define ACR_BYTE0_ADDRESS 0x40023C00U
#define __HAL_FLASH_SET_LATENCY(__LATENCY__)                                                       \
    (*(__IO uint8_t *)ACR_BYTE0_ADDRESS = (uint8_t)(__LATENCY__))
#define __HAL_FLASH_GET_LATENCY() (READ_BIT((FLASH->ACR), FLASH_ACR_LATENCY))

#endif
