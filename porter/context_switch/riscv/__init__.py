"""RV32: trap handlers, first-task starts and the plain functions around them.

The road is that of Cortex-M, with decoding, roles and lifting of its own: `decode` -> `lift` (into
the same small language, `ir`), with the control and status registers in `csr` and the names that
relocations give in `places`; `roles` says what a function is. `machine` is RV32 as data, `code`
what the rest of the transcriber asks of its instructions.
"""
