"""Small projects of other shapes than the example's, written by a test."""

from __future__ import annotations

import json
from pathlib import Path

# A device header as vendors write it: structs over addresses, a driver library's handle types.
DEVICE = r"""
#include <stdint.h>
#define __IO volatile
#define PERIPH 0x40000000UL
typedef enum { SysTick_IRQn = -1, USART1_IRQn = 37, USART2_IRQn = 38, TIM2_IRQn = 28 } IRQn_Type;
typedef struct { __IO uint32_t CR, PLLCFGR, CFGR, CIR, AHB1RSTR, r[7], AHB1ENR, AHB2ENR, AHB3ENR,
    r1, APB1ENR, APB2ENR; } RCC_TypeDef;
typedef struct { __IO uint32_t MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR, LCKR, AFR[2]; }
    GPIO_TypeDef;
typedef struct { __IO uint32_t SR, DR, BRR, CR1, CR2, CR3; } USART_TypeDef;
typedef struct { __IO uint32_t CR1, CR2, SMCR, DIER, SR, EGR; } TIM_TypeDef;
typedef struct { __IO uint32_t KR, PR, RLR, SR; } IWDG_TypeDef;
typedef struct { __IO uint32_t ACR; } FLASH_TypeDef;
typedef struct { __IO uint32_t ISER[8], r0[24], ICER[8], r1[152]; __IO uint8_t IP[240]; } NVIC_Type;
typedef struct { __IO uint32_t CTRL, LOAD, VAL; } SysTick_Type;
#define RCC ((RCC_TypeDef *) (PERIPH + 0x23800UL))
#define GPIOA ((GPIO_TypeDef *) (PERIPH + 0x20000UL))
#define GPIOB ((GPIO_TypeDef *) (PERIPH + 0x20400UL))
#define FLASH ((FLASH_TypeDef *) (PERIPH + 0x23C00UL))
#define USART1 ((USART_TypeDef *) (PERIPH + 0x11000UL))
#define USART2 ((USART_TypeDef *) (PERIPH + 0x4400UL))
#define TIM2 ((TIM_TypeDef *) PERIPH)
#define IWDG ((IWDG_TypeDef *) (PERIPH + 0x3000UL))
#define NVIC ((NVIC_Type *) 0xE000E100UL)
#define SysTick ((SysTick_Type *) 0xE000E010UL)
static inline void NVIC_EnableIRQ(IRQn_Type n) {
    if ((int32_t) n >= 0) { NVIC->ISER[(uint32_t) n >> 5] = 1UL << ((uint32_t) n & 31UL); }
}
static inline void NVIC_SetPriority(IRQn_Type n, uint32_t p) {
    if ((int32_t) n >= 0) { NVIC->IP[(uint32_t) n] = (uint8_t) ((p << 4) & 0xFFUL); }
}
"""

HANDLERS = [
    "_estack", "Reset_Handler", "NMI_Handler", "HardFault_Handler", "MemManage_Handler",
    "BusFault_Handler", "UsageFault_Handler", *["0"] * 4, "SVC_Handler", "DebugMon_Handler", "0",
    "PendSV_Handler", "SysTick_Handler", *[f"L{n}_IRQHandler" for n in range(82)],
]  # fmt: skip
HANDLERS[16 + 28] = "TIM2_IRQHandler"
HANDLERS[16 + 37] = "USART1_IRQHandler"
HANDLERS[16 + 38] = "USART2_IRQHandler"

LINKER_SCRIPT = """\
_estack = ORIGIN(RAM) + LENGTH(RAM);
_Min_Heap_Size = 0x600 ; /* required amount of heap */
_Min_Stack_Size = 0xC00 ; /* required amount of stack */
MEMORY
{
CCMRAM (xrw)      : ORIGIN = 0x10000000, LENGTH = 64K
RAM (xrw)      : ORIGIN = 0x20000000, LENGTH = 32K
FLASH (rx)      : ORIGIN = 0x8000000, LENGTH = 128K
}
SECTIONS
{
  .text : { KEEP(*(.isr_vector)) *(.text*) *(.rodata*) } >FLASH
  .data : { *(.data*) } >RAM AT> FLASH
  .bss : { *(.bss*) *(COMMON) } >RAM
  ._user_heap_stack : { end = .; . = . + _Min_Heap_Size; . = . + _Min_Stack_Size; } >RAM
}
"""

