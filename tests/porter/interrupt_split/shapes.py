"""Handlers as legacy projects write them, and what must become of each."""

from __future__ import annotations

from dataclasses import dataclass, field

REGISTERS = """\
#include <stdint.h>

typedef struct {
    volatile uint32_t SR, DR, BRR, CR1, CR2, CR3, GTPR;
} USART_TypeDef;
typedef struct {
    volatile uint32_t CR1, CR2, SMCR, DIER, SR, EGR, CCMR1, CCMR2, CCER, CNT, PSC, ARR, RCR;
    volatile uint32_t CCR1, CCR2, CCR3, CCR4;
} TIM_TypeDef;
typedef struct {
    volatile uint32_t IMR, EMR, RTSR, FTSR, SWIER, PR;
} EXTI_TypeDef;
typedef struct {
    volatile uint32_t LISR, HISR, LIFCR, HIFCR;
} DMA_TypeDef;
typedef struct {
    volatile uint32_t CR1, CR2, SR, DR;
} SPI_TypeDef;
typedef struct {
    volatile uint32_t CR1, CR2, OAR1, OAR2, DR, SR1, SR2;
} I2C_TypeDef;
typedef struct {
    volatile uint32_t SR, CR1, CR2;
    uint32_t unused[16];
    volatile uint32_t DR;
} ADC_TypeDef;
typedef struct {
    volatile uint16_t SR, r0, DR, r1, BRR, r2, CR1, r3;
} OLD_USART_TypeDef;
typedef struct {
    volatile uint32_t CR1, CR2, CR3, BRR, GTPR, RTOR, RQR, ISR, ICR, RDR, TDR;
} NEW_USART_TypeDef;

#define PERIPH_BASE 0x40000000UL
#define USART1_BASE (PERIPH_BASE + 0x11000UL)
#define USART1 ((USART_TypeDef *)USART1_BASE)
#define USART2 ((USART_TypeDef *)0x40004400UL)
#define TIM2 ((TIM_TypeDef *)0x40000000UL)
#define EXTI ((EXTI_TypeDef *)0x40013C00UL)
#define DMA1 ((DMA_TypeDef *)0x40026000UL)
#define SPI1 ((SPI_TypeDef *)0x40013000UL)
#define I2C1 ((I2C_TypeDef *)0x40005400UL)
#define ADC1 ((ADC_TypeDef *)0x40012000UL)

#define USART_SR_PE 0x1UL
#define USART_SR_FE 0x2UL
#define USART_SR_NE 0x4UL
#define USART_SR_ORE 0x8UL
#define USART_SR_IDLE 0x10UL
#define USART_SR_RXNE (1UL << 5)
#define USART_SR_TC (1UL << 6)
#define USART_SR_TXE (1UL << 7)
#define USART_CR1_IDLEIE (1UL << 4)
#define USART_CR1_RXNEIE (1UL << 5)
#define USART_CR1_TCIE (1UL << 6)
#define USART_CR1_TXEIE (1UL << 7)
#define TIM_SR_UIF 0x1UL
#define TIM_SR_CC1IF 0x2UL

#define SET_BIT(REG, BIT) ((REG) |= (BIT))
#define CLEAR_BIT(REG, BIT) ((REG) &= ~(BIT))
#define READ_BIT(REG, BIT) ((REG) & (BIT))
#define WRITE_REG(REG, VAL) ((REG) = (VAL))
#define READ_REG(REG) ((REG))

volatile uint8_t buffer[16];
volatile uint32_t head, tail, ticks, errors, flags;
volatile uint8_t out[16];
volatile uint32_t out_head, out_tail;
static inline void put(uint8_t c) { buffer[head++ & 15] = c; }
"""

HANDLE = """\
typedef struct { USART_TypeDef *Instance; uint32_t state; } Port;
Port port;
void port_open(Port *p, USART_TypeDef *device);
"""

BASES = {
    "USART1": 0x40011000,
    "TIM2": 0x40000000,
    "EXTI": 0x40013C00,
    "DMA1": 0x40026000,
    "SPI1": 0x40013000,
    "I2C1": 0x40005400,
    "ADC1": 0x40012000,
    "RADIO1": 0x40030000,
}


@dataclass(frozen=True)
class Shape:
    """`code` follows REGISTERS; `record` is what the mid-section hands over, `writes` what it
    acknowledges, `bottom` text of the VM's handler. `escalates`: part of the reason instead."""

    name: str
    code: str
    device: str = "USART1"
    usart: str = "USART_TypeDef"
    record: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    bottom: tuple[str, ...] = ()
    middle: tuple[str, ...] = ()
    escalates: str = ""
    files: dict[str, str] = field(default_factory=dict)
    loops: bool = False  # the handler empties the device in one run

    @property
    def text(self) -> str:
        """The whole file."""
        registers = REGISTERS.replace("USART1 ((USART_TypeDef", f"USART1 (({self.usart}")
        return f"{registers}\n{self.code}"


def handler(body: str, device: str = "USART1") -> str:
    """A handler with a body."""
    return f"void {device}_IRQHandler(void)\n{{\n{body}}}\n"


