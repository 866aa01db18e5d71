/* First bytes of every domain's image: where its threads start, and the ports that it exports.
 *
 * The kernel reads it when it starts a domain, so no entry address has to be known when the
 * kernel is built. Values are the domain's own and trusted for nothing: the stack is checked
 * against the domain's memory, and the thread runs unprivileged wherever it starts.
 */
#ifndef FVM_DOMAIN_HEADER_H
#define FVM_DOMAIN_HEADER_H

#include <stdint.h>

#define FVM_DOMAIN_MAGIC 0x444D5646u /* "FVMD" */
#define FVM_DOMAIN_THREADS 4u

struct fvm_domain_entry {
    uint32_t entry; /* address of the first instruction (Arm: bit 0 set); 0: no such thread */
    uint32_t stack; /* initial SP, 8-byte aligned */
};

/* Behind it, an entry for each port that the description says the domain exports. */
struct fvm_domain_header {
    uint32_t magic;
    uint32_t version; /* 1 */
    /* VM: [0] VCT, [1] USR; process: in order of falling priority */
    struct fvm_domain_entry thread[FVM_DOMAIN_THREADS];
};

#endif
