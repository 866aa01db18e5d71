"""C++: every shape of ordinary code is rewritten like its C, or a person is told why not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from composer.sources import runtime_folder
from porter.judging.verdict import Status
from porter.result import PortResult
from tests.porter.helpers import escalations, port_files

HERE = Path(__file__).parent / "cplusplus"
SHAPES = sorted(file.stem for file in HERE.glob("*.cpp"))
ESCALATED = {
    "class_object_stays": "may get RCC->CR by reference, and write it",
    "placement_new": "the address of RCC->CR goes where it can't be followed",
    "reference_argument": "may get RCC->AHB1ENR by reference, and write it",
    "structured_binding": "of what type port is can't be told",
    "template_argument": "an argument of the template Port<0x40020000>",
    "template_parameter": "of what type port is can't be told",
}
NOTHING_FOUND = {"hidden_by_parameter"}
RUNTIME = runtime_folder()
DOMAIN_HEADER = "#include <stdint.h>\nuint32_t fvm_virt_of_irq(int irq);\n"


def ported(folder: Path, shape: str) -> PortResult:
    chip = (HERE / "chip.h").read_bytes()
    source = (HERE / f"{shape}.cpp").read_bytes()
    return port_files(folder, {"main.cpp": source, "chip.h": chip})


def text_of(result: PortResult, shape: str) -> bytes:
    files = [port.ported for port in result.files if port.file.name == "main.cpp"]
    return files[0] if files else (HERE / f"{shape}.cpp").read_bytes()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_becomes_what_its_c_would(shape: str, tmp_path: Path) -> None:
    result = ported(tmp_path, shape)
    reasons = escalations(result)
    assert bool(reasons) == (shape in ESCALATED), reasons
    assert not reasons or any(ESCALATED[shape] in reason for reason in reasons), reasons
    expected = HERE / "ported" / f"{shape}.cpp"
    before = HERE / f"{shape}.cpp"
    assert text_of(result, shape) == (expected if expected.is_file() else before).read_bytes()


@pytest.mark.parametrize("shape", SHAPES)
def test_no_site_is_left_that_works_on_hardware(shape: str, tmp_path: Path) -> None:
    """Only names for addresses stay without a word, and what is handed on with its type."""
    verdicts = [v for port in ported(tmp_path, shape).files for v in port.verdicts]
    left = [v for v in verdicts if v.status is Status.LEFT]
    assert {v.rule for v in left} <= {"address"}
    assert verdicts or shape in NOTHING_FOUND


@pytest.mark.parametrize("shape", SHAPES)
def test_what_it_becomes_is_cplusplus(shape: str, tmp_path: Path) -> None:
    source = tmp_path / "ported.cpp"
    source.write_bytes(text_of(ported(tmp_path, shape), shape))
    (tmp_path / "fvm_domain.h").write_text(DOMAIN_HEADER, encoding="ascii")
    includes = [RUNTIME / "include", RUNTIME / "arch" / "armv7m" / "include", HERE, tmp_path]
    subprocess.run(
        ["arm-none-eabi-g++", "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", "-mthumb",
         "-mcpu=cortex-m4", *(f"-I{folder}" for folder in includes), str(source)],
        check=True,
    )  # fmt: skip


STATE = b"struct S {\n    unsigned get() const { return __get_PRIMASK(); }\n};\n"
QUERIED = STATE.replace(b"__get_PRIMASK()", b"virt_int_query(VIRT_PRIMASK)")


@pytest.mark.parametrize(
    "header",
    [STATE, b"namespace a\n{\n" + STATE + b"}\n", b"class C {\npublic:\n" + STATE + b"};\n"],
    ids=["included by C++ alone", "namespace", "class"],
)
def test_a_header_of_cplusplus_is_known_without_its_suffix(header: bytes, tmp_path: Path) -> None:
    files = {"state.h": header, "inner.h": b'#include "state.h"\n'}
    files["main.cpp"] = b'#include "inner.h"\nint main() { return S().get(); }\n'
    result = port_files(tmp_path, files)
    assert escalations(result) == []
    assert QUERIED in result.files[0].ported


def test_a_function_of_that_name_in_a_class_is_another_one(tmp_path: Path) -> None:
    own = b"struct Core { static void __WFI() { g(); } };\n"
    call = b"void f() { Core::__WFI(); }\n"
    assert not port_files(tmp_path / "known", {"main.cpp": own + call}).files
    result = port_files(tmp_path / "unknown", {"main.cpp": call})
    assert escalations(result) == [
        "__WFI: __WFI belongs to a class or namespace that this project doesn't define: "
        "what does it do?"
    ]


@pytest.mark.parametrize(
    "head",
    ["bool S::operator()()", "S::operator bool() const", "S::~S()", "S::S()", "void S::idle()"],
)
def test_a_member_may_run_though_nobody_calls_it_by_name(head: str, tmp_path: Path) -> None:
    source = f"{head} {{ __set_MSP(0); }}\nint main() {{ return 0; }}\n".encode()
    assert len(escalations(port_files(tmp_path, {"main.cpp": source}))) == 1


def test_a_free_function_that_nobody_calls_is_dropped(tmp_path: Path) -> None:
    """Control."""
    source = b"void idle() { __set_MSP(0); }\nint main() { return 0; }\n"
    assert not escalations(port_files(tmp_path, {"main.cpp": source}))


def test_an_enum_may_be_long_and_its_names_common(tmp_path: Path) -> None:
    names = ", ".join(f"E{number}" for number in range(2000))
    source = f"struct A {{ enum B {{ {names} }}; enum C {{ {names} }}; }};\n".encode()
    result = port_files(tmp_path, {"main.cpp": source + b"int f() { return A::E1999; }\n"})
    assert not result.files


def test_the_compiler_is_asked_about_cplusplus(tmp_path: Path) -> None:
    makefile = b"all:\n\tarm-none-eabi-g++ -mcpu=cortex-m4 -mthumb -DREG=0xE000ED08 -c main.cpp\n"
    source = (
        b"typedef unsigned word;\n#if REG\nvoid f()\n{\n"
        b"    *reinterpret_cast<volatile word *>(REG) = 1;\n}\n"
        b"#else\nvoid f() { __WFI(); }\n#endif\n"
    )
    result = port_files(tmp_path, {"Makefile": makefile, "main.cpp": source})
    assert escalations(result) == []
    assert b"REG) = 1" not in result.files[0].ported


@pytest.mark.parametrize(
    "user",
    ["Task task(run);", "Task task{run};", "static Task task(1, &run);", "Set<run> set;",
     "Set<1, run> set;", "auto task = make(run);", "int value(twice(run()));"],
)  # fmt: skip
def test_what_a_global_object_is_made_of_may_run(user: str, tmp_path: Path) -> None:
    source = f"void run() {{ __set_MSP(0); }}\n{user}\nint main() {{ return 0; }}\n".encode()
    assert len(escalations(port_files(tmp_path, {"main.cpp": source}))) == 1


def test_what_the_preprocessor_puts_together(tmp_path: Path) -> None:
    makefile = b"all:\n\tarm-none-eabi-g++ -mcpu=cortex-m4 -mthumb -c main.cpp\n"
    source = (
        b"#define OFF(n) __##n##_irq()\n#define VTOR_ADDR 0xE000ED08\n"
        b"#define AT(n) (*reinterpret_cast<volatile unsigned *>(n##_ADDR))\n"
        b"void f()\n{\n    AT(VTOR) = 1;\n    OFF(disable);\n}\n"
    )
    result = port_files(tmp_path, {"Makefile": makefile, "main.cpp": source})
    assert len(result.files[0].verdicts) == 2


def test_classes_and_namespaces_may_bear_the_names_of_blocks(tmp_path: Path) -> None:
    text = b"""\
