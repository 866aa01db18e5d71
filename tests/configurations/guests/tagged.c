/* Tags by chance, and what is compared. */
#include "tagged.h"

#include <fvm/hypercall.h>

#include "kept.h"

#define REGISTERS 0x7FFFu /* r0-r12, lr, APSR */
#define FPSCR_BITS 0xF7C0009Fu
#ifdef __ARM_FEATURE_SIMD32
#define APSR_BITS 0xF80F0000u
#else
#define APSR_BITS 0xF8000000u
#endif

void way_spin(struct tags *tags);
void way_call(struct tags *tags);
void way_resume(struct tags *tags);

static void choose_tags(struct tagged *mine)
{
    for (uint32_t i = 0; i < TAGS; i++) {
        mine->tags.in[i] = chance(0);
    }
    mine->tags.in[TAG_APSR] &= APSR_BITS;
    mine->tags.in[TAG_FPSCR] &= FPSCR_BITS;
    mine->tags.fpu = mine->fpu;
}

static void compare(const struct tags *tags, uint32_t after, uint32_t kept)
{
    for (uint32_t i = 0; i < TAGS; i++) {
        bool of_core = i <= TAG_APSR;
        if (of_core ? (kept >> i & 1u) == 0 : tags->fpu == 0) {
            continue;
        }
        uint32_t mask = i == TAG_APSR ? APSR_BITS : 0xFFFFFFFFu;
        if ((tags->in[i] ^ tags->out[i]) & mask) {
            if (end[KEPT_WRONG]++ == 0) {
                end[KEPT_AFTER] = after;
                end[KEPT_INDEX] = i;
                end[KEPT_WAS] = tags->in[i];
                end[KEPT_IS] = tags->out[i];
            }
        }
    }
}

void tagged_spin(struct tagged *mine)
{
    choose_tags(mine);
    way_spin(&mine->tags);
    compare(&mine->tags, FVM_NONE, REGISTERS);
    end[KEPT_SPINS]++;
}

int32_t tagged_call(struct tagged *mine, uint32_t number, const uint32_t argument[4], uint32_t kept)
{
    choose_tags(mine);
    for (uint32_t i = 0; i < 4u; i++) {
        mine->tags.in[i] = argument[i];
    }
    mine->tags.in[12] = number;
    way_call(&mine->tags);
    compare(&mine->tags, number, (REGISTERS & ~0xFu) | kept);
    end[KEPT_CALLS]++;
    return (int32_t)mine->tags.out[0];
}

#ifdef TEST_VM
/* After it no FPU state is live. */
void tagged_resume(struct tagged *mine)
{
    bool fpu = mine->fpu;
    mine->fpu = false;
    choose_tags(mine);
    way_resume(&mine->tags);
    compare(&mine->tags, FVM_CALL_RESUME, REGISTERS);
    mine->fpu = fpu;
    end[KEPT_CALLS]++;
}
#endif
