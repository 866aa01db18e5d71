/* The copies with bounds that LiteOS-M asks of a library. */
#ifndef SECUREC_H
#define SECUREC_H

#include <stddef.h>
#include <string.h>

typedef int errno_t;
enum { EOK = 0, OUT_OF_BOUNDS = 34 };

static inline errno_t memset_s(void *to, size_t room, int value, size_t count)
{
    if (count > room) {
        return OUT_OF_BOUNDS;
    }
    memset(to, value, count);
    return EOK;
}

static inline errno_t memcpy_s(void *to, size_t room, const void *from, size_t count)
{
    if (count > room) {
        return OUT_OF_BOUNDS;
    }
    memcpy(to, from, count);
    return EOK;
}

static inline errno_t strncpy_s(char *to, size_t room, const char *from, size_t count)
{
    size_t length = strnlen(from, count);
    if (length >= room) {
        return OUT_OF_BOUNDS;
    }
    memcpy(to, from, length);
    to[length] = '\0';
    return EOK;
}

#endif
