/* Heap of the C library: from the end of .bss up to the stack. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

void *_sbrk(ptrdiff_t incr);

void *_sbrk(ptrdiff_t incr)
{
    extern uint8_t _end;
    extern uint8_t _estack;
    extern uint32_t _Min_Stack_Size;
    static uint8_t *heap_end = NULL;
    const uint8_t *max_heap = (const uint8_t *)((uint32_t)&_estack - (uint32_t)&_Min_Stack_Size);
    uint8_t *prev_heap_end;

    if (heap_end == NULL) {
        heap_end = &_end;
    }
    if (heap_end + incr > max_heap) {
        errno = ENOMEM;
        return (void *)-1;
    }
    prev_heap_end = heap_end;
    heap_end += incr;
    return prev_heap_end;
}
