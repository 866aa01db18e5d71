/* ctx: taskYIELD between two tasks that both yield. ctx_fp: the same, both with live FPU state. */
#include "operations.h"

ROUNDS(ctx);
ROUNDS(ctx_fp);

static volatile unsigned left; /* yields, of both tasks together */

static MARKED void yielding(void *unused)
{
    (void)unused;
    while (left != 0) {
        left--;
        FORGET();
        MARK(ctx_start);
        taskYIELD();
        MARK(ctx_stop);
    }
    finish();
}

#ifdef __ARM_FP
static volatile float sum;

static MARKED void yielding_fp(void *unused)
{
    (void)unused;
    while (left != 0) {
        left--;
        sum += 1.5f;
        FORGET();
        MARK(ctx_fp_start);
        taskYIELD();
        MARK(ctx_fp_stop);
    }
    finish();
}
#endif

void run_cooperative(void)
{
    left = rounds_ctx;
    run_tasks(yielding, LOW, yielding, LOW);
#ifdef __ARM_FP
    left = rounds_ctx_fp;
    run_tasks(yielding_fp, LOW, yielding_fp, LOW);
#endif
}
