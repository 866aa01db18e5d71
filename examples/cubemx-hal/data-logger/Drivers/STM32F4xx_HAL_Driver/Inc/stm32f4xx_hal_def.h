/* What all modules share: status values, locks, weak symbols. */
#ifndef STM32F4XX_HAL_DEF_H
#define STM32F4XX_HAL_DEF_H

#include <stddef.h>

#include "stm32f4xx.h"

typedef enum {
    HAL_OK = 0x00U,
    HAL_ERROR = 0x01U,
    HAL_BUSY = 0x02U,
    HAL_TIMEOUT = 0x03U
} HAL_StatusTypeDef;

typedef enum { HAL_UNLOCKED = 0x00U, HAL_LOCKED = 0x01U } HAL_LockTypeDef;

#define UNUSED(X) (void)X
#define HAL_MAX_DELAY 0xFFFFFFFFU

#define HAL_IS_BIT_SET(REG, BIT) (((REG) & (BIT)) == (BIT))
#define HAL_IS_BIT_CLR(REG, BIT) (((REG) & (BIT)) == 0U)

#define __HAL_LOCK(__HANDLE__)                                                                     \
    do {                                                                                           \
        if ((__HANDLE__)->Lock == HAL_LOCKED) {                                                    \
            return HAL_BUSY;                                                                       \
        } else {                                                                                   \
            (__HANDLE__)->Lock = HAL_LOCKED;                                                       \
        }                                                                                          \
    } while (0U)

#define __HAL_UNLOCK(__HANDLE__)                                                                   \
    do {                                                                                           \
        (__HANDLE__)->Lock = HAL_UNLOCKED;                                                         \
    } while (0U)

#ifndef __weak
#define __weak __attribute__((weak))
#endif

#endif
