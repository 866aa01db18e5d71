/* Independent watchdog. */
#ifndef STM32F4XX_HAL_IWDG_H
#define STM32F4XX_HAL_IWDG_H

#include "stm32f4xx_hal_def.h"

typedef struct {
    uint32_t Prescaler;
    uint32_t Reload;
} IWDG_InitTypeDef;

typedef struct {
    IWDG_TypeDef *Instance;
    IWDG_InitTypeDef Init;
} IWDG_HandleTypeDef;

#define IWDG_PRESCALER_4 0x00000000U
#define IWDG_PRESCALER_32 0x00000003U

#define IWDG_KEY_RELOAD 0x0000AAAAU
#define IWDG_KEY_ENABLE 0x0000CCCCU
#define IWDG_KEY_WRITE_ACCESS_ENABLE 0x00005555U

#define __HAL_IWDG_START(__HANDLE__) WRITE_REG((__HANDLE__)->Instance->KR, IWDG_KEY_ENABLE)
#define __HAL_IWDG_RELOAD_COUNTER(__HANDLE__) WRITE_REG((__HANDLE__)->Instance->KR, IWDG_KEY_RELOAD)
#define IWDG_ENABLE_WRITE_ACCESS(__HANDLE__)                                                       \
    WRITE_REG((__HANDLE__)->Instance->KR, IWDG_KEY_WRITE_ACCESS_ENABLE)

HAL_StatusTypeDef HAL_IWDG_Init(IWDG_HandleTypeDef *hiwdg);
HAL_StatusTypeDef HAL_IWDG_Refresh(IWDG_HandleTypeDef *hiwdg);

#endif
