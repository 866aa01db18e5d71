/* Exceptions and interrupts. */
#include "main.h"
#include "stm32f4xx_it.h"

extern UART_HandleTypeDef huart1;

/* Core ----------------------------------------------------------------------*/

void NMI_Handler(void)
{
    /* USER CODE BEGIN NonMaskableInt_IRQn 1 */
    while (1) {
    }
    /* USER CODE END NonMaskableInt_IRQn 1 */
}

void HardFault_Handler(void)
{
    while (1) {
        /* USER CODE BEGIN W1_HardFault_IRQn 0 */
        /* USER CODE END W1_HardFault_IRQn 0 */
    }
}

void MemManage_Handler(void)
{
    while (1) {
    }
}

void BusFault_Handler(void)
{
    while (1) {
    }
}

void UsageFault_Handler(void)
{
    while (1) {
    }
}

void SVC_Handler(void)
{
    /* USER CODE BEGIN SVCall_IRQn 0 */

    /* USER CODE END SVCall_IRQn 0 */
}

void DebugMon_Handler(void) {}

void PendSV_Handler(void)
{
    /* USER CODE BEGIN PendSV_IRQn 0 */

    /* USER CODE END PendSV_IRQn 0 */
}

void SysTick_Handler(void) { HAL_IncTick(); }

/* Peripherals ---------------------------------------------------------------*/

void USART1_IRQHandler(void) { HAL_UART_IRQHandler(&huart1); }