# As STM32CubeMX lays a project out: lists in the Makefile, handles, MSP functions, a GPIO driver
# that loops over the pins, waits with time-outs, an endless Error_Handler, empty handlers.
CUBE_MAIN = r"""
#include "device.h"
#include <stdlib.h>
typedef struct { uint32_t Pin, Mode, Pull, Speed, Alternate; } GPIO_InitTypeDef;
typedef struct { uint32_t Prescaler, Reload; } IWDG_InitTypeDef;
typedef struct { IWDG_TypeDef *Instance; IWDG_InitTypeDef Init; } IWDG_HandleTypeDef;
typedef struct { USART_TypeDef *Instance; uint32_t BaudRate; } UART_HandleTypeDef;
typedef struct { uint32_t State, PLLM, PLLN, PLLP, PLLQ; } PLL_InitTypeDef;
uint32_t SystemCoreClock = 16000000;
volatile uint32_t uwTick;
UART_HandleTypeDef huart1;
IWDG_HandleTypeDef hiwdg;
void *buffer;
#define HSE_VALUE ((uint32_t)12000000U)
#define GPIO_PIN_9 ((uint16_t)0x0200)
#define GPIO_PIN_10 ((uint16_t)0x0400)
#define __HAL_RCC_GPIOA_CLK_ENABLE() do { __IO uint32_t tmpreg = 0x00U; \
    RCC->AHB1ENR |= 1UL; tmpreg = RCC->AHB1ENR & 1UL; (void) tmpreg; } while (0U)
uint32_t HAL_GetTick(void) { return uwTick; }
void Error_Handler(void) { while (1) { } }

void HAL_GPIO_Init(GPIO_TypeDef *GPIOx, GPIO_InitTypeDef *init) {
    uint32_t temp;
    for (uint32_t position = 0U; position < 16U; position++) {
        uint32_t bit = 1UL << position;
        if ((init->Pin & bit) != bit) { continue; }
        if (init->Mode == 2U) {
            temp = GPIOx->AFR[position >> 3U];
            temp &= ~(0xFU << ((position & 7U) * 4U));
            temp |= init->Alternate << ((position & 7U) * 4U);
            GPIOx->AFR[position >> 3U] = temp;
        }
        temp = GPIOx->OSPEEDR;
        temp &= ~(3U << (position * 2U));
        temp |= init->Speed << (position * 2U);
        GPIOx->OSPEEDR = temp;
        temp = GPIOx->PUPDR;
        temp &= ~(3U << (position * 2U));
        temp |= init->Pull << (position * 2U);
        GPIOx->PUPDR = temp;
        temp = GPIOx->MODER;
        temp &= ~(3U << (position * 2U));
        temp |= init->Mode << (position * 2U);
        GPIOx->MODER = temp;
    }
}

int HAL_RCC_OscConfig(PLL_InitTypeDef *pll) {
    uint32_t start = HAL_GetTick();
    RCC->CR |= 1UL << 16;
    while ((RCC->CR & (1UL << 17)) == 0) {
        if (HAL_GetTick() - start > 100U) { return 3; }
    }
    if (pll->State != 2U) { return 1; }
    RCC->PLLCFGR = (1UL << 22) | pll->PLLM | (pll->PLLN << 6) | (((pll->PLLP >> 1) - 1U) << 16)
        | (pll->PLLQ << 24);
    RCC->CR |= 1UL << 24;
    return 0;
}

void SystemClock_Config(void) {
    PLL_InitTypeDef osc = {0};
    osc.State = 2;
    osc.PLLM = 6;
    osc.PLLN = 168;
    osc.PLLP = 2;
    osc.PLLQ = 7;
    if (HAL_RCC_OscConfig(&osc) != 0) { Error_Handler(); }
    FLASH->ACR = 5;
    RCC->CFGR |= (5UL << 10) | (4UL << 13);
    RCC->CFGR = (RCC->CFGR & ~3UL) | 2UL;
    while ((RCC->CFGR & 0xCUL) != 8UL) { }
    SystemCoreClock = 168000000;
    SysTick->LOAD = SystemCoreClock / 500U - 1U;
    SysTick->CTRL = 7;
}

void HAL_UART_MspInit(UART_HandleTypeDef *huart) {
    GPIO_InitTypeDef init = {0};
    if (huart->Instance == USART1) {
        RCC->APB2ENR |= 1UL << 4;
        __HAL_RCC_GPIOA_CLK_ENABLE();
        init.Pin = GPIO_PIN_9 | GPIO_PIN_10;
        init.Mode = 2;
        init.Pull = 1;
        init.Speed = 3;
        init.Alternate = 7;
        HAL_GPIO_Init(GPIOA, &init);
        NVIC_SetPriority(USART1_IRQn, 5);
        NVIC_EnableIRQ(USART1_IRQn);
    } else if (huart->Instance == USART2) {
        RCC->APB1ENR |= 1UL << 17;
    }
}

int HAL_UART_Init(UART_HandleTypeDef *huart) {
    if (huart == 0) { return 1; }
    HAL_UART_MspInit(huart);
    huart->Instance->CR1 = 0x200C;
    return 0;
}

void HAL_IWDG_Init(IWDG_HandleTypeDef *dog) {
    dog->Instance->KR = 0xCCCC;
    dog->Instance->KR = 0x5555;
    dog->Instance->PR = dog->Init.Prescaler;
    dog->Instance->RLR = dog->Init.Reload;
}

static void MX_GPIO_Init(void) {
    GPIO_InitTypeDef init = {0};
    init.Pin = 1UL << 5;
    init.Mode = 1;
    HAL_GPIO_Init(GPIOA, &init);
}

int main(void) {
    SystemClock_Config();
    MX_GPIO_Init();
    huart1.Instance = USART1;
    huart1.BaudRate = 115200;
    if (HAL_UART_Init(&huart1) != 0) { Error_Handler(); }
    hiwdg.Instance = IWDG;
    hiwdg.Init.Prescaler = 4;
    hiwdg.Init.Reload = 999;
    HAL_IWDG_Init(&hiwdg);
    buffer = malloc(64);
    while (1) { IWDG->KR = 0xAAAA; }
}
"""
CUBE_IT = r"""
#include "device.h"
extern volatile uint32_t uwTick;
void NMI_Handler(void) { while (1) { } }
void SVC_Handler(void) { }
void PendSV_Handler(void) { }
void SysTick_Handler(void) { uwTick++; }
void USART1_IRQHandler(void) { (void) USART1->DR; }
"""
CUBE_MAKEFILE = """\
TARGET = logger
BUILD_DIR = build
C_SOURCES =  \\
Core/Src/main.c \\
Core/Src/stm32f4xx_it.c
ASM_SOURCES = startup_stm32f405xx.s
MCU = -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard
C_DEFS = -DUSE_HAL_DRIVER -DSTM32F405xx
CFLAGS = $(MCU) $(C_DEFS) -ICore/Inc -Og -Wall -fdata-sections -ffunction-sections
LDSCRIPT = STM32F405RGTx_FLASH.ld
LDFLAGS = $(MCU) -specs=nano.specs -specs=nosys.specs -T$(LDSCRIPT) -Wl,--gc-sections
OBJECTS = $(addprefix $(BUILD_DIR)/,$(notdir $(C_SOURCES:.c=.o)))
vpath %.c $(sort $(dir $(C_SOURCES)))
OBJECTS += $(addprefix $(BUILD_DIR)/,$(notdir $(ASM_SOURCES:.s=.o)))
all: $(BUILD_DIR)/$(TARGET).elf
$(BUILD_DIR)/%.o: %.c Makefile | $(BUILD_DIR)
\tarm-none-eabi-gcc -c $(CFLAGS) $< -o $@
$(BUILD_DIR)/%.o: %.s Makefile | $(BUILD_DIR)
\tarm-none-eabi-gcc -x assembler-with-cpp -c $(CFLAGS) $< -o $@
$(BUILD_DIR)/$(TARGET).elf: $(OBJECTS) Makefile
\tarm-none-eabi-gcc $(OBJECTS) $(LDFLAGS) -o $@
$(BUILD_DIR):
\tmkdir $@
"""

