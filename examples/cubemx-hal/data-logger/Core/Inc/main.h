/* Names of the board's pins, and what the generated files share. */
#ifndef MAIN_H
#define MAIN_H

#include "stm32f4xx_hal.h"

/* USER CODE BEGIN ET */

/* USER CODE END ET */

void Error_Handler(void);

#define LED_Pin GPIO_PIN_13
#define LED_GPIO_Port GPIOC
#define PAUSE_Pin GPIO_PIN_0
#define PAUSE_GPIO_Port GPIOB

/* USER CODE BEGIN Private defines */
extern UART_HandleTypeDef huart1;
extern uint32_t error_count;
/* USER CODE END Private defines */

#endif
