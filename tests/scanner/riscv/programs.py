"""C that pulls much of picolibc in."""

LIBRARIES = r"""
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
volatile int sink;
int choose(int n)
{
    switch (n) {
    case 0: return sink;
    case 1: sink = 4; return 2;
    case 2: return 99;
    case 3: sink = n; return 7;
    case 4: __asm volatile("ebreak"); return sink * 3;
    case 5: __asm volatile(".option arch, +zicsr\n csrci 0x800, 8"); return 11;
    case 6: return 100;
    case 9: return 4711;
    default: return -1;
    }
}
int main(int argc, char **argv)
{
    char text[64];
    double x = strtod(argv[1], 0);
    snprintf(text, sizeof text, "%g %Lf %lld", pow(sin(x), atan2(x, 2)), (long double)x, 1ll);
    sscanf(text, "%lf", &x);
    __asm volatile(".option arch, +zicsr\n csrrci a0, mstatus, 8\n csrs mstatus, a0" ::: "a0");
    qsort(text, 8, 1, (int (*)(const void *, const void *))strcmp);
    __asm volatile(".option arch, +zicsr, +zifencei\n csrrw a0, 0x804, a0\n wfi\n fence.i"
                   ::: "a0");
    x = lgamma(x) + expm1(x) + erf(x);
    return (int)x + (int)mktime(localtime(&(time_t){0})) + choose(argc);
}
void _start(void)
{
    main(0, 0);
    __asm volatile(".option arch, +zicsr\n csrw mtvec, a0\n mret");
}
void _exit(int n) { sink = n; for (;;) ; }
int getpid(void) { return 1; }
int kill(int process, int signal) { return sink = process + signal; }
"""
