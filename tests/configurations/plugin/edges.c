/* Which instruction of a range followed which: for each halfword of the range, the first different
 * addresses that were executed next. The file is mapped by both sides, so nothing is lost when QEMU
 * is killed.
 *
 * The one argument is edges=PATH: a file that begins with struct edges.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qemu_plugin.h"

EXPORTED int qemu_plugin_version = QEMU_PLUGIN_API;

#define SUCCESSORS 8u

struct edges {
    uint32_t start, end; /* of the range */
    uint32_t next[][SUCCESSORS];
};

static struct edges *edges;
static uint32_t last; /* address, or 0 outside of the range */

static void on_instruction(unsigned int cpu, void *data)
{
    (void)cpu;
    uint32_t pc = (uint32_t)(uintptr_t)data;
    if (last != 0) {
        uint32_t *next = edges->next[(last - edges->start) / 2u];
        for (uint32_t i = 0; i < SUCCESSORS && next[i] != pc; i++) {
            if (next[i] == 0) {
                next[i] = pc;
                break;
            }
        }
    }
    last = pc >= edges->start && pc < edges->end ? pc : 0;
}

/* All instructions, for what follows may be anywhere. Of what lies outside only the first
 * of a block can. */
static void on_translation(qemu_plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        uint32_t pc = (uint32_t)qemu_plugin_insn_vaddr(instruction);
        if (i == 0 || (pc >= edges->start && pc < edges->end)) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, PLUGIN_NO_REGISTERS,
                                                   (void *)(uintptr_t)pc);
        }
    }
}

int qemu_plugin_install(qemu_plugin_id id, const void *info, int count, char **arguments)
{
    (void)info;
    if (count != 1 || strncmp(arguments[0], "edges=", 6) != 0) {
        return 1;
    }
    int file = open(arguments[0] + 6, O_RDWR | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0 || (size_t)about.st_size < sizeof *edges) {
        return 1;
    }
    size_t size = (size_t)about.st_size;
    edges = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (edges == MAP_FAILED ||
        size < sizeof *edges + (edges->end - edges->start) / 2u * sizeof edges->next[0]) {
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