# Low-layer functions, a C vector table, registers by their bit-band alias, an RTOS's threshold.
VECTORS = r"""
#include "device.h"
typedef void (*Handler)(void);
extern uint32_t _estack;
int main(void);
void Default_Handler(void) { for (;;) { } }
void Reset_Handler(void) { main(); }
void SysTick_Handler(void) __attribute__((weak, alias("Default_Handler")));
void PendSV_Handler(void) __attribute__((weak, alias("Default_Handler")));
void USART2_IRQHandler(void) __attribute__((weak, alias("Default_Handler")));
void USART1_IRQHandler(void);
void TIM2_IRQHandler(void);
__attribute__((section(".isr_vector"), used))
static const Handler vectors[16 + 40] = {
    (Handler) &_estack, Reset_Handler, Default_Handler, Default_Handler, Default_Handler,
    Default_Handler, Default_Handler, 0, 0, 0, 0, Default_Handler, Default_Handler, 0,
    PendSV_Handler, SysTick_Handler,
    [16 + 28] = TIM2_IRQHandler, [16 + 37] = USART1_IRQHandler, [16 + 38] = USART2_IRQHandler,
};
"""
LOW_LAYER = r"""
#include "device.h"
void USART1_IRQHandler(void) { (void) USART1->DR; }
void TIM2_IRQHandler(void) { TIM2->SR = 0; }
static inline uint32_t rbit(uint32_t v) {
    uint32_t r; __asm volatile ("rbit %0, %1" : "=r" (r) : "r" (v)); return r;
}
#define __RBIT rbit
#define POSITION_VAL(VAL) (__builtin_clz(__RBIT(VAL)))
static inline void LL_GPIO_SetPinMode(GPIO_TypeDef *GPIOx, uint32_t Pin, uint32_t Mode) {
    GPIOx->MODER = (GPIOx->MODER & ~(3UL << (POSITION_VAL(Pin) * 2U)))
        | (Mode << (POSITION_VAL(Pin) * 2U));
}
static inline void LL_GPIO_SetAFPin_0_7(GPIO_TypeDef *GPIOx, uint32_t Pin, uint32_t Alternate) {
    GPIOx->AFR[0] = (GPIOx->AFR[0] & ~(0xFUL << (POSITION_VAL(Pin) * 4U)))
        | (Alternate << (POSITION_VAL(Pin) * 4U));
}
static inline void LL_APB1_GRP1_EnableClock(uint32_t Periphs) {
    __IO uint32_t tmpreg;
    RCC->APB1ENR |= Periphs;
    tmpreg = RCC->APB1ENR & Periphs;
    (void) tmpreg;
}
static inline void raise_basepri(void) {
    uint32_t new_value;
    __asm volatile ("mov %0, %1\n msr basepri, %0" : "=r" (new_value) : "i" (0x50) : "memory");
}
int main(void) {
    static const IRQn_Type lines[] = {TIM2_IRQn, USART1_IRQn};
    *(volatile uint32_t *) (0x42000000UL + 0x23844UL * 32U + 4U * 4U) = 1; /* USART1 clock */
    LL_APB1_GRP1_EnableClock(1UL);
    LL_GPIO_SetAFPin_0_7(GPIOB, 1UL << 6, 7);
    LL_GPIO_SetPinMode(GPIOB, 1UL << 6, 2);
    for (unsigned i = 0; i < 2; i++) {
        NVIC_SetPriority(lines[i], i == 0 ? 2 : 6);
        NVIC_EnableIRQ(lines[i]);
    }
    raise_basepri();
    USART1->CR1 = 0x200C;
    TIM2->CR1 = 1;
    for (;;) { }
}
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    """Files below a folder, which is returned."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def startup() -> str:
    """A vector table in assembler with weak defaults."""
    words = "\n".join(f"  .word {name}" for name in HANDLERS)
    names = [name for name in HANDLERS[2:] if name != "0"]
    weak = "\n".join(f"  .weak {n}\n  .thumb_set {n},Default_Handler" for n in names)
    return (
        "  .syntax unified\n  .cpu cortex-m4\n  .thumb\n"
        '  .section .text.Reset_Handler,"ax",%progbits\n  .global Reset_Handler\n'
        "  .type Reset_Handler, %function\nReset_Handler:\n  bl main\n  b .\n"
        '  .section .text.Default_Handler,"ax",%progbits\n'
        "  .type Default_Handler, %function\nDefault_Handler:\n  b .\n"
        '  .section .isr_vector,"a",%progbits\ng_pfnVectors:\n'
        f"{words}\n  .size g_pfnVectors, .-g_pfnVectors\n{weak}\n"
    )


def cube_project(folder: Path, main: str = CUBE_MAIN) -> Path:
    """In the shape of STM32CubeMX's Makefile projects."""
    return write(
        folder,
        {
            "Makefile": CUBE_MAKEFILE,
            "Core/Inc/device.h": DEVICE,
            "Core/Src/main.c": main,
            "Core/Src/stm32f4xx_it.c": CUBE_IT,
            "Core/Src/not_built.c": '#include "device.h"\nvoid f(void) { TIM2->CR1 = 1; }\n',
            "STM32F405RGTx_FLASH.ld": LINKER_SCRIPT,
            "startup_stm32f405xx.s": startup(),
        },
    )


def low_layer_project(folder: Path) -> Path:
    """With compile_commands.json in build/, as CMake leaves it."""
    write(
        folder,
        {"src/device.h": DEVICE, "src/main.c": LOW_LAYER, "src/vectors.c": VECTORS},
    )
    command = "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -std=gnu99 -DSTM32F405xx -c"
    entries = [
        {"directory": str(folder / "build"), "command": f"{command} ../src/{name}", "file": name}
        for name in ("main.c", "vectors.c")
    ]
    return write(folder, {"build/compile_commands.json": json.dumps(entries)})
