/* System calls on ARMv7-M, made where they are needed: number in r12, up to four arguments in
 * r0-r3, the result in r0; some have more, in r1-r3. The kernel changes no other register. */
#ifndef FVM_TRAP_H
#define FVM_TRAP_H

#include <stdint.h>

#include <fvm/hypercall.h>

static inline int fvm_trap0(uint32_t number)
{
    register uint32_t r0 __asm("r0");
    register uint32_t r12 __asm("r12") = number;
    __asm volatile("svc %2" : "=r"(r0) : "r"(r12), "i"(FVM_SVC) : "memory");
    return (int)r0;
}

static inline int fvm_trap1(uint32_t number, uint32_t a0)
{
    register uint32_t r0 __asm("r0") = a0;
    register uint32_t r12 __asm("r12") = number;
    __asm volatile("svc %2" : "+r"(r0) : "r"(r12), "i"(FVM_SVC) : "memory");
    return (int)r0;
}

static inline int fvm_trap2(uint32_t number, uint32_t a0, uint32_t a1)
{
    register uint32_t r0 __asm("r0") = a0;
    register uint32_t r1 __asm("r1") = a1;
    register uint32_t r12 __asm("r12") = number;
    __asm volatile("svc %3" : "+r"(r0) : "r"(r1), "r"(r12), "i"(FVM_SVC) : "memory");
    return (int)r0;
}

static inline int fvm_trap3(uint32_t number, uint32_t a0, uint32_t a1, uint32_t a2)
{
    register uint32_t r0 __asm("r0") = a0;
    register uint32_t r1 __asm("r1") = a1;
    register uint32_t r2 __asm("r2") = a2;
    register uint32_t r12 __asm("r12") = number;
    __asm volatile("svc %4" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r12), "i"(FVM_SVC) : "memory");
    return (int)r0;
}

struct fvm_result {
    int32_t r0;
    uint32_t r1, r2, r3;
};

/* Any call by number, with all its results; see hypercall.h. */
static inline struct fvm_result fvm_call(uint32_t number, uint32_t a0, uint32_t a1, uint32_t a2,
                                         uint32_t a3)
{
    register uint32_t r0 __asm("r0") = a0;
    register uint32_t r1 __asm("r1") = a1;
    register uint32_t r2 __asm("r2") = a2;
    register uint32_t r3 __asm("r3") = a3;
    register uint32_t r12 __asm("r12") = number;
    __asm volatile("svc %5"
                   : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)
                   : "r"(r12), "i"(FVM_SVC)
                   : "memory");
    return (struct fvm_result){(int32_t)r0, r1, r2, r3};
}

#endif
