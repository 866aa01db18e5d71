#ifndef COMMON_EXIT_H
#define COMMON_EXIT_H

#define FRAME 132
#ifndef __ASSEMBLY__
#include <stdint.h>

uint32_t *dispatch(uint32_t cause, uint32_t *registers);
void resume_context(uint32_t *registers);
void start_first(uint32_t **task);
#endif

#endif
