"""The scanner's tables of instructions against LLVM's, which others wrote from other sources."""