SPLIT = (
    Shape(
        "another line's flag in the same register",
        "void EXTI9_IRQHandler(void);\n"
        "void EXTI9_IRQHandler(void) { EXTI->PR = 1u << 9; errors++; }\n"
        + handler("    EXTI->PR = 1u << 3;\n    ticks++;\n", "EXTI"),
        device="EXTI",
        record=("PR",),
        writes=("PR",),
    ),
    Shape(
        "one function for several lines",
        "static void serve(USART_TypeDef *u, uint32_t line)\n{\n"
        "    if (u->SR & USART_SR_RXNE) {\n        put(u->DR);\n    }\n    flags |= line;\n}\n"
        "void USART2_IRQHandler(void);\nvoid USART2_IRQHandler(void) { serve(USART2, 2); }\n"
        + handler("    serve(USART1, 1);\n"),
        record=("SR", "DR"),
        bottom=(
            "static void serve(USART_TypeDef *u, uint32_t line)\n{\n    if (u->SR & USART_SR_RXNE)",
            "static void serve_USART1(USART_TypeDef *u, uint32_t line)",
            "serve_bottom(&fvm_io, u, line);",
            "put(fvm_io->DR);",
            "    serve_USART1(USART1, 1);",
            "serve(USART2, 2);",
        ),
    ),
    Shape(
        "one function for several lines, after them",
        "static void serve(USART_TypeDef *u);\n"
        "void USART2_IRQHandler(void);\nvoid USART2_IRQHandler(void) { serve(USART2); }\n"
        + handler("    serve(USART1);\n")
        + "static void serve(USART_TypeDef *u) { if (u->SR & USART_SR_RXNE) put(u->DR); }\n",
        record=("SR", "DR"),
        bottom=("static void serve_USART1(USART_TypeDef *u);\nvoid USART1_IRQHandler(void)",),
    ),
    Shape(
        "handle, and a handler that a macro names",
        HANDLE + "#define PORT_IRQHandler USART1_IRQHandler\n"
        "void port_open(Port *p, USART_TypeDef *device)\n{\n    p->Instance = device;\n}\n"
        "void port_serve(Port *p);\nvoid port_serve(Port *p)\n{\n"
        "    if (p->Instance->SR & USART_SR_RXNE) {\n        put(p->Instance->DR);\n    }\n}\n"
        "void PORT_IRQHandler(void);\nvoid PORT_IRQHandler(void)\n{\n    port_serve(&port);\n}\n"
        "Port port = {USART1, 0};\n",
        record=("SR", "DR"),
    ),
    Shape(
        "handle, and its driver in another file",
        HANDLE + "void port_open(Port *p, USART_TypeDef *device) { p->Instance = device; }\n"
        "void port_serve(Port *p);\n"
        + handler("    port_serve(&port);\n")
        + "Port port = {USART1, 0};\n",
        files={
            "driver.c": "#include <stdint.h>\n"
            "typedef struct { volatile uint32_t SR, DR, BRR, CR1, CR2, CR3; } USART_TypeDef;\n"
            "#define USART1 ((USART_TypeDef *)0x40011000UL)\n"
            "typedef struct { USART_TypeDef *Instance; uint32_t state; } Port;\n"
            "extern volatile uint32_t flags;\n"
            "void port_serve(Port *p);\nvoid port_serve(Port *p)\n{\n"
            "    if (p->Instance->SR & 0x20) {\n        flags = p->Instance->DR;\n    }\n}\n"
        },
        record=("SR", "DR"),
        bottom=("if (p->Instance != USART1) {", "flags = fvm_io->DR;"),
    ),
    Shape(
        "handle with the device in it",
        HANDLE + "#define CLEAR(p, bits) ((p)->Instance->SR = ~(bits))\n"
        "void port_open(Port *p, USART_TypeDef *device) { p->Instance = device; }\n"
        "void port_serve(Port *p);\n"
        "void port_serve(Port *p)\n{\n    uint32_t sr = p->Instance->SR;\n"
        "    if (sr & USART_SR_TC) {\n        CLEAR(p, USART_SR_TC);\n        p->state++;\n    }\n"
        "    if (sr & USART_SR_RXNE) {\n        put(p->Instance->DR);\n    }\n}\n"
        + handler("    port_serve(&port);\n")
        + "Port port = {USART1, 0};\n",
        record=("SR", "DR"),
        writes=("SR",),
        bottom=("if (p->Instance != USART1) {", "port_serve_bottom(&fvm_io, p);"),
    ),
    Shape(
        "driver of devices behind handles beside it",
        HANDLE + "void port_open(Port *p, USART_TypeDef *device)\n{\n    p->Instance = device;\n"
        "    p->Instance->BRR = 7;\n    p->Instance->CR1 |= USART_CR1_RXNEIE;\n}\n"
        + handler("    if (USART1->SR & USART_SR_RXNE) {\n        put(USART1->DR);\n    }\n"),
        record=("SR", "DR"),
    ),
    Shape(
        "start-up code that names the device in a remark",
        handler("    if (USART1->SR & USART_SR_RXNE) {\n        put(USART1->DR);\n    }\n"),
        files={"start.s": ".syntax unified\n.word 0 /* USART1 */\n"},
        record=("SR", "DR"),
    ),
    Shape(
        "register style",
        handler(
            "    if ((USART1->SR & (USART_SR_RXNE | USART_SR_ORE)) != 0) {\n"
            "        put((uint8_t)USART1->DR);\n"
            "    }\n"
        ),
        record=("SR", "DR"),
        bottom=(
            "if ((fvm_io->SR & (USART_SR_RXNE | USART_SR_ORE)) != 0) {",
            "put((uint8_t)fvm_io->DR);",
        ),
        middle=("if ((record->SR & (USART_SR_RXNE | USART_SR_ORE)) != 0) {",),
    ),
    Shape(
        "local copy of the status",
        handler(
            "    uint32_t sr = USART1->SR;\n\n"
            "    if (sr & USART_SR_ORE) {\n        errors++;\n    }\n"
            "    if (sr & (USART_SR_RXNE | USART_SR_ORE)) {\n"
            "        uint8_t c = (uint8_t)USART1->DR;\n        put(c);\n    }\n"
        ),
        record=("SR", "DR"),
        bottom=("uint32_t sr = fvm_io->SR;", "uint8_t c = (uint8_t)fvm_io->DR;"),
        middle=("uint32_t sr = record->SR;",),
    ),
    Shape(
        "alias of the device",
        "#define CONSOLE USART1\n#define CONSOLE_IRQHandler USART1_IRQHandler\n"
        "#define RX_PENDING() (CONSOLE->SR & USART_SR_RXNE)\n"
        "void CONSOLE_IRQHandler(void)\n{\n    if (RX_PENDING()) put(CONSOLE->DR);\n}\n",
        record=("SR", "DR"),
        bottom=(
            "static void CONSOLE_IRQHandler_bottom(",
            "if (fvm_io->SR & (1UL << 5)) put(fvm_io->DR);",
        ),
    ),
    Shape(
        "raw addresses",
        handler(
            "    if (*(volatile uint32_t *)0x40011000 & 0x20)\n"
            "        put(*(volatile uint32_t *)0x40011004);\n"
        ),
        record=("SR", "DR"),
        bottom=("if (fvm_io->SR & 0x20)", "put(fvm_io->DR);"),
    ),
    Shape(
        "offsets from a base, 16-bit struct",
        handler(
            "    uint16_t sr = USART1->SR;\n    if (sr & 0x20)\n        put(USART1->DR & 0xFF);\n"
        ),
        usart="OLD_USART_TypeDef",
        record=("SR", "DR"),
        middle=("(*(volatile uint16_t *)0x40011004U)", "uint16_t sr = record->SR;"),
    ),
    Shape(
        "constant pointer to the device",
        handler(
            "    USART_TypeDef *const uart = USART1;\n    if (uart->SR & USART_SR_RXNE) {\n"
            "        put(uart->DR);\n    }\n"
        ),
        record=("SR", "DR"),
        bottom=("put(fvm_io->DR);",),
    ),
    Shape(
        "thin wrapper",
        "static void uart_isr(void)\n{\n    if (USART1->SR & USART_SR_RXNE)\n"
        "        put(USART1->DR);\n}\n\n" + handler("    uart_isr();\n"),
        record=("SR", "DR"),
        bottom=(
            "static void uart_isr_bottom(const struct usart1_record *fvm_io)",
            "static void uart_isr(void)",
            "void USART1_IRQHandler(void)\n{\n    uart_isr();\n}",
        ),
    ),
    Shape(
        "thin wrapper of a function in another file",
        "void uart_isr(void);\n" + handler("    uart_isr();\n"),
        files={
            "uart.c": REGISTERS.replace("volatile uint8_t buffer", "extern volatile uint8_t buffer")
            .replace("volatile uint32_t head", "extern volatile uint32_t head")
            .replace("volatile uint8_t out[", "extern volatile uint8_t out[")
            .replace("volatile uint32_t out_", "extern volatile uint32_t out_")
            + "void uart_isr(void)\n{\n    if (USART1->SR & USART_SR_RXNE)\n"
            "        put(USART1->DR);\n}\n"
        },
        record=("SR", "DR"),
    ),
    Shape(
        "static helper",
        "/* Takes a character. */\nstatic void receive(void)\n{\n    uint8_t c = USART1->DR;\n"
        "    put(c);\n}\n\n"
        + handler(
            "    if (USART1->SR & USART_SR_RXNE) {\n        receive();\n    }\n    ticks++;\n"
        ),
        record=("SR", "DR"),
        bottom=(
            "static void receive(const struct usart1_record *fvm_io)",
            "receive(fvm_io);",
            "uint8_t c = fvm_io->DR;",
        ),
    ),
    Shape(
        "static helper with an argument and a prototype",
        "static void receive(uint32_t sr);\n"
        + handler("    receive(USART1->SR);\n    ticks++;\n")
        + "static void receive(uint32_t sr)\n{\n    if (sr & USART_SR_RXNE)\n"
        "        put(USART1->DR);\n}\n",
        record=("SR", "DR"),
        bottom=(
            "static void receive(const struct usart1_record *fvm_io, uint32_t sr);",
            "receive(fvm_io, fvm_io->SR);",
        ),
    ),
    Shape(
        "drain loop",
        handler("    while (USART1->SR & USART_SR_RXNE) {\n        put(USART1->DR);\n    }\n"),
        record=("SR", "DR"),
        bottom=("    if (fvm_io->SR & USART_SR_RXNE) {\n        put(fvm_io->DR);",),
        loops=True,
    ),
    Shape(
        "drain loop that is left early",
        handler(
            "    while ((USART1->SR & USART_SR_RXNE) != 0) {\n"
            "        uint8_t c = USART1->DR;\n        if (c == 0) {\n            continue;\n"
            "        }\n"
            "        put(c);\n        if (c == '\\n') {\n            flags |= 1;\n"
            "            break;\n        }\n    }\n"
        ),
        record=("SR", "DR"),
        bottom=(
            "for (int fvm_once = 1; fvm_once && ((fvm_io->SR & USART_SR_RXNE) != 0);"
            " fvm_once = 0) {",
        ),
        loops=True,
    ),
    Shape(
        "do while",
        handler(
            "    if (!(USART1->SR & USART_SR_RXNE)) {\n        return;\n    }\n    do {\n"
            "        put(USART1->DR);\n    } while (USART1->SR & USART_SR_RXNE);\n"
        ),
        record=("SR", "DR"),
        bottom=("} while (0);",),
        loops=True,
    ),
    Shape(
        "receiver and transmitter in one handler",
        handler(
            "    uint32_t sr = USART1->SR;\n    uint32_t cr1 = USART1->CR1;\n\n"
            "    if ((sr & USART_SR_RXNE) && (cr1 & USART_CR1_RXNEIE)) {\n"
            "        put(USART1->DR);\n    }\n"
            "    if ((sr & USART_SR_TXE) && (cr1 & USART_CR1_TXEIE)) {\n"
            "        if (out_tail != out_head) {\n"
            "            USART1->DR = out[out_tail++ & 15];\n        } else {\n"
            "            USART1->CR1 &= ~USART_CR1_TXEIE;\n        }\n    }\n"
        ),
        record=("SR", "CR1", "DR"),
        bottom=(
            "uint32_t sr = ((fvm_io->SR & 0x3FU) | (USART1->SR & ~0x3FU));",
            "uint32_t cr1 = ((fvm_io->CR1 & 0x20U) | (USART1->CR1 & ~0x20U));",
            "USART1->CR1 &= ~USART_CR1_TXEIE;",
        ),
    ),
    Shape(
        "transmitter first",
        handler(
            "    if ((USART1->SR & USART_SR_TXE) && (USART1->CR1 & USART_CR1_TXEIE)) {\n"
            "        if (out_tail != out_head) {\n"
            "            USART1->DR = out[out_tail++ & 15];\n        } else {\n"
            "            CLEAR_BIT(USART1->CR1, USART_CR1_TXEIE);\n        }\n    }\n"
            "    if (USART1->SR & USART_SR_RXNE) {\n        put(USART1->DR);\n    }\n"
        ),
        record=("SR", "DR"),
        bottom=("if ((USART1->SR & USART_SR_TXE) && (USART1->CR1 & USART_CR1_TXEIE)) {",),
    ),
    Shape(
        "bit macros",
        handler(
            "    uint32_t isrflags = READ_REG(USART1->SR);\n"
            "    uint32_t cr1its = READ_REG(USART1->CR1);\n"
            "    uint32_t errorflags = 0x00U;\n\n"
            "    errorflags = (isrflags & (uint32_t)(USART_SR_PE | USART_SR_FE | USART_SR_ORE));\n"
            "    if (errorflags == 0U) {\n"
            "        if (((isrflags & USART_SR_RXNE) != 0) &&"
            " ((cr1its & USART_CR1_RXNEIE) != 0)) {\n"
            "            put((uint8_t)(READ_REG(USART1->DR) & 0xFF));\n            return;\n"
            "        }\n"
            "    } else {\n        errors |= errorflags;\n        (void)READ_REG(USART1->DR);\n"
            "    }\n"
            "    if (((isrflags & USART_SR_TC) != 0) && ((cr1its & USART_CR1_TCIE) != 0)) {\n"
            "        CLEAR_BIT(USART1->CR1, USART_CR1_TCIE);\n        flags = 1;\n    }\n"
        ),
        record=("SR", "CR1", "DR", "DR_2"),
        bottom=(
            "put((uint8_t)(fvm_io->DR & 0xFF));",
            "(void)fvm_io->DR_2;",
            "((fvm_io->SR & 0x3FU) | (READ_REG(USART1->SR) & ~0x3FU));",
        ),
    ),
    Shape(
        "inline functions of a vendor library",
        "static inline uint32_t LL_USART_IsActiveFlag_RXNE(USART_TypeDef *USARTx)\n{\n"
        "    return ((READ_BIT(USARTx->SR, USART_SR_RXNE) == (USART_SR_RXNE)) ? 1UL : 0UL);\n}\n"
        "static inline uint32_t LL_USART_IsEnabledIT_RXNE(USART_TypeDef *USARTx)\n{\n"
        "    return (READ_BIT(USARTx->CR1, USART_CR1_RXNEIE) == (USART_CR1_RXNEIE));\n}\n"
        "static inline uint8_t LL_USART_ReceiveData8(USART_TypeDef *USARTx)\n{\n"
        "    return (uint8_t)(READ_BIT(USARTx->DR, 0xFFU));\n}\n"
        "static inline void LL_USART_ClearFlag_IDLE(USART_TypeDef *USARTx)\n{\n"
        "    volatile uint32_t tmpreg;\n    tmpreg = USARTx->SR;\n    (void)tmpreg;\n"
        "    tmpreg = USARTx->DR;\n    (void)tmpreg;\n}\n"
        "static inline uint32_t LL_USART_IsActiveFlag_IDLE(USART_TypeDef *USARTx)\n{\n"
        "    return ((READ_BIT(USARTx->SR, USART_SR_IDLE) == (USART_SR_IDLE)) ? 1UL : 0UL);\n}\n"
        + handler(
            "    if (LL_USART_IsActiveFlag_RXNE(USART1) && LL_USART_IsEnabledIT_RXNE(USART1)) {\n"
            "        put(LL_USART_ReceiveData8(USART1));\n    }\n"
            "    if (LL_USART_IsActiveFlag_IDLE(USART1)) {\n"
            "        LL_USART_ClearFlag_IDLE(USART1);\n        flags = 1;\n    }\n"
        ),
        record=("SR", "CR1", "DR", "SR_2", "SR_3", "DR_2"),
    ),
    Shape(
        "separate data and clear registers",
        handler(
            "    uint32_t isr = USART1->ISR;\n"
            "    if (isr & USART_SR_ORE) {\n        USART1->ICR = USART_SR_ORE;\n"
            "        errors++;\n    }\n"
            "    if (isr & USART_SR_RXNE) {\n        put(USART1->RDR);\n    }\n"
            "    if ((isr & USART_SR_TXE) && (USART1->CR1 & USART_CR1_TXEIE)) {\n"
            "        USART1->TDR = out[out_tail++ & 15];\n    }\n"
        ),
        usart="NEW_USART_TypeDef",
        record=("ISR", "RDR"),
        writes=("ICR",),
        bottom=("uint32_t isr = ((fvm_io->ISR & 0x28U) | (USART1->ISR & ~0x28U));",),
    ),
    Shape(
        "timer, cleared by a constant",
        handler(
            "    if (TIM2->SR & TIM_SR_UIF) {\n        TIM2->SR = ~TIM_SR_UIF;\n"
            "        ticks++;\n    }\n",
            "TIM2",
        ),
        device="TIM2",
        record=("SR",),
        writes=("SR",),
        bottom=("    if (fvm_io->SR & TIM_SR_UIF) {\n        ticks++;\n    }\n",),
    ),
    Shape(
        "timer, read, modify, write",
        handler("    TIM2->SR &= ~TIM_SR_UIF;\n    ticks++;\n", "TIM2"),
        device="TIM2",
        record=("SR",),
        writes=("SR",),
    ),
    Shape(
        "timer, all flags at once, unconditionally",
        handler("    ticks++;\n    TIM2->SR = 0;\n", "TIM2"),
        device="TIM2",
        record=("SR",),
        writes=("SR",),
        bottom=("{\n    (void)fvm_io;\n    ticks++;\n}",),
    ),
    Shape(
        "timer with two causes and a captured time",
        "static void elapsed(void) { ticks++; }\n"
        + handler(
            "    if (TIM2->SR & TIM_SR_UIF) {\n        TIM2->SR = ~TIM_SR_UIF;\n"
            "        elapsed();\n    }\n"
            "    if (TIM2->SR & TIM_SR_CC1IF) {\n        uint32_t when = TIM2->CCR1;\n"
            "        TIM2->SR = ~TIM_SR_CC1IF;\n        buffer[head++ & 15] = when;\n    }\n",
            "TIM2",
        ),
        device="TIM2",
        record=("SR", "SR_2", "CCR1"),
        writes=("SR",),
    ),
    Shape(
        "timer, what was read is cleared",
        handler(
            "    uint32_t sr = TIM2->SR;\n    TIM2->SR = ~sr;\n"
            "    if (sr & TIM_SR_UIF) ticks++;\n    if (sr & TIM_SR_CC1IF) flags++;\n",
            "TIM2",
        ),
        device="TIM2",
        record=("SR",),
        writes=("SR",),
        bottom=("uint32_t sr = fvm_io->SR;\n    if (sr",),
    ),
    Shape(
        "timer, output compare moved on by software",
        "void timer_start(void) { TIM2->CCR1 = 100; TIM2->DIER = 2; }\n"
        + handler(
            "    if (TIM2->SR & TIM_SR_CC1IF) {\n        TIM2->SR = ~TIM_SR_CC1IF;\n"
            "        TIM2->CCR1 += 100;\n        flags = TIM2->CCR1;\n    }\n",
            "TIM2",
        ),
        device="TIM2",
        record=("SR",),
        writes=("SR",),
        bottom=("TIM2->CCR1 += 100;", "flags = TIM2->CCR1;"),
    ),
    Shape(
        "external interrupt",
        "#define EXTI_IRQHandler EXTI_IRQHandler\n"
        + handler(
            "    if (EXTI->PR & (1u << 3)) {\n        EXTI->PR = 1u << 3;\n        flags++;\n"
            "    }\n",
            "EXTI",
        ),
        device="EXTI",
        record=("PR",),
        writes=("PR",),
    ),
    Shape(
        "DMA stream",
        handler(
            "    uint32_t isr = DMA1->LISR;\n\n    if ((isr & (1u << 5)) != 0u) {\n"
            "        DMA1->LIFCR = 1u << 5;\n        flags |= 1u;\n    }\n"
            "    if ((isr & (1u << 4)) != 0u) {\n        DMA1->LIFCR = 1u << 4;\n"
            "        flags |= 2u;\n    }\n",
            "DMA1",
        ),
        device="DMA1",
        record=("LISR",),
        writes=("LIFCR",),
    ),
    Shape(
        "switch",
        handler(
            "    switch (USART1->SR & (USART_SR_RXNE | USART_SR_IDLE)) {\n"
            "    case USART_SR_RXNE:\n        put(USART1->DR);\n        break;\n"
            "    case USART_SR_RXNE | USART_SR_IDLE:\n        put(USART1->DR);\n"
            "        flags = 1;\n        break;\n"
            "    case USART_SR_IDLE:\n        (void)USART1->DR;\n        flags = 1;\n"
            "        break;\n"
            "    default:\n        break;\n    }\n"
        ),
        record=("SR", "DR", "DR_2", "DR_3"),
    ),
    Shape(
        "conditional expression",
        handler(
            "    uint32_t c = (USART1->SR & USART_SR_RXNE) ? USART1->DR : 0x100u;\n"
            "    if (c != 0x100u) {\n        put(c);\n    }\n"
        ),
        record=("SR", "DR"),
        bottom=("uint32_t c = (fvm_io->SR & USART_SR_RXNE) ? fvm_io->DR : 0x100u;",),
    ),
    Shape(
        "read within a condition",
        handler(
            "    uint8_t c;\n    if ((USART1->SR & USART_SR_RXNE) && (c = USART1->DR) != 0) {\n"
            "        put(c);\n    }\n"
        ),
        record=("SR", "DR"),
        bottom=("if ((fvm_io->SR & USART_SR_RXNE) && (c = fvm_io->DR) != 0) {",),
    ),
    Shape(
        "early return",
        handler(
            "    uint32_t sr = USART1->SR;\n    if (!(sr & USART_SR_RXNE)) return;\n"
            "    buffer[head++ & 15] = USART1->DR;\n"
        ),
        record=("SR", "DR"),
    ),
    Shape(
        "errors first",
        handler(
            "    uint32_t sr = USART1->SR;\n"
            "    if (sr & (USART_SR_FE | USART_SR_NE | USART_SR_PE)) {\n"
            "        uint32_t dummy = USART1->DR;\n        (void)dummy;\n        errors++;\n"
            "    } else if (sr & USART_SR_RXNE) {\n        put(USART1->DR);\n    }\n"
        ),
        record=("SR", "DR", "DR_2"),
    ),
    Shape(
        "unconditional read, transmitter beside it",
        handler(
            "    uint32_t sr = USART1->SR;\n    uint32_t dr = USART1->DR;\n"
            "    if (sr & USART_SR_RXNE) put(dr);\n"
            "    if (sr & USART_SR_TC) USART1->CR1 &= ~USART_CR1_TCIE;\n"
        ),
        record=("SR", "DR"),
        middle=("consumed = consumed || (record->SR & 0x3FU) != 0;",),
    ),
    Shape(
        "same both ways",
        handler(
            "    if (USART1->SR & USART_SR_RXNE) {\n"
            "        if (head - tail < 16) {\n            buffer[head++ & 15] = USART1->DR;\n"
            "        } else {\n            (void)USART1->DR;\n            errors++;\n        }\n"
            "    }\n"
        ),
        record=("SR", "DR"),
        bottom=("buffer[head++ & 15] = fvm_io->DR;", "(void)fvm_io->DR;"),
    ),
    Shape(
        "bytes of a serial peripheral interface",
        handler(
            "    if (SPI1->SR & 1u) {\n"
            "        buffer[head++ & 15] = *(volatile uint8_t *)&SPI1->DR;\n    }\n"
            "    if ((SPI1->SR & 2u) && (SPI1->CR2 & 0x80u)) {\n"
            "        *(volatile uint8_t *)&SPI1->DR = out[out_tail++ & 15];\n    }\n",
            "SPI1",
        ),
        device="SPI1",
        record=("SR", "DR"),
        middle=("(*(volatile uint8_t *)0x4001300CU)",),
    ),
    Shape(
        "address phase of an I2C slave",
        handler(
            "    uint32_t sr1 = I2C1->SR1;\n    if (sr1 & 2u) {\n"
            "        flags = I2C1->SR2;\n    }\n"
            "    if (sr1 & 0x40u) {\n        put(I2C1->DR);\n    }\n"
            "    if (sr1 & 0x400u) {\n        I2C1->SR1 = ~0x400u;\n        errors++;\n    }\n",
            "I2C1",
        ),
        device="I2C1",
        record=("SR1", "SR2", "DR"),
        writes=("SR1",),
    ),
    Shape(
        "converter",
        handler("    if (ADC1->SR & 2u) flags = ADC1->DR & 0xFFFu;\n", "ADC1"),
        device="ADC1",
        record=("SR", "DR"),
    ),
    Shape(
        "block inside a block, tabs, a comment",
        handler(
            "\t/* what came */\n\tif (USART1->SR & USART_SR_RXNE) /* RXNE */\n\t{\n"
            "\t\t{ uint8_t c = (uint8_t) USART1->DR; // the byte\n\t\t  if (c > ' ') put(c); }\n"
            "\t}\n"
        ),
        record=("SR", "DR"),
    ),
    Shape(
        "attribute and comment before the handler",
        "/* The console. */\n__attribute__((noinline)) void USART1_IRQHandler(void) {\n"
        "    if (USART1->SR & USART_SR_RXNE) put(USART1->DR);\n}\n",
        record=("SR", "DR"),
        bottom=(
            "static void USART1_IRQHandler_bottom(const struct usart1_record *fvm_io) {",
            "__attribute__((noinline)) void USART1_IRQHandler(void) {",
        ),
    ),
    Shape(
        "acknowledging macro of several statements",
        "#define CLEAR_ERRORS(dev) do { volatile uint32_t t = 0; t = (dev)->SR; t = (dev)->DR; "
        "(void)t; } while (0)\n"
        + handler(
            "    if (USART1->SR & USART_SR_ORE) {\n        CLEAR_ERRORS(USART1);\n"
            "        errors++;\n"
            "    }\n"
        ),
        record=("SR", "SR_2", "DR"),
    ),
    Shape(
        "handler made by a macro",
        "#define ISR(name) void name##_IRQHandler(void)\n"
        "ISR(USART1)\n{\n    if (USART1->SR & 0x20) put(USART1->DR);\n}\n",
        record=("SR", "DR"),
    ),
    Shape(
        "accessor functions that decode their argument",
        "typedef enum { RESET = 0, SET = 1 } ITStatus;\n"
        "#define USART_IT_RXNE ((uint16_t)0x0525)\n#define USART_IT_TXE ((uint16_t)0x0727)\n"
        "ITStatus USART_GetITStatus(USART_TypeDef *USARTx, uint16_t USART_IT)\n{\n"
        "    uint32_t bitpos = 0x00, itmask = 0x00, usartreg = 0x00;\n"
        "    ITStatus bitstatus = RESET;\n"
        "    usartreg = (((uint8_t)USART_IT) >> 0x05);\n    itmask = USART_IT & 0x001F;\n"
        "    itmask = (uint32_t)0x01 << itmask;\n"
        "    if (usartreg == 0x01) {\n        itmask &= USARTx->CR1;\n"
        "    } else if (usartreg == 0x02) {\n        itmask &= USARTx->CR2;\n"
        "    } else {\n        itmask &= USARTx->CR3;\n    }\n"
        "    bitpos = USART_IT >> 0x08;\n    bitpos = (uint32_t)0x01 << bitpos;\n"
        "    bitpos &= USARTx->SR;\n"
        "    if ((itmask != (uint16_t)RESET) && (bitpos != (uint16_t)RESET)) {\n"
        "        bitstatus = SET;\n    } else {\n        bitstatus = RESET;\n    }\n"
        "    return bitstatus;\n}\n"
        "uint16_t USART_ReceiveData(USART_TypeDef *USARTx)\n{\n"
        "    return (uint16_t)(USARTx->DR & (uint16_t)0x01FF);\n}\n"
        "void USART_SendData(USART_TypeDef *USARTx, uint16_t Data)\n{\n"
        "    USARTx->DR = (Data & (uint16_t)0x01FF);\n}\n"
        "void USART_ClearITPendingBit(USART_TypeDef *USARTx, uint16_t USART_IT)\n{\n"
        "    uint16_t bitpos = 0x00, itmask = 0x00;\n    bitpos = USART_IT >> 0x08;\n"
        "    itmask = ((uint16_t)0x01 << (uint16_t)bitpos);\n"
        "    USARTx->SR = (uint16_t)~itmask;\n}\n"
        + handler(
            "    if (USART_GetITStatus(USART1, USART_IT_RXNE) != RESET) {\n"
            "        uint8_t c = USART_ReceiveData(USART1);\n        put(c);\n"
            "        USART_ClearITPendingBit(USART1, USART_IT_RXNE);\n    }\n"
            "    if (USART_GetITStatus(USART1, USART_IT_TXE) != RESET) {\n"
            "        USART_SendData(USART1, out[out_tail++ & 15]);\n    }\n"
        ),
        record=("CR1", "SR", "DR"),
        writes=("SR",),
    ),
    Shape(
        "shifted flags, registers with the name of their block",
        "typedef struct { volatile uint32_t USART_SR, USART_DR; } Port;\n"
        + handler(
            "    if ((USART1->USART_SR >> 5) & 0x1) {\n        put(USART1->USART_DR);\n    }\n"
        ),
        usart="Port",
        record=("USART_SR", "USART_DR"),
    ),
    Shape(
        "flags acknowledged while they are asked for again",
        handler(
            "    if (TIM2->SR & TIM_SR_CC1IF) {\n        flags = TIM2->CCR1;\n"
            "        TIM2->SR &= ~TIM_SR_CC1IF;\n        ticks |= 1;\n    }\n"
            "    if (TIM2->SR & 4u) {\n        errors = TIM2->CCR2;\n"
            "        TIM2->SR &= ~4u;\n        ticks |= 2;\n    }\n",
            "TIM2",
        ),
        device="TIM2",
        record=("SR", "CCR1", "SR_2", "CCR2"),
        writes=("SR",),
    ),
    Shape(
        "flags that are looked at before all of them are cleared",
        handler(
            "    if (TIM2->SR & 2) flags++;\n    ticks++;\n    TIM2->SR &= ~4u;\n"
            "    TIM2->SR = 0;\n",
            "TIM2",
        ),
        device="TIM2",
        record=("SR",),
        writes=("SR",),
    ),
    Shape(
        "helper that ends with a return",
        "static void receive(void)\n{\n    put(USART1->DR);\n    return;\n}\n\n"
        + handler(
            "    uint32_t sr = USART1->SR;\n"
            "    if (sr & USART_SR_RXNE) {\n        receive();\n    }\n"
            "    if (sr & 0x100u) {\n        USART1->SR = ~0x100u;\n        flags = 1;\n    }\n"
        ),
        record=("SR", "DR"),
        writes=("SR",),
    ),
    Shape(
        "names that the mid-section has too",
        "#include <stdbool.h>\n"
        "static void receive(uint32_t sr)\n{\n    uint32_t record = USART1->DR;\n"
        "    if (sr & USART_SR_ORE) {\n        errors++;\n    }\n    put(record);\n}\n\n"
        + handler(
            "    uint32_t sr = USART1->SR;\n"
            "    bool words = (sr & USART_SR_RXNE) != 0 ? true : false;\n"
            "    if (words == true) {\n        receive(sr);\n    }\n"
        ),
        record=("SR", "DR"),
    ),
    Shape(
        "names that the port gives are taken",
        "static uint32_t usart1_record = 3;\n"
        "static void USART1_IRQHandler_bottom(void) { ticks += usart1_record; }\n"
        "void poll(void);\nvoid poll(void) { USART1_IRQHandler_bottom(); }\n"
        + handler(
            "    uint32_t fvm_once = 0;\n    while (USART1->SR & USART_SR_RXNE) {\n"
            "        uint8_t fvm_io = 1, c = USART1->DR;\n        put(c + fvm_io);\n"
            "        if (fvm_once) break;\n    }\n"
        ),
        record=("SR", "DR"),
        bottom=(
            "static void USART1_IRQHandler_bottom_2(const struct usart1_record_2 *fvm_io_2)",
            "for (int fvm_once_2 = 1; fvm_once_2 && (",
            "USART1_IRQHandler_bottom_2(&fvm_io_2);",
        ),
        loops=True,
    ),
    Shape(
        "static worker with a name that others have too",
        "static struct job { struct { uint32_t work; } inner; } *job;\n"
        "void later(uint32_t work);\nvoid later(uint32_t work) { flags = work; }\n"
        "static void work(void)\n{\n    if (USART1->SR & USART_SR_RXNE)\n"
        "        put(USART1->DR);\n}\n"
        "void poll(void);\nvoid poll(void) { flags = job->inner.work; }\n"
        + handler("    work();\n"),
        record=("SR", "DR"),
        files={
            "other.c": "unsigned work;\nunsigned set(void);\n"
            "unsigned set(void) { return work++; }\n"
        },
    ),
    Shape(
        "helpers of a worker",
        "static uint32_t raw(void) { return USART1->DR; }\n"
        "/* A character. */\nstatic uint8_t rd(void)\n{\n    return (uint8_t)raw();\n}\n"
        "static inline int has(uint32_t f) { return (USART1->SR & f) != 0; }\n\n"
        "static void serve_rx(void)\n{\n    if (has(USART_SR_RXNE)) {\n"
        "        char c = (char)rd();\n        put(c);\n    }\n}\n\n"
        + handler("    serve_rx();\n"),
        record=("SR", "DR"),
        bottom=("char c = (char)((uint8_t)((uint32_t)(fvm_io->DR)));",),
    ),
    Shape(
        "full buffer, by locals",
        handler(
            "    if (USART1->SR & USART_SR_RXNE) {\n        uint32_t next = (head + 1) & 15;\n\n"
            "        if (next == (tail & 15)) {\n            (void)USART1->DR;\n"
            "        } else {\n            buffer[head & 15] = (uint8_t)USART1->DR;\n"
            "            head = next;\n        }\n        flags |= 1;\n    }\n"
        ),
        record=("SR", "DR"),
        bottom=("(void)fvm_io->DR;", "buffer[head & 15] = (uint8_t)fvm_io->DR;"),
    ),
    Shape(
        "full buffer, in a local",
        handler(
            "    if (USART1->SR & USART_SR_RXNE) {\n        int full = (head - tail) & 1;\n"
            "        if (full) (void)USART1->DR; else put(USART1->DR);\n    }\n"
        ),
        record=("SR", "DR"),
        bottom=("if (full) (void)fvm_io->DR; else put(fvm_io->DR);",),
    ),
    Shape(
        "mask in a constant",
        "static const uint32_t mask = USART_SR_RXNE;\n"
        + handler("    if (USART1->SR & mask) put(USART1->DR);\n"),
        record=("SR", "DR"),
    ),
    Shape(
        "constants with names that the mid-section has too",
        "enum { DR = 0x20 };\n#define words 0xffu\n#define size (1u << 3)\n"
        + handler(
            "    uint32_t USART1_SR = USART1->SR;\n"
            "    if (USART1_SR & words & (DR | size)) {\n        put(USART1->DR);\n    }\n"
        ),
        record=("SR", "DR"),
    ),
)

