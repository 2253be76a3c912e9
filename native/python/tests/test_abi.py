"""The generated layer beside the C compiler: every size, offset, enumerator and signature."""
import ctypes
import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest
from typing import Any

from heed import _abi
from support import ROOT, main

HEADERS = [ROOT / "runtime/include", ROOT / "native/include"]
INCLUDES = "".join(f'#include "heed/{name}.h"\n' for name in ("heed", "native", "vulkan", "onnx", "pickle", "tokenizer"))
CC = [*shlex.split(os.environ.get("CC", "cc")), "-std=c11", *(f"-I{folder}" for folder in HEADERS)]


POINTERS = (ctypes._Pointer, ctypes.CFUNCTYPE(None).__mro__[1])


def compiled(source: str, *options: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "abi.c")
        path.write_text(source)
        made = subprocess.run([*CC, *options, str(path), "-o", f"{place}/abi"], capture_output=True, text=True)
        if made.returncode or "-c" in options:
            return made
        return subprocess.run([f"{place}/abi"], capture_output=True, text=True, check=True)


def c_type(kind: Any) -> str:
    """A ctypes type as C, as far as the ABI knows it: a pointer is a pointer, an enumeration an int."""
    if kind is None:
        return "void"
    if isinstance(kind, type) and issubclass(kind, ctypes.Structure):
        return kind.__name__
    if isinstance(kind, type) and (issubclass(kind, POINTERS) or kind in (ctypes.c_void_p, ctypes.c_char_p)):
        return "pointer"
    names: dict[Any, str] = {ctypes.c_bool: "_Bool", ctypes.c_char: "char", ctypes.c_float: "float", ctypes.c_double: "double"}
    if kind in names:
        return names[kind]
    whole: Any = kind
    return f"{'u' if whole(-1).value > 0 else ''}int{8 * ctypes.sizeof(whole)}"


class Abi(unittest.TestCase):
    def test_layouts(self) -> None:
        lines, expected = [], {}
        for struct in _abi.STRUCTS:
            name = struct.__name__
            lines.append(f'  printf("{name} %zu\\n", sizeof({name}));')
            expected[name] = ctypes.sizeof(struct)
            for field, *_ in struct._fields_:
                c_name = field.rstrip("_")
                lines.append(f'  printf("{name}.{field} %zu\\n", offsetof({name}, {c_name}));')
                expected[f"{name}.{field}"] = getattr(struct, field).offset
                lines.append(f'  printf("{name}.{field}: %zu\\n", sizeof((({name} *)0)->{c_name}));')
                expected[f"{name}.{field}:"] = getattr(struct, field).size
        for members in _abi.ENUMS.values():
            for member in members:
                lines.append(f'  printf("{member} %d\\n", (int){member});')
                expected[member] = getattr(_abi, member)
        out = compiled(f"{INCLUDES}#include <stddef.h>\nint main(void) {{\n" + "\n".join(lines) + "\n  return 0;\n}\n").stdout
        found = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in out.splitlines()}
        self.assertGreater(len(found), 500)
        self.assertEqual(found, expected)

    def test_signatures(self) -> None:
        """A function is one of these arguments where C takes values of these types without a warning that they differ in size or kind."""
        source = INCLUDES + "".join(f"typedef {'unsigned ' if sign else 'signed '}{word} {'u' if sign else ''}int{bits};\n" for bits, word in (
            (8, "char"), (16, "short"), (32, "int"), (64, "long long")) for sign in (0, 1)) + "typedef void *pointer;\n"
        checks = []
        for name, (result, arguments) in _abi.FUNCTIONS.items():
            values = ", ".join(f"*({c_type(kind)} *)0" for kind in arguments)
            self.assertNotIn("None", values)
            call = f"{name}({values})"
            if result is None:
                checks.append(f"void check_{name}(void) {{ {call}; }}")
                continue
            kind = c_type(result)
            checks.append(f"_Static_assert(sizeof({call}) == sizeof({kind}), \"{name}\");")
            checks.append(f"{kind if kind != 'pointer' else 'const void *'} check_{name}(void) {{ return {call}; }}")
        made = compiled(source + "\n".join(checks) + "\n", "-c", "-Wconversion", "-Wsign-conversion", "-Werror", "-Wno-null-dereference",
                        "-Wno-unused-value", "-Wno-enum-conversion")
        self.assertEqual(made.returncode, 0, made.stderr[:4000])

    def test_a_wrong_signature_is_found(self) -> None:
        made = compiled(INCLUDES + "double check(void) { return heed_map_entropy((const float *)0, *(double *)0); }\n", "-c", "-Wconversion",
                        "-Werror")
        self.assertNotEqual(made.returncode, 0)

    def test_every_function_is_exported(self) -> None:
        from heed._library import c

        for name in _abi.FUNCTIONS:
            getattr(c, name)


if __name__ == "__main__":
    main()
