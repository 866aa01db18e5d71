/* fvm_call on ARMv7-M: number in r12, arguments and results in r0-r3. */
#include <fvm/native.h>

struct fvm_result fvm_call(uint32_t number, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3)
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
