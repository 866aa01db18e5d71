/* Supervisor calls with a number, and those with registers. An SVC instruction carries a number,
 * and a handler finds it two bytes in front of where the caller goes on. Here the instruction is
 * data, which nothing executes.
 */
#include <stddef.h>
#include <string.h>

#include <fvm/guest.h>

#include "../../../guest/call.h"

#define SVC_OPCODE 0xDF00u
#define FRAME_WORDS 8 /* r0-r3, r12, lr, pc, xPSR */
#define FRAME_R12 4
#define FRAME_PC 6
#define FRAME_XPSR 7

/* call.S knows these as numbers. */
#define FROM_SWITCH(field)                                                                         \
    ((int)offsetof(struct fvm_state, field) - (int)offsetof(struct fvm_state, task_switch))
_Static_assert(offsetof(struct fvm_state, task_switch) == 16, "fvm_state + 16");
_Static_assert(FROM_SWITCH(vct_act) == -16, "VCT_ACT");
_Static_assert(FROM_SWITCH(int_mask.byte.pri) == -14, "MASK_PRI");
_Static_assert(FROM_SWITCH(pending_group[FVM_VIRT_SVC / FVM_VECTOR_GROUP]) == 120, "PENDING_GROUP");
_Static_assert(FROM_SWITCH(pending[FVM_VIRT_SVC]) == 130, "PENDING_SVC");

#define XPSR_T (1u << 24)
#define XPSR_STACK_ALIGN (1u << 9)

/* What virt_svc_call was called with, in the order of its stm. */
struct {
    uint32_t r0, r1, r2, r3, apsr, r12;
} guest_call;

void guest_call_served(void); /* call.S */

void guest_call_frame(void)
{
    uint32_t *frame = (uint32_t *)USR_REG->Reg.SP;
    memcpy(frame, &guest_call.r0, FRAME_R12 * sizeof *frame);
    frame[FRAME_R12] = guest_call.r12;
    frame[FRAME_PC] = (uint32_t)guest_call_served & ~1u;
    frame[FRAME_XPSR] = guest_call.apsr | XPSR_T | (frame[FRAME_XPSR] & XPSR_STACK_ALIGN);
}

static uint16_t instruction[2]; /* the SVC, and what is behind it */

void virt_svc(uint32_t number)
{
    uint32_t masked = virt_int_save(VIRT_PRIMASK); /* no other task's call in between */
    instruction[0] = (uint16_t)(SVC_OPCODE | (number & 0xFFu));
    (void)virt_vct_trig(FVM_VIRT_SVC);
    virt_int_restore(VIRT_PRIMASK, masked); /* served here */
}

uint32_t *virt_svc_frame(void)
{
    static uint32_t frame[FRAME_WORDS];
    memcpy(frame, (const void *)USR_REG->Reg.SP, sizeof frame);
    frame[FRAME_PC] = (uint32_t)&instruction[1];
    return frame;
}
