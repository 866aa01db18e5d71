/* Supervisor calls with a number. An SVC instruction carries it, and a handler finds it two bytes
 * in front of where the caller goes on. Here the instruction is data, which nothing executes.
 */
#include <string.h>

#include <fvm/guest.h>

#define SVC_OPCODE 0xDF00u
#define FRAME_WORDS 8 /* r0-r3, r12, lr, pc, xPSR */
#define FRAME_PC 6

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
