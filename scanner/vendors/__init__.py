"""What vendors of RISC-V cores add: registers, their effect in user mode, memory map. Data only."""
