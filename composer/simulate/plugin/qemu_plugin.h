/* The part of QEMU's plugin interface, version 1, that trace.c uses. Debian ships QEMU without its
 * header, so these are our own declarations of what docs/devel/tcg-plugins describes. */
#ifndef FVM_QEMU_PLUGIN_H
#define FVM_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_API 1
#define EXPORTED __attribute__((visibility("default")))

struct qemu_plugin_tb;   /* a block of guest instructions that is being translated */
struct qemu_plugin_insn; /* one of them */

typedef uint64_t qemu_plugin_id;
typedef void on_translate(qemu_plugin_id id, struct qemu_plugin_tb *block);
typedef void on_execute(unsigned int cpu, void *data);
typedef void on_access(unsigned int cpu, uint32_t access, uint64_t address, void *data);

enum { PLUGIN_NO_REGISTERS = 0 }; /* what a callback may touch */
enum { PLUGIN_ADD = 0 };          /* the one inline operation: add to a 64-bit word */
enum { PLUGIN_ACCESSES = 3 };     /* reads and writes; with reads alone QEMU 7.2 reports none */

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id id, on_translate *call);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, on_execute *call, int flags,
                                          void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction, on_execute *call,
                                            int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, int operation,
                                                void *word, uint64_t operand);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, on_access *call,
                                      int flags, int accesses, void *data);

bool qemu_plugin_mem_is_store(uint32_t access);
unsigned int qemu_plugin_mem_size_shift(uint32_t access); /* log2 of the bytes */
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);

/* What QEMU looks for in a plugin. */
extern EXPORTED int qemu_plugin_version;
EXPORTED int qemu_plugin_install(qemu_plugin_id id, const void *info, int count, char **arguments);

#endif
