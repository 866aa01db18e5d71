/* Two data flows on one line, told apart before the VM is woken.
 *
 * The sensor node's port is now on a bus. Lines that begin with `#` are what other nodes say to
 * each other: they are dropped and cost the VM nothing, however many there are. Lines that begin
 * with `echo` are tests of the line, which can wait: they are kept until a command comes that
 * can't. Of a command the VM is woken at its end.
 */
#include <stdbool.h>

#include <fvm/split.h>

#include "usart2_record.h"

enum flow { BETWEEN_LINES, OTHER_NODES, CAN_WAIT, COMMAND };

static enum flow flow_of(char first)
{
    switch (first) {
    case '\r':
    case '\n':
        return BETWEEN_LINES;
    case '#':
        return OTHER_NODES;
    case 'e':
        return CAN_WAIT;
    default:
        return COMMAND;
    }
}

enum fvm_verdict bus_policy(const struct usart2_record *record)
{
    static enum flow flow;
    char c = (char)record->DR;
    bool ends = c == '\r' || c == '\n';
    enum flow now = flow == BETWEEN_LINES ? flow_of(c) : flow;

    flow = ends ? BETWEEN_LINES : now;
    switch (now) {
    case OTHER_NODES:
        return FVM_DROP;
    case COMMAND:
        return ends ? FVM_POST : FVM_POSTPONE;
    default:
        return FVM_POSTPONE;
    }
}
