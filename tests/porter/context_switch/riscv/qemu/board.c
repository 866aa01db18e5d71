/* QEMU's machine `virt`: a serial line, and a device that ends the run. */
void said(const char *text);
_Noreturn void ends(unsigned failed);

void said(const char *text)
{
    while (*text != 0) {
        *(volatile unsigned char *)0x10000000 = (unsigned char)*text++;
    }
}

void ends(unsigned failed)
{
    *(volatile unsigned *)0x100000 = failed != 0 ? failed << 16 | 0x3333u : 0x5555u;
    for (;;) {
    }
}
