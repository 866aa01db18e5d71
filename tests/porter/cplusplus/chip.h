/* What a vendor's header has, as far as the shapes need it. */
#ifndef CHIP_H
#define CHIP_H

#include <stdint.h>

#define __IO volatile

typedef struct {
    __IO uint32_t MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR, LCKR, AFR[2];
} GPIO_TypeDef;

typedef struct {
    __IO uint32_t CR, PLLCFGR, CFGR, CIR, AHB1RSTR, AHB2RSTR, AHB3RSTR, RESERVED0, APB1RSTR,
        APB2RSTR, RESERVED1[2], AHB1ENR, AHB2ENR, AHB3ENR, RESERVED2, APB1ENR, APB2ENR;
} RCC_TypeDef;

#define GPIOA ((GPIO_TypeDef *)0x40020000UL)
#define GPIOB ((GPIO_TypeDef *)0x40020400UL)
#define RCC ((RCC_TypeDef *)0x40023800UL)

enum IRQn { TIM2_IRQn = 28 };
static inline void __DSB(void) {}

#endif
