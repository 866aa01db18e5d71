/* Names that firmware takes from headers which may not be part of the project: the core's blocks
 * as CMSIS names them, and the blocks that no domain owns as ST's headers name them (STM32F4
 * addresses; only the names and the fields matter). Read by the porter, never compiled. */
typedef struct {
    volatile unsigned ISER[8], R0[24], ICER[8], R1[24], ISPR[8], R2[24], ICPR[8], R3[24], IABR[8];
    unsigned R4[56];
    union {
        volatile unsigned char IP[240], IPR[240];
    };
    unsigned R5[644];
    volatile unsigned STIR;
} NVIC_Type;
typedef struct {
    volatile unsigned CPUID, ICSR, VTOR, AIRCR, SCR, CCR;
    union {
        volatile unsigned char SHP[12], SHPR[12];
    };
    volatile unsigned SHCSR, CFSR, HFSR, DFSR, MMFAR, BFAR, AFSR, ID[18], CPACR;
} SCB_Type;
typedef struct {
    volatile unsigned R0, ICTR, ACTLR;
} SCnSCB_Type;
typedef struct {
    volatile unsigned CTRL, LOAD, VAL, CALIB;
} SysTick_Type;
typedef struct {
    volatile unsigned CTRL, CYCCNT, CPICNT, EXCCNT, SLEEPCNT, LSUCNT, FOLDCNT, PCSR, R0[996], LAR;
} DWT_Type;
typedef struct {
    volatile unsigned DHCSR, DCRSR, DCRDR, DEMCR;
} CoreDebug_Type;
typedef struct {
    volatile union {
        unsigned char u8;
        unsigned short u16;
        unsigned u32;
    } PORT[32];
    volatile unsigned R0[864], TER, R1[15], TPR, R2[15], TCR, R3[75], LAR;
} ITM_Type;
typedef struct {
    volatile unsigned SSPSR, CSPSR, R0[2], ACPR, R1[55], SPPR;
} TPI_Type;
typedef struct {
    volatile unsigned IDCODE, CR, APB1FZ, APB2FZ;
} DBGMCU_TypeDef;
typedef struct {
    volatile unsigned TYPE, CTRL, RNR, RBAR, RASR, RBAR_A1, RASR_A1, RBAR_A2, RASR_A2, RBAR_A3,
        RASR_A3;
} MPU_Type;
typedef struct {
    volatile unsigned R0, FPCCR, FPCAR, FPDSCR, MVFR0, MVFR1;
} FPU_Type;
typedef struct {
    volatile unsigned MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR, LCKR, AFR[2], BRR, CRL, CRH;
    volatile unsigned short BSRRL, BSRRH;
} GPIO_TypeDef;
typedef struct {
    volatile unsigned CR, PLLCFGR, CFGR, CIR, AHB1RSTR, AHB2RSTR, AHB3RSTR, R0, APB1RSTR, APB2RSTR,
        R1[2], AHB1ENR, AHB2ENR, AHB3ENR, R2, APB1ENR, APB2ENR, R3[2], AHB1LPENR, AHB2LPENR,
        AHB3LPENR, R4, APB1LPENR, APB2LPENR, R5[2], BDCR, CSR, R6[2], SSCGR, PLLI2SCFGR, PLLSAICFGR,
        DCKCFGR, AHBENR, AHBRSTR, CFGR2, CFGR3, CR2, ICSCR, IOPENR, APBENR1, APBENR2, APB1ENR1,
        APB1ENR2, CCIPR;
} RCC_TypeDef;
typedef struct {
    volatile unsigned KR, PR, RLR, SR, WINR;
} IWDG_TypeDef;
typedef struct {
    volatile unsigned CR, CFR, SR;
} WWDG_TypeDef;
typedef struct {
    volatile unsigned CR, CSR, CR1, CR2, CR3, CR4, SR1, SR2, SCR;
} PWR_TypeDef;
typedef struct {
    volatile unsigned ACR, KEYR, OPTKEYR, SR, CR, OPTCR, AR, OBR, WRPR;
} FLASH_TypeDef;
typedef struct {
    volatile unsigned MEMRMP, PMC, EXTICR[4], R0[2], CMPCR, CFGR1, CFGR2;
} SYSCFG_TypeDef;
typedef struct {
    volatile unsigned IMR, EMR, RTSR, FTSR, SWIER, PR;
} EXTI_TypeDef;

