/* A boot loader that cleans up nothing: it uses all that a kernel relies on, then jumps to the
 * image's reset handler as it is. RAM from PREBOOT_RAM on is its own. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

void preboot(void);
void never(void);

/* Whatever is taken while the image is not yet in charge hangs here. */
void never(void)
{
    for (;;) {
    }
}

static const uint32_t table[128] __attribute__((aligned(512), used)) = {
    [0] = PREBOOT_RAM + 0x400,
    [1 ... 127] = (uint32_t)&never,
};

static void leave_registers(void)
{
    REGISTER(0xE000ED08) = (uint32_t)table; /* VTOR */
    REGISTER(0xE000ED0C) = 0x05FA0700;      /* AIRCR: PRIGROUP 7 */
    REGISTER(0xE000ED10) = 0x16;            /* SCR: SEVONPEND, SLEEPDEEP, SLEEPONEXIT */
    REGISTER(0xE000ED14) = 0x10B;           /* CCR: traps and user rights, STKALIGN 0 */
    REGISTER(0xE000ED18) = 0x00F0F0F0;      /* faults less urgent than everything */
    REGISTER(0xE000ED1C) = 0xF0000000;
    REGISTER(0xE000ED20) = 0x00F000F0;
    REGISTER(0xE000ED24) = 0;          /* SHCSR: no fault handlers */
    REGISTER(0xE000ED88) = 0x00F00000; /* CPACR */
    REGISTER(0xE000EF34) = 0xC0000001; /* FPCCR: lazy, LSPACT */
    REGISTER(0xE000EF3C) = 0x07C00000; /* FPDSCR */
    REGISTER(0xE000EDFC) = 0x01010000; /* DEMCR: TRCENA, MON_EN */
}

static void leave_interrupts(void)
{
    REGISTER(0xE000E014) = 100; /* SysTick at full speed */
    REGISTER(0xE000E018) = 0;
    REGISTER(0xE000E010) = 7;
    for (uint32_t i = 0; i < 3; i++) {
        REGISTER(0xE000E100 + 4 * i) = 0xFFFFFFFF; /* every line enabled and pending */
        REGISTER(0xE000E200 + 4 * i) = 0xFFFFFFFF;
    }
    REGISTER(0xE000ED04) = 0x14000000; /* PendSV, SysTick */
}

/* RAM read-only even for privileged code; the rest by the default map. */
static void leave_protection(void)
{
    REGISTER(0xE000ED9C) = 0x20000010;
    REGISTER(0xE000EDA0) = 0x15060023; /* XN, privileged read, 256 KB */
    for (uint32_t i = 1; i < 8; i++) {
        REGISTER(0xE000ED9C) = 0x08000010 | i;
        REGISTER(0xE000EDA0) = 0x03020027; /* flash, everybody */
    }
    REGISTER(0xE000ED94) = PREBOOT_HFNMIENA ? 7 : 5;
    __asm volatile("dsb\n\tisb");
}

void preboot(void)
{
    __asm volatile("cpsid i");
    leave_registers();
    __asm volatile("vmov.f32 s0, #1.0\n\tvmov.f32 s31, #1.0"); /* FPCA */
    leave_interrupts();
    __asm volatile("msr psp, %0\n\t"
                   "mov r0, #2\n\t"
                   "msr control, r0\n\t" /* on PSP */
                   "isb\n\t"
                   "mov r0, #0x40\n\t"
                   "msr basepri, r0\n\t"
                   "msr msp, %1" ::"r"(PREBOOT_RAM + 0x300),
                   "r"(PREBOOT_RAM)
                   : "r0", "memory");
#if PREBOOT_FAULTMASK
    __asm volatile("cpsid f");
#endif
    leave_protection();
    __asm volatile("bx %0" ::"r"(PREBOOT_NEXT));
}
