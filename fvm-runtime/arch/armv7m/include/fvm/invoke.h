/* Invocation on ARMv7-M, without a function around the trap: it is a call, and made as often. */
#ifndef FVM_INVOKE_H
#define FVM_INVOKE_H

#include <stdint.h>

#include <fvm/hypercall.h>

/* Runs the function of a port with three arguments; *result: what it returned, anything after an
 * error. FVM_E_BUSY: somebody is inside, or it is closed. FVM_E_FAULT: its process restarts. */
static inline int32_t fvm_invoke(uint32_t cap, uint32_t a, uint32_t b, uint32_t c, uint32_t *result)
{
    register uint32_t r0 __asm("r0") = cap;
    register uint32_t r1 __asm("r1") = a;
    register uint32_t r2 __asm("r2") = b;
    register uint32_t r3 __asm("r3") = c;
    register uint32_t r12 __asm("r12") = FVM_CALL_INVOKE;
    __asm volatile("svc %5"
                   : "+r"(r0), "+r"(r1)
                   : "r"(r2), "r"(r3), "r"(r12), "i"(FVM_SVC)
                   : "memory");
    *result = r1;
    return (int32_t)r0;
}

/* Defines where a port starts: it calls the function, whose result the caller gets. */
#define FVM_PORT_ENTRY(name, function)                                                             \
    static __attribute__((naked, noreturn)) void name(void)                                        \
    {                                                                                              \
        __asm volatile("bl " #function "\n\t"                                                      \
                       "mov r12, %0\n\t"                                                           \
                       "svc %1" ::"i"(FVM_CALL_INVOKE_RETURN),                                     \
                       "i"(FVM_SVC));                                                              \
    }

#endif
