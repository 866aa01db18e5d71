"""C++ that a handler leads to is read as its compiler gets it, with what it includes and uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from porter.context_switch.asked_masks import refuse_questions
from porter.context_switch.ir import Call
from porter.context_switch.result import NotTranscribable
from porter.context_switch.waits import refuse_waits
from tests.porter.context_switch.test_kept_registers import project, refused

C = "void hook(void);\nvoid schedule(void) { hook(); }\n"
CALL = (Call((), "schedule", (), (), None),)
HOOK = 'unsigned x;\nextern "C" void hook(void) {{ unsigned v = 0; {} x = v; }}\n'
RD = '#define RD(v, n) __asm volatile("mov %0, r" #n : "=r"(v))\n'
PLAIN = '#include "h.h"\n' + HOOK.format("x = 1;")
CHIP = (
    "#include <cstdint>\n"
    'static inline unsigned psp(void) { unsigned r; __asm("mrs %0, psp" : "=r"(r)); return r; }\n'
    'static inline unsigned get(void) { unsigned r; __asm("mov %0, r9" : "=r"(r)); return r; }\n'
    "static inline unsigned both(void) { return get(); }\n"
    'struct Core { static void wait() { __asm volatile("wfi"); } };\n'
)
# Files beside the C, and the reason; "" for what is no harm.
FILES: dict[str, tuple[dict[str, str], str]] = {
    "a header's macro": ({"h.h": RD, "hook.cpp": '#include "h.h"\n' + HOOK.format("RD(v, 8);")},
                         r"hook\(\), which hook.cpp names, C\+\+ with asm .*'__asm volatile"),
    "its other use": ({"h.h": RD, "hook.cpp": '#include "h.h"\n' + HOOK.format("RD(v, 3);")}, ""),
    "a number": ({"hook.cpp": HOOK.format('__asm(".inst.n 0x4640");')}, "any instruction"),
    "a number for two": ({"hook.cpp": HOOK.format('__asm(".inst.w 0xf3ef8009");')}, "any inst"),
    "another name": ({"hook.cpp": '__asm("tsk .req r8");\n' + HOOK.format('__asm("mov r0, tsk");')},
                     "a name that other asm defines"),
    "behind a semicolon": ({"hook.cpp": HOOK.format('__asm("nop; mov r0, r8");')}, "with asm"),
    "a raw string": ({"hook.cpp": HOOK.format('__asm(R"(nop)");')}, "raw string"),
    "an included body": ({"hook.cpp": '#include "b.inc"\n',
                          "b.inc": HOOK.format('__asm("mov %0, r8" : "=r"(v));')}, "hook.cpp"),
    "an included table": ({"hook.cpp": HOOK.format('\n#include "b.def"\n'),
                           "b.def": '__asm("mov %0, r8" : "=r"(v));'}, "with asm"),
    "an included table of none": ({"hook.cpp": HOOK.format('\n#include "b.def"\n'),
                                   "b.def": '__asm("mov %0, r2" : "=r"(v));'}, ""),
    "a header's function": ({"h.h": CHIP, "hook.cpp": '#include "h.h"\n'
                             + HOOK.format("v = both();")}, "r9"),
    "a header's other functions": ({"h.h": CHIP, "hook.cpp": PLAIN}, ""),
    "a header that isn't there": ({"hook.cpp": '#include "none.h"\n' + HOOK.format("")},
                                  r"can't be preprocessed .*none.h"),
    "who calls it": ({"a.cpp": 'extern "C" void hook(void);\nvoid go() { hook(); }\n',
                      "hook.cpp": HOOK.format('__asm("mov %0, r8" : "=r"(v));')}, "hook.cpp"),
    "who calls it and more": ({"a.cpp": 'extern "C" void hook(void);\n'
                               'void go() { hook(); __asm("mov r9, r9"); }\n',
                               "hook.cpp": HOOK.format("")}, ""),
    "another file": ({"a.cpp": 'unsigned get() { unsigned r; __asm("mov %0, r8" : "=r"(r)); '
                      "return r; }\n", "hook.cpp": "unsigned get();\n" + HOOK.format("v = get();")},
                     "with asm"),
    "at file scope": ({"hook.cpp": r'__asm(".global hook\n.thumb_func\nhook: mov r9, r0\nbx lr");'},
                      "with asm"),
}  # fmt: skip


def refusal(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).write_text(text)
    return refused(project(folder, {}, C))


@pytest.mark.parametrize("name", FILES)
def test_registers_are_found_whatever_writes_them(name: str, tmp_path: Path) -> None:
    files, why = FILES[name]
    found = refusal(tmp_path, files)
    assert re.search(why, found) if why else not found


@pytest.mark.parametrize(("body", "waits"), [("Core::wait();", True), ("psp();", False)])
def test_a_wait_is_one_where_it_is_used(body: str, waits: bool, tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text(CHIP)
    (tmp_path / "hook.cpp").write_text('#include "h.h"\n' + HOOK.format(body))
    data = project(tmp_path, {}, C)
    if waits:
        with pytest.raises(NotTranscribable, match=r"leads to hook\(\), which waits"):
            refuse_waits(CALL, data.units, data.callees)
    else:
        refuse_waits(CALL, data.units, data.callees)


@pytest.mark.parametrize("number", ["0x300", "mstatus", "0x340"])
def test_a_mask_is_asked_for_by_its_number(number: str, tmp_path: Path) -> None:
    parts = '" "'.join(("csrr %0, ", *number))
    (tmp_path / "hook.cpp").write_text(HOOK.format(f'__asm("{parts}" : "=r"(v));'))
    data = project(tmp_path, {}, C)
    if number == "0x340":
        refuse_questions(CALL, data.units, data.callees, {"mstatus": None})
    else:
        with pytest.raises(NotTranscribable, match="does it ask for mstatus"):
            refuse_questions(CALL, data.units, data.callees, {"mstatus": None})
