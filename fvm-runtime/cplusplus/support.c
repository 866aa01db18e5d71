/* What compiled C++ calls without saying so, for parts that link no C++ library.
 *
 * All of it is weak: a project that has its own keeps it. The names are those of the Itanium ABI as
 * Arm uses it (IHI 0041). What can't go on traps, and the part is treated as its description says.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define WEAK __attribute__((weak))

enum { INITIALISED = 1, BEING_INITIALISED = 0x100 };

int __cxa_guard_acquire(uint32_t *guard);
void __cxa_guard_release(uint32_t *guard);
void __cxa_guard_abort(uint32_t *guard);
int __cxa_atexit(void (*function)(void *), void *object, void *module);
int __aeabi_atexit(void *object, void (*function)(void *), void *module);
_Noreturn void __cxa_pure_virtual(void);
_Noreturn void __cxa_deleted_virtual(void);
_Noreturn void __cxa_throw_bad_array_new_length(void);
void *new_object(size_t size) __asm__("_Znwj");
void *new_array(size_t size) __asm__("_Znaj");
void delete_object(void *object) __asm__("_ZdlPv");
void delete_array(void *object) __asm__("_ZdaPv");
void delete_sized_object(void *object, size_t size) __asm__("_ZdlPvj");
void delete_sized_array(void *object, size_t size) __asm__("_ZdaPvj");

WEAK void *__dso_handle = NULL;

/* 1: the caller initialises the static local. A second caller on the way would have to wait for the
 * first one, which nothing here can do: as without threads, it is an error. */
WEAK int __cxa_guard_acquire(uint32_t *guard)
{
    if ((*guard & INITIALISED) != 0) {
        return 0;
    }
    if ((*guard & BEING_INITIALISED) != 0) {
        __builtin_trap();
    }
    *guard |= BEING_INITIALISED;
    return 1;
}

WEAK void __cxa_guard_release(uint32_t *guard) { *guard = INITIALISED; }

WEAK void __cxa_guard_abort(uint32_t *guard) { *guard = 0; }

/* Nothing ends, so no destructor of a static object ever runs. */
WEAK int __cxa_atexit(void (*function)(void *), void *object, void *module)
{
    (void)function;
    (void)object;
    (void)module;
    return 0;
}

WEAK int __aeabi_atexit(void *object, void (*function)(void *), void *module)
{
    (void)function;
    (void)object;
    (void)module;
    return 0;
}

WEAK _Noreturn void __cxa_pure_virtual(void) { __builtin_trap(); }

WEAK _Noreturn void __cxa_deleted_virtual(void) { __builtin_trap(); }

WEAK _Noreturn void __cxa_throw_bad_array_new_length(void) { __builtin_trap(); }

/* `new` gives an object or doesn't return. */
WEAK void *new_object(size_t size)
{
    void *object = malloc(size != 0 ? size : 1);

    if (object == NULL) {
        __builtin_trap();
    }
    return object;
}

WEAK void *new_array(size_t size) { return new_object(size); }

WEAK void delete_object(void *object) { free(object); }

WEAK void delete_array(void *object) { delete_object(object); }

WEAK void delete_sized_object(void *object, size_t size)
{
    (void)size;
    delete_object(object);
}

WEAK void delete_sized_array(void *object, size_t size)
{
    (void)size;
    delete_array(object);
}
