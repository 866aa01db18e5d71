/* The old core's AIRCR (ARMv7-M ARM, B3.2.6) for code that asks how its priorities are grouped: a
 * machine has no groups, and keeps what was written. */
#include <fvm/guest.h>

#define KEY 0x05FAu
#define KEY_READ 0xFA050000u
#define GROUPING 0x700u

static uint32_t grouping;

void virt_aircr_set(uint32_t value)
{
    if (value >> 16 == KEY) {
        grouping = value & GROUPING;
    }
}

uint32_t virt_aircr(void) { return KEY_READ | grouping; }
