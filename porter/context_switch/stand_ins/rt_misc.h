/* In place of the header of Arm's compiler 5, where a project's own folders have none: what a
 * project gives its library, or calls in it. Nothing of it is about a context switch. */
#ifndef FVM_STAND_IN_RT_MISC_H
#define FVM_STAND_IN_RT_MISC_H

struct __initial_stackheap {
    unsigned heap_base, stack_base, heap_limit, stack_limit;
};

struct __argc_argv {
    int argc;
    char **argv;
};

struct __initial_stackheap __user_initial_stackheap(unsigned R0, unsigned SP, unsigned R2,
                                                    unsigned SL);
unsigned __rt_heap_extend(unsigned size, void **block);
void __rt_exit(int code);
void __rt_lib_init(unsigned heap_base, unsigned heap_limit);
void __rt_lib_shutdown(void);

#endif