#define SCS_BASE 0xE000E000UL
#define ITM ((ITM_Type *)0xE0000000UL)
#define DWT ((DWT_Type *)0xE0001000UL)
#define SCnSCB ((SCnSCB_Type *)0xE000E000UL)
#define SysTick ((SysTick_Type *)0xE000E010UL)
#define NVIC ((NVIC_Type *)0xE000E100UL)
#define SCB ((SCB_Type *)0xE000ED00UL)
#define MPU ((MPU_Type *)0xE000ED90UL)
#define CoreDebug ((CoreDebug_Type *)0xE000EDF0UL)
#define DCB ((CoreDebug_Type *)0xE000EDF0UL)
#define ICB ((SCnSCB_Type *)0xE000E000UL)
#define TPI ((TPI_Type *)0xE0040000UL)
#define DBGMCU ((DBGMCU_TypeDef *)0xE0042000UL)
#define FPU ((FPU_Type *)0xE000EF30UL)
#define GPIOA ((GPIO_TypeDef *)0x40020000UL)
#define GPIOB ((GPIO_TypeDef *)0x40020400UL)
#define GPIOC ((GPIO_TypeDef *)0x40020800UL)
#define GPIOD ((GPIO_TypeDef *)0x40020C00UL)
#define GPIOE ((GPIO_TypeDef *)0x40021000UL)
#define GPIOF ((GPIO_TypeDef *)0x40021400UL)
#define GPIOG ((GPIO_TypeDef *)0x40021800UL)
#define GPIOH ((GPIO_TypeDef *)0x40021C00UL)
#define GPIOI ((GPIO_TypeDef *)0x40022000UL)
#define GPIOJ ((GPIO_TypeDef *)0x40022400UL)
#define GPIOK ((GPIO_TypeDef *)0x40022800UL)
#define RCC ((RCC_TypeDef *)0x40023800UL)
#define FLASH ((FLASH_TypeDef *)0x40023C00UL)
#define PWR ((PWR_TypeDef *)0x40007000UL)
#define SYSCFG ((SYSCFG_TypeDef *)0x40013800UL)
#define EXTI ((EXTI_TypeDef *)0x40013C00UL)
#define IWDG ((IWDG_TypeDef *)0x40003000UL)
#define WWDG ((WWDG_TypeDef *)0x40002C00UL)

#define SCB_ICSR_PENDSVSET_Pos 28U
#define SCB_ICSR_PENDSVSET_Msk (1UL << 28)
#define SCB_ICSR_PENDSVCLR_Pos 27U
#define SCB_ICSR_PENDSVCLR_Msk (1UL << 27)
#define SCB_ICSR_PENDSTSET_Pos 26U
#define SCB_ICSR_PENDSTSET_Msk (1UL << 26)
#define SCB_ICSR_PENDSTCLR_Pos 25U
#define SCB_ICSR_PENDSTCLR_Msk (1UL << 25)
#define SCB_ICSR_VECTACTIVE_Msk 0x1FFUL
#define SCB_AIRCR_VECTKEY_Pos 16U
#define SCB_AIRCR_VECTKEY_Msk (0xFFFFUL << 16)
#define SCB_AIRCR_PRIGROUP_Msk (7UL << 8)
#define SCB_AIRCR_SYSRESETREQ_Pos 2U
#define SCB_AIRCR_SYSRESETREQ_Msk (1UL << 2)
#define SCB_SCR_SEVONPEND_Pos 4U
#define SCB_SCR_SEVONPEND_Msk (1UL << 4)
#define SCB_SCR_SLEEPDEEP_Pos 2U
#define SCB_SCR_SLEEPDEEP_Msk (1UL << 2)
#define SCB_SCR_SLEEPONEXIT_Pos 1U
#define SCB_SCR_SLEEPONEXIT_Msk (1UL << 1)
#define SysTick_CTRL_COUNTFLAG_Pos 16U
#define SysTick_CTRL_COUNTFLAG_Msk (1UL << 16)
#define SysTick_CTRL_CLKSOURCE_Pos 2U
#define SysTick_CTRL_CLKSOURCE_Msk (1UL << 2)
#define SysTick_CTRL_TICKINT_Pos 1U
#define SysTick_CTRL_TICKINT_Msk (1UL << 1)
#define SysTick_CTRL_ENABLE_Pos 0U
#define SysTick_CTRL_ENABLE_Msk 1UL
#define SysTick_LOAD_RELOAD_Msk 0xFFFFFFUL
#define DWT_CTRL_CYCCNTENA_Pos 0U
#define DWT_CTRL_CYCCNTENA_Msk 1UL
#define CoreDebug_DEMCR_TRCENA_Pos 24U
#define CoreDebug_DEMCR_TRCENA_Msk (1UL << 24)

/* The same where there is no _Msk: ST's before CMSIS 2, and libopencm3. */
#define SCB_SCR_SEVONPEND (1UL << 4)
#define SCB_SCR_SEVEONPEND (1UL << 4)
#define SCB_SCR_SLEEPDEEP (1UL << 2)
#define SCB_SCR_SLEEPONEXIT (1UL << 1)
/* C's own, of <stdint.h> (C17 7.20.4). */
#define INT8_C(n) (n)
#define UINT8_C(n) (n)
#define INT16_C(n) (n)
#define UINT16_C(n) (n)
#define INT32_C(n) ((int32_t)(n))
#define UINT32_C(n) ((uint32_t)(n))
#define INT64_C(n) ((int64_t)(n))
#define UINT64_C(n) ((uint64_t)(n))
