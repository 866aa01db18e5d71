/* Pins. */
#include "stm32f4xx_hal.h"

void HAL_GPIO_Init(GPIO_TypeDef *GPIOx, GPIO_InitTypeDef *GPIO_Init)
{
    uint32_t position;
    uint32_t ioposition;
    uint32_t temp;

    for (position = 0U; position < GPIO_NUMBER; position++) {
        ioposition = 0x01U << position;
        if ((GPIO_Init->Pin & ioposition) == 0U) {
            continue;
        }

        if (((GPIO_Init->Mode & GPIO_MODE) == GPIO_MODE_OUTPUT_PP) ||
            ((GPIO_Init->Mode & GPIO_MODE) == GPIO_MODE_AF_PP)) {
            temp = GPIOx->OSPEEDR;
            temp &= ~(0x3U << (position * 2U));
            temp |= (GPIO_Init->Speed << (position * 2U));
            GPIOx->OSPEEDR = temp;

            temp = GPIOx->OTYPER;
            temp &= ~(0x1U << position);
            temp |= (((GPIO_Init->Mode & GPIO_OUTPUT_TYPE) >> 4U) << position);
            GPIOx->OTYPER = temp;
        }

        if ((GPIO_Init->Mode & GPIO_MODE) != GPIO_MODE_ANALOG) {
            temp = GPIOx->PUPDR;
            temp &= ~(0x3U << (position * 2U));
            temp |= (GPIO_Init->Pull << (position * 2U));
            GPIOx->PUPDR = temp;
        }

        if ((GPIO_Init->Mode & GPIO_MODE) == GPIO_MODE_AF_PP) {
            temp = GPIOx->AFR[position >> 3U];
            temp &= ~(0xFU << ((position & 0x07U) * 4U));
            temp |= (GPIO_Init->Alternate << ((position & 0x07U) * 4U));
            GPIOx->AFR[position >> 3U] = temp;
        }

        temp = GPIOx->MODER;
        temp &= ~(0x3U << (position * 2U));
        temp |= ((GPIO_Init->Mode & GPIO_MODE) << (position * 2U));
        GPIOx->MODER = temp;
    }
}

void HAL_GPIO_DeInit(GPIO_TypeDef *GPIOx, uint32_t GPIO_Pin)
{
    uint32_t position;

    for (position = 0U; position < GPIO_NUMBER; position++) {
        if ((GPIO_Pin & (0x01U << position)) != 0U) {
            GPIOx->MODER &= ~(0x3U << (position * 2U));
            GPIOx->AFR[position >> 3U] &= ~(0xFU << ((position & 0x07U) * 4U));
            GPIOx->PUPDR &= ~(0x3U << (position * 2U));
            GPIOx->OTYPER &= ~(0x1U << position);
            GPIOx->OSPEEDR &= ~(0x3U << (position * 2U));
        }
    }
}

GPIO_PinState HAL_GPIO_ReadPin(GPIO_TypeDef *GPIOx, uint16_t GPIO_Pin)
{
    GPIO_PinState bitstatus;

    if ((GPIOx->IDR & GPIO_Pin) != (uint32_t)GPIO_PIN_RESET) {
        bitstatus = GPIO_PIN_SET;
    } else {
        bitstatus = GPIO_PIN_RESET;
    }
    return bitstatus;
}

void HAL_GPIO_WritePin(GPIO_TypeDef *GPIOx, uint16_t GPIO_Pin, GPIO_PinState PinState)
{
    if (PinState != GPIO_PIN_RESET) {
        GPIOx->BSRR = GPIO_Pin;
    } else {
        GPIOx->BSRR = (uint32_t)GPIO_Pin << 16U;
    }
}

void HAL_GPIO_TogglePin(GPIO_TypeDef *GPIOx, uint16_t GPIO_Pin)
{
    uint32_t odr;

    odr = GPIOx->ODR;

    /* Set what is low, reset what is high. */
    GPIOx->BSRR = ((odr & GPIO_Pin) << GPIO_NUMBER) | (~odr & GPIO_Pin);
}
