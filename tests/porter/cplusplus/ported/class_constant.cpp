#include "chip.h"
struct Scb {
    static constexpr uint32_t kBase = 0xE000ED00;
    static void table(uint32_t at) { (void)at; }
};
