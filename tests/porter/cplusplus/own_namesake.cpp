struct Core {
    static void __WFI() { asm volatile("wfi"); }
};
void f()
{
    Core::__WFI();
    ::__WFI();
}