class RCC { public: static void init(); static const int F = 3; };
class SysTick { public: static void delay(int); };
namespace NVIC { void on(int n) { (void)n; } }
void RCC::init() { *(volatile unsigned *)0x40023830 |= 1; }
int main() { RCC::init(); SysTick::delay(RCC::F); NVIC::on(3); RCC r; (void)r; }
"""
    result = port_files(tmp_path, {"main.cpp": text})
    assert [v.site.what for port in result.files for v in port.verdicts] == ["0x40023830"]


BY_REFERENCE = "a function may get SCB->CPUID by reference"
OVERLOADS = b"""#include <stdint.h>
typedef struct { volatile uint32_t CPUID; } SCB_Type;
#define SCB ((SCB_Type *)0xE000ED00UL)
typedef uint32_t word;
namespace logging {
void log(const char *m, const bool screen = true);
void log(uint32_t n, const int base);
}
void logging::log(const char *, const bool) { }
void logging::log(uint32_t, const int) { }
template <class T> void print(T value);
"""


@pytest.mark.parametrize("call", [b"logging::log(SCB->CPUID, 16)", b"print(SCB->CPUID)"])
def test_overloads_that_take_values_get_no_reference(tmp_path: Path, call: bytes) -> None:
    text = OVERLOADS + b"using namespace logging;\nvoid f() { %s; }\n" % call
    told = escalations(port_files(tmp_path / "values", {"main.cpp": text}))
    assert not any(BY_REFERENCE in it for it in told)


@pytest.mark.parametrize(
    "other",
    [
        b"namespace logging { void log(uint32_t &n, unsigned base); }",
        b"void log(word volatile &n, int base);",
        b"template <class T> void log(T &&n, int base) { n = 0; }",
        b"using place = uint32_t &;\nvoid log(place n, short base);",
        b"struct Log { void operator()(uint32_t &n, int base); };\nnamespace other { Log log; }",
    ],
)
def test_one_overload_with_a_reference_is_enough(tmp_path: Path, other: bytes) -> None:
    text = OVERLOADS + other + b"\nvoid f() { logging::log(SCB->CPUID, 16); }\n"
    (told,) = escalations(port_files(tmp_path, {"main.cpp": text}))
    assert BY_REFERENCE in told


def test_a_second_overload_counts_outside_of_namespaces_too(tmp_path: Path) -> None:
    text = OVERLOADS + b"void g(int n);\nvoid g(uint32_t &n);\nvoid f() { g(SCB->CPUID); }\n"
    (told,) = escalations(port_files(tmp_path, {"main.cpp": text}))
    assert BY_REFERENCE in told


def test_an_object_or_a_constant_of_a_class_is_no_block(tmp_path: Path) -> None:
    header = (
        b"enum class Block { GPIOA, SYSCFG };\nstruct Rcc { void on(Block b); };\nextern Rcc RCC;\n"
    )
    text = (
        b'#include "rcc.hpp"\nint main() { RCC.on(Block::SYSCFG); RCC->CR |= 1; EXTI->IMR = 1; }\n'
    )
    result = port_files(tmp_path, {"rcc.hpp": header, "main.cpp": text})
    told = [it.site.start for port in result.files if port.file.name == "main.cpp"
            for it in port.verdicts]  # fmt: skip
    assert told == [text.index(b"RCC->CR"), text.index(b"EXTI")]


def test_data_of_a_class_in_capitals_is_no_block(tmp_path: Path) -> None:
    """In a function of the class that another file defines, without `this->`."""
    files = {
        "ms.h": b"struct Cbw { unsigned sig; unsigned char CB[16]; };\n"
        b"class Ms { Cbw CBW; union { unsigned raw[4]; } IO; public: void in(); };\n",
        "ms.cpp": b'#include "ms.h"\n'
        b"void Ms::in() { if (CBW.CB[0]) CBW.sig = 3; IO.raw[1] = 2; }\n",
    }
    assert escalations(port_files(tmp_path, files, None)) == []
