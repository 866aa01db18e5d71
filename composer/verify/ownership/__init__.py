"""Whose value is in a register: followed from every entry of the kernel to the exception return.

Beside the numbers that `composer.verify.code` follows go notes: of each register and of the words
that matter, not how large they are but where they come from. The interrupted thread's own ones are
told from those that were loaded from a context, and from all others.
"""
