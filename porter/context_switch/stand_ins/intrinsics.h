/* In place of the header of IAR's compiler for Arm, where a project's own folders have none: the
 * functions that its guide documents and that neither the compiler here nor CMSIS has. Each is the
 * instruction it stands for, so that a handler's instructions are read, not its calls. */
#ifndef FVM_STAND_IN_INTRINSICS_H
#define FVM_STAND_IN_INTRINSICS_H

typedef unsigned int __istate_t; /* PRIMASK */

#define FVM_INTRINSIC __attribute__((always_inline)) static inline

FVM_INTRINSIC void __disable_interrupt(void) { __asm volatile("cpsid i" ::: "memory"); }

FVM_INTRINSIC void __enable_interrupt(void) { __asm volatile("cpsie i" ::: "memory"); }

FVM_INTRINSIC __istate_t __get_interrupt_state(void)
{
    __istate_t state;
    __asm volatile("mrs %0, primask" : "=r"(state));
    return state;
}

FVM_INTRINSIC void __set_interrupt_state(__istate_t state)
{
    __asm volatile("msr primask, %0" ::"r"(state) : "memory");
}

FVM_INTRINSIC void __no_operation(void) { __asm volatile("nop"); }

#undef FVM_INTRINSIC

#endif
