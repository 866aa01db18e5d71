/* Commits one access a start, from a table that the test writes into the image: what is allowed is
 * reported, what isn't ends in a fault record and the next start goes on with the next access. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "plan.h"
#include "report.h"

enum kind { END, READ, WRITE, CALL };

/* plan: of each access kind and address. */
static void commit(enum kind kind, uint32_t address)
{
    switch (kind) {
    case READ:
        (void)*(volatile uint32_t *)address;
        break;
    case WRITE:
        *(volatile uint32_t *)address = 0x5EC2E700u;
        break;
    default:
        ((void (*)(void))(address | 1u))();
        break;
    }
}

/* The log writes one record in about twelve kernel ticks and keeps eight. */
static void let_the_log_pass(void)
{
    uint32_t start = virt_cycles();
    while (virt_cycles() - start < 15u * (FVM_CLOCK_HZ / 1000u)) {
    }
}

int main(void)
{
    report_init();
    let_the_log_pass();
    uint32_t step = boots() - 1;
    for (; plan[2 * step] != END; step++) {
        commit((enum kind)plan[2 * step], plan[2 * step + 1]);
        report("allowed", (int32_t)step);
        (void)boots();
    }
    report("steps", (int32_t)step);
}
