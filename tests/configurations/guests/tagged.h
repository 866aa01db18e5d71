/* Code that runs with a tag in every register, and calls that are made so. */
#ifndef TEST_TAGGED_H
#define TEST_TAGGED_H

#define TAG_LR 13
#define TAG_APSR 14
#define TAG_FPSCR 15
#define TAG_FPU 16 /* S0 */
#define TAGS 48

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

struct tags {
    uint32_t in[TAGS], out[TAGS]; /* r0-r12, lr, APSR, FPSCR, S0-S31 */
    uint32_t fpu;                 /* 1: the last 33, too */
};

/* One thread's: nobody else touches them. */
struct tagged {
    struct tags tags;
    bool fpu; /* it uses the FPU from now on */
};

/* Nothing happens, and nothing may change. */
void tagged_spin(struct tagged *mine);
/* A call; `kept`: bit n is 1 if the call leaves r(n) as it was. Returns r0. */
int32_t tagged_call(struct tagged *mine, uint32_t number, const uint32_t argument[4],
                    uint32_t kept);
/* A VM's RESUME of a frame with all tags. */
void tagged_resume(struct tagged *mine);
#endif

#endif
