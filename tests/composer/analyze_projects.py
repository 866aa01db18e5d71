"""Small legacy projects of other shapes than CubeMX's, for `fvmkit analyze`."""

from __future__ import annotations

from pathlib import Path

from tests.composer.init_projects import DEVICE, startup, write

MAKEFILE = """\
CFLAGS = -mcpu=cortex-m3 -mthumb -mfloat-abi=soft -std=gnu11 -O2 -DSTM32F103xB -I.
SOURCES = {sources}
OBJECTS = $(SOURCES:.c=.o) startup.o
all: out.elf
%.o: %.c
\tarm-none-eabi-gcc $(CFLAGS) -c $< -o $@
%.o: %.s
\tarm-none-eabi-gcc $(CFLAGS) -c $< -o $@
out.elf: $(OBJECTS)
\tarm-none-eabi-gcc $(CFLAGS) $(OBJECTS) -Tlink.ld -o $@
"""
LINK = """\
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 64K
  RAM (rw) : ORIGIN = 0x20000000, LENGTH = 20K }
SECTIONS { .text : { *(.text*) } > FLASH
  .fast : { *(.fast*) } > RAM AT > FLASH }
"""
# A driver library's handles, a link to a channel of DMA, blocks that are only compared.
TRANSFERS = r"""
#include "device.h"
typedef struct { __IO uint32_t CCR, CNDTR, CPAR, CMAR; } DMA_Channel_TypeDef;
#define DMA1_Channel6_BASE 0x4002006CUL
#define DMA1_Channel6 ((DMA_Channel_TypeDef *) DMA1_Channel6_BASE)
#define DMA1_Channel7 ((DMA_Channel_TypeDef *) 0x40020080UL)
#define CONSOLE USART2
#define __HAL_LINKDMA(h, field, d) ((h)->field = &(d))
typedef struct { DMA_Channel_TypeDef *Instance; } DMA_HandleTypeDef;
typedef struct { USART_TypeDef *Instance; DMA_HandleTypeDef *hdmarx; } UART_HandleTypeDef;
UART_HandleTypeDef huart2;
DMA_HandleTypeDef hdma_rx;
__attribute__((section(".fast"))) int counts[4];
#define PERIPH_BASE 0x40000000UL
#define TIM5_BASE PERIPH_BASE
int is_last(DMA_HandleTypeDef *dma) {
    return (uint32_t) dma->Instance == (uint32_t) DMA1_Channel7;
}
void HAL_UART_Receive_DMA(UART_HandleTypeDef *h) { h->Instance->CR3 |= 1; }
void USART2_IRQHandler(void) { (void) CONSOLE->DR; }
int main(void) {
    huart2.Instance = CONSOLE;
    hdma_rx.Instance = DMA1_Channel6;
    __HAL_LINKDMA(&huart2, hdmarx, hdma_rx);
    HAL_UART_Receive_DMA(&huart2);
    __asm volatile ("cpsid i" ::: "memory");
    counts[0] = is_last(&hdma_rx) + (int) (PERIPH_BASE >> 28);
    __asm volatile ("cpsie i" ::: "memory");
    for (;;) { }
}
"""
FREERTOS = {
    "FreeRTOS.h": "#define configTICK_RATE_HZ ((unsigned) 250)\n",
    "task.h": '#define tskKERNEL_VERSION_NUMBER "V10.2.0"\n',
    "tasks.c": '#include "FreeRTOS.h"\n#include "task.h"\nint pxCurrentTCB;\n'
    "void vTaskStartScheduler(void) { pxCurrentTCB = configTICK_RATE_HZ; }\n",
    "main.c": '#include "FreeRTOS.h"\n#include "task.h"\nvoid vTaskStartScheduler(void);\n'
    "int main(void) { vTaskStartScheduler(); for (;;) { } }\n",
}


def made_project(folder: Path, files: dict[str, str]) -> Path:
    """C files with a makefile that names them, for an STM32F103."""
    sources = " ".join(sorted(name for name in files if name.endswith(".c")))
    return write(
        folder,
        {
            "Makefile": MAKEFILE.format(sources=sources),
            "link.ld": LINK,
            "startup.s": startup().replace("cortex-m4", "cortex-m3"),
            "device.h": DEVICE,
            **files,
        },
    )


KEIL = """<?xml version="1.0"?><Project><Targets><Target><TargetName>t</TargetName>
<uAC6>1</uAC6><TargetOption><TargetCommonOption><Device>STM32F072C8Tx</Device>
<Cpu>IRAM(0x20000000-0x20003FFF) IROM(0x8000000-0x800FFFF) CPUTYPE("Cortex-M0")</Cpu>
</TargetCommonOption><TargetArmAds><Cads><VariousControls><Define>STM32F072xB</Define>
<IncludePath>..</IncludePath></VariousControls></Cads></TargetArmAds></TargetOption>
<Groups><Group><Files><File><FileName>main.c</FileName><FileType>1</FileType>
<FilePath>..\\main.c</FilePath></File></Files></Group></Groups></Target></Targets></Project>
"""


def keil_project(folder: Path) -> Path:
    """A project file of Keil MDK in a folder of its own."""
    main = "int main(void) { for (;;) { } }\n"
    return write(folder, {"MDK-ARM/p.uvprojx": KEIL, "main.c": main})
