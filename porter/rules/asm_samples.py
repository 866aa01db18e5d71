"""What becomes of asm statements, one by one: the samples of the rule on them."""

from __future__ import annotations

from porter.rules.rule import Sample

SAMPLES = (
    Sample(
        'void f(void) { __asm volatile ( "cpsid i" ::: "memory" ); }',
        "void f(void) { virt_int_mask(VIRT_PRIMASK); }",
    ),
    Sample(
        'unsigned f(void)\n{\n    unsigned x;\n    asm volatile("\\tmrs\\t%0, primask\\n'
        '\\tcpsid  i\\n" : "=r"(x));\n    return x;\n}\n',
        "unsigned f(void)\n{\n    unsigned x;\n    x = virt_int_save(VIRT_PRIMASK);\n"
        "    return x;\n}\n",
    ),
    Sample(
        'void f(unsigned x) { asm volatile("msr basepri, %0" :: "r"(x)); }',
        "void f(unsigned x) { virt_int_restore(VIRT_BASEPRI, x); }",
    ),
    Sample(
        'void f(void)\n{\n    unsigned n;\n    asm volatile("mov %0, %1\\n cpsid i\\n'
        ' msr basepri, %0\\n isb\\n dsb\\n cpsie i\\n" : "=r"(n) : "i"(0x50));\n}\n',
        "void f(void)\n{\n    virt_int_mask(VIRT_BASEPRI);\n}\n",
    ),
    Sample(
        "unsigned f(void)\n{\n    unsigned old, new = 0x50;\n    __asm\n    {\n"
        "        mrs old, basepri\n        msr basepri, new\n        dsb\n    }\n"
        "    return old;\n}\n",
        "unsigned f(void)\n{\n    unsigned old, new = 0x50;\n"
        "    old = virt_int_save(VIRT_BASEPRI);\n    return old;\n}\n",
    ),
    Sample(
        "int f(void) { unsigned n; __asm { mrs n, ipsr } return n != 0; }",
        "int f(void) { unsigned n; n = virt_in_vct(); return n != 0; }",
    ),
    Sample(
        'int f(void) { unsigned n; asm("mrs %0, basepri" : "=r"(n)); return n >> 4; }',
        "",
        escalates=True,
    ),
    Sample(
        'void f(void) { asm volatile("sev\\n wfe\\n wfe"); }', "void f(void) { hyp_vct_wait(); }"
    ),
    Sample(
        "#define ICSR (*(volatile unsigned *)0xE000ED04)\n"
        'void f(void) { ICSR = 1u << 28; asm volatile("dsb"); asm volatile("wfe"); g(); }',
        "#define ICSR (*(volatile unsigned *)0xE000ED04)\nvoid f(void) { virt_yield(); g(); }",
    ),
    Sample('void f(void) { asm volatile("cpsie f"); g(); }', "void f(void) { g(); }"),
    Sample(
        'int f(void) { int x; asm("cpsid i\\n mrs %0, primask" : "=r"(x)); return x; }',
        "int f(void) { int x; virt_int_mask(VIRT_PRIMASK); x = 0x1U; return x; }",
    ),
    Sample(
        'void f(void) { asm("mrs r0, primask\\n cpsid i\\n msr primask, r0" ::: "r0"); }',
        "",
        escalates=True,
    ),
    Sample('void f(void) { asm volatile("msr psp, r0"); }', "", escalates=True),
    Sample(
        'void f(void) { __asm volatile ( "csrc mstatus, 8" ); }',
        "void f(void) { virt_int_mask(VIRT_PRIMASK); }",
    ),
    Sample(
        'unsigned f(void)\n{\n    unsigned x;\n    asm volatile("csrrci %0, mstatus, 8" :'
        ' "=r"(x));\n    return x;\n}\n',
        "unsigned f(void)\n{\n    unsigned x;\n    x = virt_mstatus(); "
        "virt_int_mask(VIRT_PRIMASK);\n    return x;\n}\n",
    ),
    Sample(
        'void f(unsigned x) { asm volatile("csrw mstatus, %0" :: "r"(x)); }',
        "void f(unsigned x) { virt_int_restore(VIRT_PRIMASK, ((x) & 8u) == 0); }",
    ),
    Sample(
        'void f(void) { asm volatile("csrs mie, %0" :: "r"(0x880)); g(); }',
        "void f(void) { g(); }",
    ),
    Sample('void f(void) { asm volatile("csrc mie, %0" :: "r"(0x880)); }', "", escalates=True),
    Sample('void f(void) { asm volatile("csrwi mie, 0"); }', "", escalates=True),
    Sample(
        'void t(void);\nvoid f(void) { asm volatile("csrw mtvec, %0" :: "r"(t)); }',
        "void t(void);\nvoid f(void) { virt_trap_set((uintptr_t)t); }",
    ),
    Sample(
        'extern char t[];\nvoid f(void) { asm volatile("csrw mtvec, %0" :: "r"(t + 1)); }',
        "extern char t[];\nvoid f(void) { virt_trap_set((uintptr_t)(t + 1)); }",
    ),
    Sample(
        "extern char t[];\nvoid f(void) { "
        'asm volatile("csrw mtvec, %0" :: "r"(((unsigned)t) | 3)); }',
        "",
        escalates=True,
    ),
    Sample(
        'void f(void) { asm volatile("ecall"); }',
        "void f(void) { virt_vct_trig(FVM_VIRT_SVC); }",
    ),
    Sample(
        'unsigned f(void)\n{\n    unsigned x;\n    asm volatile("csrr %0, mcycle" : "=r"(x));\n'
        "    return x;\n}",
        "unsigned f(void)\n{\n    unsigned x;\n    x = virt_cycles();\n    return x;\n}",
    ),
    Sample(
        'unsigned f(void) { unsigned x; asm volatile("rdcycle %0" : "=r"(x)); return x; }',
        "unsigned f(void) { unsigned x; x = virt_cycles(); return x; }",
    ),
    Sample('unsigned f(void) { unsigned x; asm("rdtime %0" : "=r"(x)); return x; }', "", True),
    Sample(
        'unsigned f(void) { unsigned x; asm("csrr %0, instret" : "=r"(x)); return x; }', "", True
    ),
    Sample(
        'unsigned f(void) { unsigned x; asm("csrr %0, %1" : "=r"(x) : "i"(768)); return x; }',
        "",
        True,
    ),
    Sample(
        'unsigned f(void) { unsigned x; asm("csrr %0, fcsr" : "=r"(x)); return x; }',
        'unsigned f(void) { unsigned x; asm("csrr %0, fcsr" : "=r"(x)); return x; }',
    ),
    Sample('int f(void) { int x; asm("mrs %0, control" : "=r"(x)); return x & 2; }', "", True),
    Sample(
        'unsigned f(void) { unsigned x; asm volatile("csrr %0, mtvec" : "=r"(x)); return x; }',
        "unsigned f(void) { unsigned x; x = virt_trap_get(); return x; }",
    ),
    Sample(
        'void f(unsigned x) { asm volatile("csrw mscratch, %0" :: "r"(x + 1)); }',
        "void f(unsigned x) { virt_mscratch = (uint32_t)(x + 1); }",
    ),
    Sample(
        'void f(void) { asm volatile("csrw mscratch, zero"); }',
        "void f(void) { virt_mscratch = 0x0u; }",
    ),
    Sample(
        'unsigned f(void) { unsigned x; asm("csrr %0, mscratch" : "=r"(x)); return x; }',
        "unsigned f(void) { unsigned x; x = virt_mscratch; return x; }",
    ),
    Sample(
        'unsigned f(unsigned x) { asm("csrrw %0, mscratch, %0" : "+r"(x)); return x; }',
        "",
        escalates=True,
    ),
    Sample(
        "unsigned f(unsigned n)\n{\n    unsigned x;\n"
        '    asm volatile("csrr %0, mscratch\\n csrw mscratch, %1" : "=&r"(x) : "r"(n));\n'
        "    return x;\n}",
        "",
        escalates=True,
    ),
    Sample('unsigned f(unsigned x) { asm("csrr %0, medeleg" : "=r"(x)); return x; }', "", True),
    Sample('void f(unsigned x) { asm("ecall" :: "r"(x)); }', "", escalates=True),
    Sample(
        'void f(unsigned x) { asm volatile("msr basepri, r0"); }',
        "void f(unsigned x) { virt_int_restore(VIRT_BASEPRI, x); }",
    ),
    Sample('void f(long long x) { asm volatile("msr primask, r0"); }', "", escalates=True),
    Sample('void f(unsigned x) { g(); asm volatile("msr primask, r0"); }', "", escalates=True),
    Sample(
        'void f(void) { asm volatile("mrs r4, primask"); asm("cpsid i"); asm("str r4, [r5]"); }',
        "",
        escalates=True,
    ),
    Sample(
        'void f(void) { char x; asm("mrs r0, primask\\n cpsid i\\n strb r0, %[o]" '
        ': [o] "=m"(x) :: "r0"); g(x); }',
        "void f(void) { char x; x = virt_int_save(VIRT_PRIMASK); g(x); }",
    ),
    Sample(
        'void f(char x) { asm("ldrb r0, %[i]\\n msr primask, r0" :: [i] "m"(x) : "r0"); }',
        "void f(char x) { virt_int_restore(VIRT_PRIMASK, x); }",
    ),
    Sample(
        'void f(void) { char x; asm("mrs r0, basepri\\n strb r0, %0" : "=m"(x) :: "r0"); g(x); }',
        "",
        escalates=True,
    ),
    Sample(
        'void f(void) { asm volatile("svc %0" :: "i"(3) : "memory"); }',
        "void f(void) { virt_svc(3); }",
    ),
    Sample('void f(void) { __asm("svc 0x2a"); }', "void f(void) { virt_svc(42); }"),
    Sample('void f(unsigned x) { asm("svc 1" :: "r"(x)); }', "", escalates=True),
    Sample('void f(void) { asm("mov r0, #1\\n svc 1"); }', "", escalates=True),
    Sample(
        'void f(unsigned x) { asm("csrs mstatus, %0" :: "r"(x)); g(); }',
        "void f(unsigned x) { if (((x) & 8u) != 0) { virt_int_unmask(VIRT_PRIMASK); } g(); }",
    ),
    Sample(
        'void f(int a, unsigned x) { if (a) asm("csrc mstatus, %0" :: "r"(x & 8)); else g(); }',
        "void f(int a, unsigned x) { if (a) { if (((x & 8) & 8u) != 0) "
        "{ virt_int_mask(VIRT_PRIMASK); } } else g(); }",
    ),
    Sample(
        '#define OPEN(m) asm("csrs mstatus, %0" :: "r"(m))\n'
        "void f(int a, unsigned x) { if (a) OPEN(x); else g(); }",
        "#define OPEN(m) do { if (((m) & 8u) != 0) { virt_int_unmask(VIRT_PRIMASK); } } "
        "while (0)\nvoid f(int a, unsigned x) { if (a) OPEN(x); else g(); }",
    ),
    Sample(
        "unsigned f(int a)\n{\n    unsigned x = 0;\n    if (a)\n"
        '        asm("csrrci %0, mstatus, 8" : "=r"(x));\n    else\n        g();\n'
        "    return x;\n}\n",
        "unsigned f(int a)\n{\n    unsigned x = 0;\n    if (a)\n"
        "        { x = virt_mstatus(); virt_int_mask(VIRT_PRIMASK); }\n    else\n        g();\n"
        "    return x;\n}\n",
    ),
    Sample(
        'unsigned f(unsigned x) { asm("csrrs %0, mstatus, %0" : "+r"(x)); return x; }',
        "",
        escalates=True,
    ),
    Sample(
        'unsigned f(unsigned x) { asm("mrs r3, basepri\\n msr basepri, %0\\n mov %0, r3" : "+r"(x)'
        ' :: "r3"); return x; }',
        "",
        escalates=True,
    ),
    Sample(
        'unsigned f(unsigned x) { asm("mrs %0, basepri\\n msr basepri, %1" : "=&r"(x) : "r"(x));'
        " return x; }",
        "",
        escalates=True,
    ),
    Sample(
        "unsigned f(unsigned x)\n{\n    unsigned o;\n"
        '    asm("mrs %0, basepri\\n msr basepri, %1" : "=&r"(o) : "r"(x));\n    return o;\n}\n',
        "unsigned f(unsigned x)\n{\n    unsigned o;\n"
        "    o = virt_int_query(VIRT_BASEPRI); virt_int_restore(VIRT_BASEPRI, x);\n"
        "    return o;\n}\n",
    ),
    Sample(
        'unsigned f(void) { register unsigned r asm("r0");'
        ' asm("mrs r0, primask\\n cpsid i" : "=r"(r)); return r; }',
        "",
        escalates=True,
    ),
    Sample(
        'unsigned f(void) { register unsigned r asm("r0") = 1;'
        ' asm("mrs r0, primask\\n cpsid i" : "+r"(r)); return r; }',
        "",
        escalates=True,
    ),
    Sample(
        'unsigned f(void) { register unsigned r asm("a0");'
        ' asm("csrrci a0, mstatus, 8" : "=r"(r)); return r; }',
        "",
        escalates=True,
    ),
    Sample(
        'unsigned f(void) { register unsigned r asm("a0");'
        ' asm("csrr a0, mhartid" : "=r"(r)); return r; }',
        "",
        escalates=True,
    ),
    Sample('void f(void) { asm(".ifdef LOCKED\\n cpsid i\\n .endif"); }', "", escalates=True),
    Sample(
        'void f(void) { asm(".if 0\\n cpsid i\\n .else\\n cpsie i\\n .endif"); }',
        "",
        escalates=True,
    ),
    Sample('void f(void) { asm(".rept 0\\n cpsid i\\n .endr"); }', "", escalates=True),
    Sample(
        'void f(void) { asm(".set N, 8\\n csrci mstatus, 8"); }',
        "",
        escalates=True,
    ),
    Sample(
        'void f(unsigned *p) { asm("msr basepri, %0\\n isb\\n msr basepri, %0" :: "r"(*p++)); }',
        "",
        escalates=True,
    ),
    Sample('void f(void) { asm("csrs mie, %0" :: "r"(next())); }', "", escalates=True),
    Sample(
        'void f(unsigned *p) { asm("msr basepri, %0" :: "r"(*p++)); }',
        "void f(unsigned *p) { virt_int_restore(VIRT_BASEPRI, *p++); }",
    ),
    Sample(
        '#define BIT(n) (1u << (n))\nvoid f(void) { asm("csrs mie, %0" :: "r"(BIT(7))); g(); }',
        "#define BIT(n) (1u << (n))\nvoid f(void) { g(); }",
    ),
    Sample(
        'void f(void)\n{\n    asm("fence.i\\n csrci mstatus, 8");\n    g();\n}\n',
        'void f(void)\n{\n    __asm volatile("fence.i" ::: "memory"); '
        "virt_int_mask(VIRT_PRIMASK);\n    g();\n}\n",
    ),
    Sample(
        'void f(unsigned v) { asm("msr basepri, %0" :: "r"(0x40, v)); }',
        "void f(unsigned v) { virt_int_restore(VIRT_BASEPRI, (0x40, v)); }",
    ),
)
