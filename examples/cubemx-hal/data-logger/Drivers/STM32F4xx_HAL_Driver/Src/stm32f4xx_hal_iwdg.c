/* Independent watchdog: once started, only a reset ends it. */
#include "stm32f4xx_hal.h"

#define HAL_IWDG_DEFAULT_TIMEOUT 48U /* milliseconds: five periods of the slowest prescaler */

HAL_StatusTypeDef HAL_IWDG_Init(IWDG_HandleTypeDef *hiwdg)
{
    uint32_t tickstart;

    if (hiwdg == NULL) {
        return HAL_ERROR;
    }

    __HAL_IWDG_START(hiwdg);

    IWDG_ENABLE_WRITE_ACCESS(hiwdg);
    hiwdg->Instance->PR = hiwdg->Init.Prescaler;
    hiwdg->Instance->RLR = hiwdg->Init.Reload;

    tickstart = HAL_GetTick();
    while ((hiwdg->Instance->SR & (IWDG_SR_RVU | IWDG_SR_PVU)) != 0x00U) {
        if ((HAL_GetTick() - tickstart) > HAL_IWDG_DEFAULT_TIMEOUT) {
            if ((hiwdg->Instance->SR & (IWDG_SR_RVU | IWDG_SR_PVU)) != 0x00U) {
                return HAL_TIMEOUT;
            }
        }
    }

    __HAL_IWDG_RELOAD_COUNTER(hiwdg);

    return HAL_OK;
}

HAL_StatusTypeDef HAL_IWDG_Refresh(IWDG_HandleTypeDef *hiwdg)
{
    __HAL_IWDG_RELOAD_COUNTER(hiwdg);
    return HAL_OK;
}
