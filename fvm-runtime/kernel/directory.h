/* Where the tables of a finished image are, right behind the vectors: for those who read the image
 * without symbols (fvmkit verify). The kernel itself never reads it. A change of this layout or of
 * kernel/tables.h is a new version. */
#ifndef FVM_KERNEL_DIRECTORY_H
#define FVM_KERNEL_DIRECTORY_H

#include <stdint.h>

#include "kernel/tables.h"

#define FVM_DIRECTORY_MAGIC 0x544D5646u /* "FVMT" */
#define FVM_DIRECTORY_VERSION 4u

/* Order of fvm_directory.table. */
enum fvm_directory_table {
    FVM_TABLE_DOMAIN,
    FVM_TABLE_THREAD,
    FVM_TABLE_VCPU,
    FVM_TABLE_ROUTE,
    FVM_TABLE_EVENT,
    FVM_TABLE_TIMER,
    FVM_TABLE_BOOT,
    FVM_TABLE_PIN,
    FVM_TABLES,
};

struct fvm_directory {
    uint32_t magic, version;
    uint8_t description[32]; /* SHA-256 of the description's file */
    struct {
        const void *first;
        uint16_t count, size; /* elements in use, bytes of one */
    } table[FVM_TABLES];
};

#endif
