/* Independent watchdog: LSI 32 kHz / 32 = 1 kHz, 500 counts = 500 ms. */
#include "iwdg.h"

#include "stm32f405xx.h"

#define IWDG_KEY_ENABLE 0xCCCCUL
#define IWDG_KEY_RELOAD 0xAAAAUL
#define IWDG_KEY_WRITE 0x5555UL
#define IWDG_PRESCALER_32 3UL
#define IWDG_RELOAD (500UL - 1UL)
#define IWDG_UPDATE_TIMEOUT 0x10000UL

void iwdg_init(void)
{
    uint32_t timeout = IWDG_UPDATE_TIMEOUT;

    IWDG->KR = IWDG_KEY_ENABLE;
    IWDG->KR = IWDG_KEY_WRITE;
    IWDG->PR = IWDG_PRESCALER_32;
    IWDG->RLR = IWDG_RELOAD;
    while (IWDG->SR != 0 && timeout != 0) {
        timeout--;
    }
    IWDG->KR = IWDG_KEY_RELOAD;
}

void iwdg_feed(void) { IWDG->KR = IWDG_KEY_RELOAD; }
