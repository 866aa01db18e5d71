/* Where the policy tables of a finished image are, right behind the hypervisor's header: for those
 * who read the image without symbols (fvmkit verify). The hypervisor itself never reads it. A
 * change of this layout or of the tables in hypervisor/policy.h is a new version. */
#ifndef HYP_DIRECTORY_H
#define HYP_DIRECTORY_H

#include "hypervisor/policy.h"

#define HYP_DIRECTORY_MAGIC 0x484D5646u /* "FVMH" */
#define HYP_DIRECTORY_VERSION 1u

/* Order of hyp_directory.table; a table without elements is all 0. */
enum hyp_directory_table {
    HYP_TABLE_DOMAIN,
    HYP_TABLE_VCPU,
    HYP_TABLE_ROUTE,
    HYP_TABLE_EVENT,
    HYP_TABLES,
};

struct hyp_directory {
    uint32_t magic, version;
    struct {
        const void *first;
        uint16_t count, size; /* elements, bytes of one */
    } table[HYP_TABLES];
};

#endif
