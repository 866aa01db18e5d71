"""Commands for GDB that know the kernel's objects. GDB's own language: not every GDB has Python."""

from __future__ import annotations

COMMANDS = """\
# Defines fvm-view, fvm-current and fvm-threads. The other scripts in this folder read this one.

define fvm-view
  maintenance packet Qqemu.PhyMemMode:1
end
document fvm-view
See all memory. QEMU shows a debugger only what the running domain may touch, until it is told so.
Connecting with `target remote` does it. On hardware it changes nothing: a probe sees everything.
end
define target hookpost-remote
  fvm-view
end
define target hookpost-extended-remote
  fvm-view
end

define fvm-describe
  set $fvm_thread = (struct thread *)$arg0
  printf "%-24s thread %d: ", $fvm_thread->domain->name, $fvm_thread->slot
  if $fvm_thread == cpu.current
    printf "running\\n"
  else
    if $fvm_thread->state == THREAD_STOPPED
      printf "stopped\\n"
    else
      if $fvm_thread->state == THREAD_READY
        printf "ready, goes on at\\n"
      else
        printf "waits, goes on at\\n"
      end
      set $fvm_frame = (unsigned int *)$fvm_thread->context->Reg.SP
      set $fvm_offset = (unsigned int)$fvm_frame - $fvm_thread->domain->ram_base
      if $fvm_offset <= $fvm_thread->domain->ram_size - 32
        printf "    pc 0x%08x ", $fvm_frame[6]
        info symbol $fvm_frame[6]
        set $fvm_offset = $fvm_frame[5] - $fvm_thread->domain->flash_base
        if $fvm_offset < $fvm_thread->domain->flash_size
          printf "    lr 0x%08x ", $fvm_frame[5]
          info symbol $fvm_frame[5] & ~1
        end
      else
        printf "    (its stack pointer 0x%08x is not in its memory)\\n", $fvm_frame
      end
    end
  end
end

define fvm-current
  if cpu.current == 0
    printf "none: the kernel has not started\\n"
  else
    printf "%s, thread %d\\n", cpu.current->domain->name, cpu.current->slot
  end
end
document fvm-current
Whose thread runs, or is the one that the kernel interrupted. Threads of a VM: 0 is VCT, 1 is USR.
end

define fvm-threads
  set $fvm_index = 0
  while $fvm_index < sizeof(thread_table) / sizeof(thread_table[0])
    if thread_table[$fvm_index].domain != 0
      fvm-describe &thread_table[$fvm_index]
    end
    set $fvm_index = $fvm_index + 1
  end
end
document fvm-threads
All threads of the system; of those that do not run, where they go on and who called that.
end
"""
