/* Asynchronous serial ports: polled and by interrupt, eight bits, no parity. */
#include "stm32f4xx_hal.h"

static void UART_SetConfig(UART_HandleTypeDef *huart);
static void UART_EndRxTransfer(UART_HandleTypeDef *huart);
static HAL_StatusTypeDef UART_Receive_IT(UART_HandleTypeDef *huart);
static HAL_StatusTypeDef UART_Transmit_IT(UART_HandleTypeDef *huart);
static HAL_StatusTypeDef UART_EndTransmit_IT(UART_HandleTypeDef *huart);
static HAL_StatusTypeDef UART_WaitOnFlagUntilTimeout(UART_HandleTypeDef *huart, uint32_t Flag,
                                                     FlagStatus Status, uint32_t Tickstart,
                                                     uint32_t Timeout);

HAL_StatusTypeDef HAL_UART_Init(UART_HandleTypeDef *huart)
{
    if (huart == NULL) {
        return HAL_ERROR;
    }

    if (huart->gState == HAL_UART_STATE_RESET) {
        huart->Lock = HAL_UNLOCKED;
        HAL_UART_MspInit(huart); /* clock, pins, interrupt: they belong to the board */
    }

    huart->gState = HAL_UART_STATE_BUSY;
    __HAL_UART_DISABLE(huart);
    UART_SetConfig(huart);
    __HAL_UART_ENABLE(huart);

    huart->ErrorCode = HAL_UART_ERROR_NONE;
    huart->gState = HAL_UART_STATE_READY;
    huart->RxState = HAL_UART_STATE_READY;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_UART_DeInit(UART_HandleTypeDef *huart)
{
    if (huart == NULL) {
        return HAL_ERROR;
    }

    huart->gState = HAL_UART_STATE_BUSY;
    __HAL_UART_DISABLE(huart);
    HAL_UART_MspDeInit(huart);
    huart->ErrorCode = HAL_UART_ERROR_NONE;
    huart->gState = HAL_UART_STATE_RESET;
    huart->RxState = HAL_UART_STATE_RESET;
    __HAL_UNLOCK(huart);
    return HAL_OK;
}

__weak void HAL_UART_MspInit(UART_HandleTypeDef *huart) { UNUSED(huart); }

__weak void HAL_UART_MspDeInit(UART_HandleTypeDef *huart) { UNUSED(huart); }

HAL_StatusTypeDef HAL_UART_Transmit(UART_HandleTypeDef *huart, const uint8_t *pData, uint16_t Size,
                                    uint32_t Timeout)
{
    uint32_t tickstart = 0U;

    if (huart->gState != HAL_UART_STATE_READY) {
        return HAL_BUSY;
    }
    if ((pData == NULL) || (Size == 0U)) {
        return HAL_ERROR;
    }

    huart->ErrorCode = HAL_UART_ERROR_NONE;
    huart->gState = HAL_UART_STATE_BUSY_TX;
    tickstart = HAL_GetTick();

    huart->TxXferSize = Size;
    huart->TxXferCount = Size;
    while (huart->TxXferCount > 0U) {
        if (UART_WaitOnFlagUntilTimeout(huart, UART_FLAG_TXE, RESET, tickstart, Timeout) !=
            HAL_OK) {
            huart->gState = HAL_UART_STATE_READY;
            return HAL_TIMEOUT;
        }
        huart->Instance->DR = (uint8_t)(*pData & 0xFFU);
        pData++;
        huart->TxXferCount--;
    }

    if (UART_WaitOnFlagUntilTimeout(huart, UART_FLAG_TC, RESET, tickstart, Timeout) != HAL_OK) {
        huart->gState = HAL_UART_STATE_READY;
        return HAL_TIMEOUT;
    }

    huart->gState = HAL_UART_STATE_READY;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_UART_Transmit_IT(UART_HandleTypeDef *huart, const uint8_t *pData,
                                       uint16_t Size)
{
    if (huart->gState != HAL_UART_STATE_READY) {
        return HAL_BUSY;
    }
    if ((pData == NULL) || (Size == 0U)) {
        return HAL_ERROR;
    }

    huart->pTxBuffPtr = pData;
    huart->TxXferSize = Size;
    huart->TxXferCount = Size;
    huart->ErrorCode = HAL_UART_ERROR_NONE;
    huart->gState = HAL_UART_STATE_BUSY_TX;

    SET_BIT(huart->Instance->CR1, USART_CR1_TXEIE);
    return HAL_OK;
}

HAL_StatusTypeDef HAL_UART_Receive_IT(UART_HandleTypeDef *huart, uint8_t *pData, uint16_t Size)
{
    if (huart->RxState != HAL_UART_STATE_READY) {
        return HAL_BUSY;
    }
    if ((pData == NULL) || (Size == 0U)) {
        return HAL_ERROR;
    }

    huart->pRxBuffPtr = pData;
    huart->RxXferSize = Size;
    huart->RxXferCount = Size;
    huart->ErrorCode = HAL_UART_ERROR_NONE;
    huart->RxState = HAL_UART_STATE_BUSY_RX;

    SET_BIT(huart->Instance->CR3, USART_CR3_EIE);
    ATOMIC_SET_BIT(huart->Instance->CR1, USART_CR1_RXNEIE);
    return HAL_OK;
}

void HAL_UART_IRQHandler(UART_HandleTypeDef *huart)
{
    uint32_t isrflags = READ_REG(huart->Instance->SR);
    uint32_t cr1its = READ_REG(huart->Instance->CR1);
    uint32_t cr3its = READ_REG(huart->Instance->CR3);
    uint32_t errorflags =
        (isrflags & (uint32_t)(USART_SR_PE | USART_SR_FE | USART_SR_ORE | USART_SR_NE));

    /* A character and nothing wrong. */
    if (errorflags == RESET) {
        if (((isrflags & USART_SR_RXNE) != RESET) && ((cr1its & USART_CR1_RXNEIE) != RESET)) {
            UART_Receive_IT(huart);
            return;
        }
    }

    if ((errorflags != RESET) &&
        (((cr3its & USART_CR3_EIE) != RESET) || ((cr1its & USART_CR1_RXNEIE) != RESET))) {
        if ((isrflags & USART_SR_NE) != RESET) {
            huart->ErrorCode |= HAL_UART_ERROR_NE;
        }
        if ((isrflags & USART_SR_FE) != RESET) {
            huart->ErrorCode |= HAL_UART_ERROR_FE;
        }
        if ((isrflags & USART_SR_ORE) != RESET) {
            huart->ErrorCode |= HAL_UART_ERROR_ORE;
        }

        if (huart->ErrorCode != HAL_UART_ERROR_NONE) {
            /* Reading the data register clears the flags, and takes what is there. */
            if (((isrflags & USART_SR_RXNE) != RESET) && ((cr1its & USART_CR1_RXNEIE) != RESET)) {
                UART_Receive_IT(huart);
            }
            if ((huart->ErrorCode & HAL_UART_ERROR_ORE) != RESET) {
                UART_EndRxTransfer(huart);
            }
            HAL_UART_ErrorCallback(huart);
        }
        return;
    }

    if (((isrflags & USART_SR_TXE) != RESET) && ((cr1its & USART_CR1_TXEIE) != RESET)) {
        UART_Transmit_IT(huart);
        return;
    }

    if (((isrflags & USART_SR_TC) != RESET) && ((cr1its & USART_CR1_TCIE) != RESET)) {
        UART_EndTransmit_IT(huart);
        return;
    }
}

__weak void HAL_UART_TxCpltCallback(UART_HandleTypeDef *huart) { UNUSED(huart); }

__weak void HAL_UART_RxCpltCallback(UART_HandleTypeDef *huart) { UNUSED(huart); }

__weak void HAL_UART_ErrorCallback(UART_HandleTypeDef *huart) { UNUSED(huart); }

uint32_t HAL_UART_GetError(const UART_HandleTypeDef *huart) { return huart->ErrorCode; }

static void UART_SetConfig(UART_HandleTypeDef *huart)
{
    uint32_t tmpreg;
    uint32_t pclk;

    MODIFY_REG(huart->Instance->CR2, USART_CR2_STOP, huart->Init.StopBits);

    tmpreg = (uint32_t)huart->Init.WordLength | huart->Init.Parity | huart->Init.Mode |
             huart->Init.OverSampling;
    MODIFY_REG(huart->Instance->CR1,
               (uint32_t)(USART_CR1_M | USART_CR1_PCE | USART_CR1_PS | USART_CR1_TE | USART_CR1_RE |
                          USART_CR1_OVER8),
               tmpreg);

    MODIFY_REG(huart->Instance->CR3, (USART_CR3_RTSE | USART_CR3_CTSE), huart->Init.HwFlowCtl);

    if ((huart->Instance == USART1) || (huart->Instance == USART6)) {
        pclk = HAL_RCC_GetPCLK2Freq();
    } else {
        pclk = HAL_RCC_GetPCLK1Freq();
    }
    huart->Instance->BRR = UART_BRR_SAMPLING16(pclk, huart->Init.BaudRate);
}

static void UART_EndRxTransfer(UART_HandleTypeDef *huart)
{
    ATOMIC_CLEAR_BIT(huart->Instance->CR1, (USART_CR1_RXNEIE | USART_CR1_PEIE));
    ATOMIC_CLEAR_BIT(huart->Instance->CR3, USART_CR3_EIE);
    huart->RxState = HAL_UART_STATE_READY;
}

static HAL_StatusTypeDef UART_Receive_IT(UART_HandleTypeDef *huart)
{
    if (huart->RxState != HAL_UART_STATE_BUSY_RX) {
        return HAL_BUSY;
    }

    *huart->pRxBuffPtr++ = (uint8_t)(huart->Instance->DR & (uint8_t)0x00FF);

    if (--huart->RxXferCount == 0U) {
        UART_EndRxTransfer(huart);
        HAL_UART_RxCpltCallback(huart);
    }
    return HAL_OK;
}

static HAL_StatusTypeDef UART_Transmit_IT(UART_HandleTypeDef *huart)
{
    if (huart->gState != HAL_UART_STATE_BUSY_TX) {
        return HAL_BUSY;
    }

    huart->Instance->DR = (uint8_t)(*huart->pTxBuffPtr++ & (uint8_t)0x00FF);

    if (--huart->TxXferCount == 0U) {
        CLEAR_BIT(huart->Instance->CR1, USART_CR1_TXEIE);
        SET_BIT(huart->Instance->CR1, USART_CR1_TCIE); /* the last one is still on its way */
    }
    return HAL_OK;
}

static HAL_StatusTypeDef UART_EndTransmit_IT(UART_HandleTypeDef *huart)
{
    CLEAR_BIT(huart->Instance->CR1, USART_CR1_TCIE);
    huart->gState = HAL_UART_STATE_READY;
    HAL_UART_TxCpltCallback(huart);
    return HAL_OK;
}

static HAL_StatusTypeDef UART_WaitOnFlagUntilTimeout(UART_HandleTypeDef *huart, uint32_t Flag,
                                                     FlagStatus Status, uint32_t Tickstart,
                                                     uint32_t Timeout)
{
    while ((__HAL_UART_GET_FLAG(huart, Flag) ? SET : RESET) == Status) {
        if (Timeout != HAL_MAX_DELAY) {
            if ((Timeout == 0U) || ((HAL_GetTick() - Tickstart) > Timeout)) {
                return HAL_TIMEOUT;
            }
        }
    }
    return HAL_OK;
}
