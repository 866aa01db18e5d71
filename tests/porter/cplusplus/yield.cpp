#include "chip.h"
#define ICSR (*reinterpret_cast<volatile uint32_t *>(0xE000ED04))
struct Scheduler {
    static void yield() noexcept
    {
        ICSR = 1u << 28;
        asm volatile("dsb\nisb" ::: "memory");
    }
};
