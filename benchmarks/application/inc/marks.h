/* Places in the code that the counting plugin knows by name. A mark is a label: it costs nothing,
 * on a chip or in a virtual machine. The number makes each copy that the compiler makes a label of
 * its own. */
#ifndef BENCH_MARKS_H
#define BENCH_MARKS_H

#define MARK(name) __asm volatile("mark_" #name ".%=:" ::: "memory")

/* How often an operation is repeated; the program that runs the image stores the number there. */
#define ROUNDS(name) const volatile unsigned rounds_##name = 100

/* A function with marks in it stands alone, so that nothing of its caller is in between. */
#define MARKED __attribute__((noinline, noclone))

#endif