ESCALATED = (
    Shape(
        "handle that a function changes which its worker calls",
        HANDLE
        + "void port_open(Port *p, USART_TypeDef *device) { p->Instance = device; }\n"
        "void port_next(Port *p) { port_open(p, USART2); }\n"
        "void port_serve(Port *p)\n{\n    if (p->Instance->SR & 0x20) {\n"
        "        put(p->Instance->DR);\n        port_next(p);\n    }\n"
        "    if (p->Instance->SR & 8) (void)p->Instance->DR;\n}\n"
        + handler("    port_serve(&port);\n"),
        escalates="port_open, which port_serve leads to, puts a device into Instance",
    ),
    Shape(
        "one function for several lines that keeps something for all of them",
        "static void serve(USART_TypeDef *u)\n{\n    static uint32_t count;\n"
        "    if (u->SR & 0x20) put(u->DR);\n    flags = ++count;\n}\n"
        "void USART2_IRQHandler(void) { serve(USART2); }\n"
        + handler("    serve(USART1);\n"),
        escalates="serve serves other lines too and keeps static uint32_t count;",
    ),
    Shape(
        "another line clears whatever is pending in the same register",
        "void EXTI9_IRQHandler(void) { EXTI->PR |= 1u << 9; errors++; }\n"
        + handler("    EXTI->PR = 1u << 3;\n    ticks++;\n", "EXTI"),
        device="EXTI",
        escalates="in EXTI9_IRQHandler writes PR, which the mid-section writes",
    ),
    Shape(
        "another line clears what memory says in the same register",
        "void EXTI9_IRQHandler(void) { EXTI->PR = flags; errors++; }\n"
        + handler("    EXTI->PR = 1u << 3;\n    ticks++;\n", "EXTI"),
        device="EXTI",
        escalates="in EXTI9_IRQHandler writes PR, which the mid-section writes",
    ),
    Shape(
        "worker that moves on to another device",
        "static void serve(USART_TypeDef *u)\n{\n    if (u->SR & 0x20) put(u->DR);\n"
        "    u = USART2;\n    if (u->SR & 0x20) put(u->DR);\n}\n"
        + handler("    serve(USART1);\n"),
        escalates="u changes in serve, and with it the device",
    ),
    Shape(
        "handle that its worker changes",
        HANDLE
        + "void port_open(Port *p, USART_TypeDef *device) { p->Instance = device; }\n"
        "void port_serve(Port *p)\n{\n    p->Instance = USART2;\n"
        "    if (p->Instance->SR & 0x20) put(p->Instance->DR);\n}\n"
        + handler("    port_serve(&port);\n"),
        escalates="p->Instance changes in port_serve",
    ),
    Shape(
        "worker that is told by the VM whether to read",
        "static void serve(USART_TypeDef *u, uint32_t wanted)\n{\n"
        "    if ((u->SR & 0x20) && wanted) put(u->DR);\n}\n"
        + handler("    serve(USART1, flags);\n"),
        escalates="depends on wanted, which only the VM knows",
    ),
    Shape(
        "worker with a handle for several lines",
        HANDLE
        + "Port second;\nvoid port_open(Port *p, USART_TypeDef *device) { p->Instance = device; }\n"
        "void port_serve(Port *p)\n{\n    if (p->Instance->SR & 0x20) put(p->Instance->DR);\n}\n"
        "void USART2_IRQHandler(void) { port_serve(&second); }\n"
        + handler("    port_serve(&port);\n"),
        escalates="port_serve, which serves the interrupt, is also used by USART2_IRQHandler",
    ),
    Shape(
        "worker that another function calls for the same device",
        "static void serve(USART_TypeDef *u) { if (u->SR & 0x20) put(u->DR); }\n"
        "void poll(void) { serve(USART1); }\n" + handler("    serve(USART1);\n"),
        escalates="in poll takes out of DR",
    ),
    Shape(
        "driver that reads data of whatever its handle leads to",
        HANDLE
        + "int port_read(Port *p);\nint port_read(Port *p) { return (int)p->Instance->DR; }\n"
        + handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        escalates="if its pointer leads to the device, takes out of DR",
    ),
    Shape(
        "driver that gives away the data register of whatever its handle leads to",
        HANDLE
        + "void start(volatile uint32_t *from);\n"
        "void port_read(Port *p) { start(&p->Instance->DR); }\n"
        + handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        escalates="who reads through this address can't be told",
    ),
    Shape(
        "guard in the VM's memory",
        handler(
            "    if ((USART1->SR & USART_SR_RXNE) && flags) {\n        put(USART1->DR);\n    }\n"
        ),
        escalates="reading or acknowledging depends on flags, which only the VM knows",
    ),
    Shape(
        "full buffer, in a local, read only if there is room",
        handler(
            "    int room = (head - tail) < 16;\n    if ((USART1->SR & USART_SR_RXNE) && room) {\n"
            "        put(USART1->DR);\n    }\n"
        ),
        escalates="depends on room = head, which only the VM knows",
    ),
    Shape(
        "full buffer, in a local, one way reads twice",
        handler(
            "    if (USART1->SR & USART_SR_RXNE) {\n        int full = head & 1;\n"
            "        if (full) { (void)USART1->DR; (void)USART1->DR; }\n"
            "        else put(USART1->DR);\n    }\n"
        ),
        escalates="depends on full = head, which only the VM knows",
    ),
    Shape(
        "full buffer, in a local, one way leaves",
        handler(
            "    int full = head & 1;\n    if (full) { (void)USART1->DR; return; }\n"
            "    put(USART1->DR);\n"
        ),
        escalates="depends on full = head, which only the VM knows",
    ),
    *(
        Shape(
            f"mask in a variable: {declared}",
            "#define __IO volatile\n"
            f"{declared} mask = USART_SR_RXNE;\n"
            + handler("    if (USART1->SR & mask) put(USART1->DR);\n"),
            escalates="depends on mask, which only the VM knows",
        )
        for declared in (
            "static volatile uint32_t", "const volatile uint32_t", "uint32_t",
            "static __IO uint32_t", "static const __IO uint32_t",
        )
    ),
    Shape(
        "conditional that splits a block",
        "#define FAST 1\n"
        + handler(
            "#ifdef FAST\n    if (USART1->SR & USART_SR_RXNE) {\n"
            "#else\n    if (USART1->SR & 0x10) {\n#endif\n        put(USART1->DR);\n    }\n"
        ),
        escalates="#ifdef splits a block of USART1_IRQHandler",
    ),
    Shape(
        "fixed number of reads",
        handler("    for (int i = 0; i < 4; i++) {\n        put(USART1->DR);\n    }\n"),
        escalates="a mid-section has no loops",
    ),
    Shape(
        "loop until memory is full",
        handler("    while (head < 16) {\n        put(USART1->DR);\n    }\n"),
        escalates="a loop around reads or acknowledgements",
    ),
    Shape(
        "assembler in the handler",
        handler('    __asm volatile("nop");\n    if (USART1->SR & 0x20) put(USART1->DR);\n'),
        escalates="inline assembly",
    ),
    Shape(
        "function pointer before the read",
        "void (*hook)(void);\n"
        + handler("    hook();\n    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        escalates="comes after the call through hook",
    ),
    Shape(
        "clear after the callback",
        "void elapsed(void) { ticks++; }\n"
        + handler(
            "    if (TIM2->SR & 1) {\n        elapsed();\n        TIM2->SR = ~1u;\n    }\n", "TIM2"
        ),
        device="TIM2",
        escalates="acknowledges after elapsed()",
    ),
    Shape(
        "handle in which nothing puts the device",
        "typedef struct { USART_TypeDef *Instance; uint8_t *p; } UART_HandleTypeDef;\n"
        "UART_HandleTypeDef huart1;\n"
        "void HAL_UART_IRQHandler(UART_HandleTypeDef *huart)\n{\n"
        "    if (huart->Instance->SR & 0x20) *huart->p++ = huart->Instance->DR;\n}\n"
        + handler("    HAL_UART_IRQHandler(&huart1);\n"),
        escalates="a pointer in the VM's memory",
    ),
    Shape(
        "data read elsewhere too",
        "int poll(void) { return (USART1->SR & 0x20) ? (int)USART1->DR : -1; }\n"
        + handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        escalates="takes out of DR",
    ),
    Shape(
        "data read elsewhere through a parameter",
        "int poll(USART_TypeDef *u) { return (int)u->DR; }\n"
        "int any(void) { return poll(USART1); }\n"
        + handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        escalates="takes out of DR",
    ),
    Shape(
        "flags cleared elsewhere too",
        "void timer_init(void) { TIM2->SR = 0; TIM2->DIER = 1; }\n"
        + handler("    TIM2->SR = ~1u;\n    ticks++;\n", "TIM2"),
        device="TIM2",
        escalates="TIM2->SR = 0 in timer_init writes SR, which the mid-section writes",
    ),
    Shape(
        "goto",
        handler(
            "    if (!(USART1->SR & 0x20)) goto out;\n    put(USART1->DR);\nout:\n    ticks++;\n"
        ),
        escalates="goto",
    ),
    Shape(
        "address of the data register given away",
        "void start(volatile uint32_t *from);\nvoid init(void) { start(&USART1->DR); }\n"
        + handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        escalates="who reads through this address can't be told",
    ),
    Shape(
        "worker that others use too",
        "void serve(void) { if (USART1->SR & 0x20) put(USART1->DR); }\n"
        "void poll(void) { serve(); }\n" + handler("    serve();\n"),
        escalates="serve, which serves the interrupt, is also used by poll",
    ),
    Shape(
        "helper that reads data for others too",
        "static uint8_t rd(void) { return (uint8_t)USART1->DR; }\n"
        "int poll(void);\nint poll(void) { return rd(); }\n"
        + handler("    if (USART1->SR & 0x20) put(rd());\n"),
        escalates="takes out of DR",
    ),
    Shape(
        "helper that reads data, by its address too",
        "static uint8_t rd(void) { return (uint8_t)USART1->DR; }\n"
        "uint8_t (*const take)(void) = rd;\n"
        + handler("    if (USART1->SR & 0x20) put(rd());\n"),
        escalates="takes out of DR",
    ),
    Shape(
        "static worker in a table",
        "static void serve(void) { if (USART1->SR & 0x20) put(USART1->DR); }\n"
        "void (*const table[])(void) = {serve};\n" + handler("    serve();\n"),
        escalates="serve, which serves the interrupt, is also used by a table",
    ),
    Shape(
        "body in a macro",
        "#define BODY() do { if (USART1->SR & 0x20) { put(USART1->DR); } } while (0)\n"
        + handler("    BODY();\n"),
        escalates="write its body into the handler",
    ),
    Shape(
        "nothing to capture",
        handler("    USART1->CR1 &= ~USART_CR1_TXEIE;\n    flags = 1;\n"),
        escalates="there is nothing that a mid-section could do for it",
    ),
    Shape(
        "acknowledges what memory says",
        handler("    TIM2->SR = ~flags;\n    ticks++;\n", "TIM2"),
        device="TIM2",
        escalates="acknowledges what flags says",
    ),
    Shape(
        "control write before the read",
        handler(
            "    USART1->CR1 &= ~USART_CR1_RXNEIE;\n    if (USART1->SR & 0x20) put(USART1->DR);\n"
        ),
        escalates="comes after the write USART1->CR1",
    ),
    Shape(
        "too many reads",
        handler(
            "".join(f"    if (USART1->SR & 0x{1 << n:x}) put(USART1->DR);\n" for n in range(5))
        ),
        escalates="10 reads to capture, a record holds 8",
    ),
    Shape(
        "helper that is used twice",
        "static void receive(void) { put(USART1->DR); }\n"
        + handler(
            "    if (USART1->SR & 0x20) receive();\n    if (USART1->SR & 8) receive();\n"
            "    ticks++;\n"
        ),
        escalates="receive is also called in line",
    ),
    Shape(
        "bit-band alias of the data register",
        "int first(void) { return *(volatile uint32_t *)0x42220080; }\n"
        + handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        escalates="takes out of DR",
    ),
    Shape(
        "pointer that changes",
        "USART_TypeDef *port;\n"
        + handler("    if (port->SR & 0x20) put(port->DR);\n"),
        escalates="a pointer in the VM's memory",
    ),
    Shape(
        "pointer that another file changes",
        "USART_TypeDef *port = USART1;\n"
        + handler("    if (port->SR & 0x20) put(port->DR);\n"),
        files={"other.c": "extern void *port;\nvoid other(void);\n"
               "void other(void) { port = 0; }\n"},
        escalates="a pointer in the VM's memory",
    ),
    Shape(
        "cause that isn't asked for, and one that only the VM serves",
        handler("    put(ADC1->DR);\n    if (flags) ADC1->CR2 |= 1;\n", "ADC1"),
        device="ADC1",
        escalates="ask for its flag first",
    ),
    Shape(
        "switch in memory",
        handler(
            "    switch (flags) {\n    case 0:\n        put(USART1->DR);\n        break;\n    }\n"
        ),
        escalates="depends on flags",
    ),
    Shape(
        "another device decides",
        handler("    if (USART2->SR & 0x20) put(USART1->DR);\n"),
        escalates="depends on USART2->SR",
    ),
    Shape(
        "whole status decides, one bit sends",
        handler(
            "    uint32_t sr = USART1->SR;\n    if (sr == 0) return;\n"
            "    if (sr & USART_SR_RXNE) put(USART1->DR);\n"
            "    if (sr & USART_SR_TXE) USART1->DR = out[out_tail++ & 15];\n"
        ),
        escalates="ask for single flags",
    ),
    Shape(
        "macro that returns from the handler",
        "#define TAKE() do { put(USART1->DR); return; } while (0)\n"
        + handler("    if (USART1->SR & 0x20) TAKE();\n    if (USART1->SR & 8) put(USART1->DR);\n"),
        escalates="TAKE returns early",
    ),
    Shape(
        "data taken without a look at its flag, a control write beside it",
        handler("    put(USART1->DR);\n    USART1->CR1 |= USART_CR1_TCIE;\n"),
        escalates="ask for its flag first",
    ),
    Shape(
        "status of a block that nobody knows",
        "typedef struct { volatile uint32_t STAT, DATA; } Radio;\n"
        "#define RADIO1 ((Radio *)0x40030000UL)\n"
        + handler(
            "    uint32_t stat = RADIO1->STAT;\n    if (stat & 1u) put(RADIO1->DATA);\n"
            "    if (stat & 2u) flags = 1;\n",
            "RADIO1",
        ),
        device="RADIO1",
        escalates="whether reading clears it isn't known for this block",
    ),
    Shape(
        "address as a number",
        "unsigned first(unsigned long base) { return *(volatile uint32_t *)(base + 4); }\n"
        "void poll(void) { flags = first(USART1_BASE); }\n"
        + handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        escalates="is given the device's address",
    ),
    Shape(
        "assembler beside it",
        handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        files={"fast.s": ".syntax unified\nfirst: ldr r0, =0x40011000\n ldr r0, [r0, #4]\n"
        " bx lr\n"},
        escalates="in assembler or C++, which isn't followed",
    ),
    Shape(
        "a class in a header",
        handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        files={"fast.h": "class Fast { public: int first() { return USART1->DR; } };\n"},
        escalates="in assembler or C++, which isn't followed",
    ),
    Shape(
        "macro of statements that reads data elsewhere",
        "#define FLUSH(dev) do { uint32_t t = (dev)->DR; (void)t; } while (0)\n"
        "void init(void) { FLUSH(USART1); }\n"
        + handler("    if (USART1->SR & 0x20) put(USART1->DR);\n"),
        escalates="takes out of DR",
    ),
)  # fmt: skip
