/* Other marks than those of the same name, which are in counted_marks.h here: on a chip a mark
 * reads the cycle counter. A mark that starts something reads it last, one that stops something
 * reads it first; what marks cost is measured when the program starts, and subtracted. */
#ifndef HARDWARE_MARKS_H
#define HARDWARE_MARKS_H

#include "counted_marks.h"

enum hw_operation {
    HW_CTX,
    HW_CTX_FP,
    HW_CTX_P,
    HW_NTF,
    HW_SEM,
    HW_MSG,
    HW_NTF_I,
    HW_SEM_I,
    HW_MSG_I,
    HW_NTF_T,
    HW_SEM_T,
    HW_MSG_T,
    HW_HANDLER,
    HW_MASK,
    HW_CALL_KERNEL,
    HW_CALL_HYPERVISOR,
    HW_OPERATIONS
};

extern const char hw_side[];

void hw_init(void); /* the chip, on bare metal; the counter */
void hw_calibrate(void);
void hw_start(void);                      /* an operation begins */
void hw_stop(enum hw_operation which);    /* it ends */
void hw_trigger(void);                    /* an interrupt is about to be triggered */
void hw_arrived(enum hw_operation which); /* this long since the trigger */
void hw_received(enum hw_operation since_start, enum hw_operation since_trigger);
void hw_report(void); /* the table, over USART1 */

#undef MARK
#define MARK(name) HW_MARK_##name
#define HW_MARK_ctx_start hw_start()
#define HW_MARK_ctx_stop hw_stop(HW_CTX)
#define HW_MARK_ctx_fp_start hw_start()
#define HW_MARK_ctx_fp_stop hw_stop(HW_CTX_FP)
#define HW_MARK_ctx_p_start hw_start()
#define HW_MARK_ctx_p_stop hw_stop(HW_CTX_P)
#define HW_MARK_ntf_start hw_start()
#define HW_MARK_ntf_stop hw_stop(HW_NTF)
#define HW_MARK_sem_start hw_start()
#define HW_MARK_sem_stop hw_stop(HW_SEM)
#define HW_MARK_msg_start hw_start()
#define HW_MARK_msg_stop hw_stop(HW_MSG)
#define HW_MARK_ntf_i_start hw_start()
#define HW_MARK_ntf_i_stop hw_received(HW_NTF_I, HW_NTF_T)
#define HW_MARK_sem_i_start hw_start()
#define HW_MARK_sem_i_stop hw_received(HW_SEM_I, HW_SEM_T)
#define HW_MARK_msg_i_start hw_start()
#define HW_MARK_msg_i_stop hw_received(HW_MSG_I, HW_MSG_T)
#define HW_MARK_handler hw_arrived(HW_HANDLER)
#define HW_MARK_tick_stop ((void)0)
#define HW_MARK_mask_start hw_start()
#define HW_MARK_mask_stop hw_stop(HW_MASK)
#define HW_MARK_call_kernel_start hw_start()
#define HW_MARK_call_kernel_stop hw_stop(HW_CALL_KERNEL)
#define HW_MARK_call_hypervisor_start hw_start()
#define HW_MARK_call_hypervisor_stop hw_stop(HW_CALL_HYPERVISOR)

/* board.h comes first: the functions are there already. */
#define board_init() (hw_init(), board_init())
#define board_trigger() (hw_trigger(), board_trigger())

#undef ROUNDS
#define ROUNDS(name) const volatile unsigned rounds_##name = HW_ROUNDS

#endif
