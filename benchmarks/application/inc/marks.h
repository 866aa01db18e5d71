/* Places in the code that the counting plugin knows by name. A mark is a label: it costs nothing,
 * on a chip or in a virtual machine. The number makes each copy that the compiler makes a label of
 * its own. */
#ifndef BENCH_MARKS_H
#define BENCH_MARKS_H

#define MARK(name) __asm volatile("mark_" #name ".%=:" ::: "memory")

/* Before a mark: no register holds anything of the loop around it, as in a program that did
 * something else before. r7 may be the frame pointer. */
#define FORGET()                                                                                   \
    __asm volatile("" ::: "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12")

/* How often an operation is repeated; the program that runs the image stores the number there. */
#define ROUNDS(name) const volatile unsigned rounds_##name = 100

/* A function with marks in it stands alone, so that nothing of its caller is in between. */
#define MARKED __attribute__((noinline, noclone))

#endif
