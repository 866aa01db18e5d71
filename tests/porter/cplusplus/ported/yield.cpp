#include "chip.h"
#include <fvm/guest.h>
#define ICSR (*reinterpret_cast<volatile uint32_t *>(0xE000ED04))
struct Scheduler {
    static void yield() noexcept
    {
        virt_yield();
        asm volatile("dsb\nisb" ::: "memory");
    }
};
