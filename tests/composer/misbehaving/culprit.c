/* Reads a letter from USART1 and commits the crime of that letter. The functions are kept apart so
 * that the log can name them. */
#include <fvm/guest.h>

struct usart {
    volatile uint32_t sr, dr, brr, cr1;
};

#define USART ((struct usart *)0x40011000)
#define SR_RXNE (1u << 5)
#define CR1_UE_TE_RE ((1u << 13) | (1u << 3) | (1u << 2))
#define FOREIGN 0x20000000u /* the kernel's RAM */
#define SYSTEM 0xE000ED00u

#define APART __attribute__((noinline, noclone)) static

APART void write_cmd(void) { *(volatile uint32_t *)FOREIGN = 1; }

APART uint32_t read_cmd(void) { return *(volatile uint32_t *)SYSTEM; }

APART void jump_cmd(void)
{
    ((void (*)(void))(FOREIGN + 1u))();
    __asm__ volatile("");
}

APART void stack_cmd(int depth)
{
    volatile char block[64];
    block[0] = 1;
    stack_cmd(depth + 1);
    block[1] = block[0];
}

APART void reset_cmd(void) { hyp_reboot(); }

APART void hang_cmd(void)
{
    hyp_wdg_clr();
    virt_int_mask(VIRT_PRIMASK);
    for (;;) {
    }
}

APART void undefined_cmd(void) { __asm__ volatile("udf #0"); }

APART void fpu_cmd(void) { __asm__ volatile(".inst.w 0xee000a10"); /* vmov s0, r0 */ }

int main(void)
{
    USART->cr1 = CR1_UE_TE_RE;
    USART->dr = '>';
    for (;;) {
        while ((USART->sr & SR_RXNE) == 0) {
        }
        switch (USART->dr) {
        case 'w':
            write_cmd();
            break;
        case 'r':
            (void)read_cmd();
            break;
        case 'j':
            jump_cmd();
            break;
        case 's':
            stack_cmd(0);
            break;
        case 'x':
            reset_cmd();
            break;
        case 'h':
            hang_cmd();
            break;
        case 'u':
            undefined_cmd();
            break;
        case 'f':
            fpu_cmd();
            break;
        default:
            break;
        }
    }
}
