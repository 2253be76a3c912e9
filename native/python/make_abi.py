"""Writes _abi.py, the public headers of heed as ctypes: python3 make_abi.py OUT FOLDER_OF_HEADERS... (needs pycparser and a C preprocessor)

The headers are the one definition. They are preprocessed and read by pycparser; nothing is named here but the types of the C library."""
import keyword
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from typing import Any

from pycparser import c_ast, c_parser

HEADERS = ("heed.h", "native.h", "vulkan.h", "onnx.h", "pickle.h", "tokenizer.h")

# What the headers take from the C library, in place of its own headers, which a parser of plain C does not read.
LIBRARY = {
    "stddef.h": "typedef unsigned long size_t;\n#define NULL ((void*)0)\n",
    "stdbool.h": "#define bool _Bool\n#define true 1\n#define false 0\n",
    "stdint.h": "".join(f"typedef {'unsigned' if sign else 'signed'} {name} {'u' if sign else ''}int{bits}_t;\n"
                        for bits, name in ((8, "char"), (16, "short"), (32, "int"), (64, "long long")) for sign in (0, 1)),
    "stdio.h": "typedef struct FILE FILE;\n",
}
# C type: ctypes, and what Python sees in a field.
SCALARS = {"_Bool": ("c_bool", "bool"), "char": ("c_char", "Bytes"), "float": ("c_float", "float"), "double": ("c_double", "float"),
           "int": ("c_int", "int"), "unsigned char": ("c_uint8", "int"), "unsigned int": ("c_uint", "int"), "size_t": ("c_size_t", "int")}
SCALARS.update({f"{sign}int{bits}_t": (f"c_{sign}int{bits}", "int") for bits in (8, 16, 32, 64) for sign in ("", "u")})


def preprocessed(folders: list[str]) -> str:
    with tempfile.TemporaryDirectory() as place:
        for name, text in LIBRARY.items():
            pathlib.Path(place, name).write_text(text)
        found = [name for name in HEADERS if any(os.path.exists(os.path.join(folder, "heed", name)) for folder in folders)]
        source = pathlib.Path(place, "all.c")
        source.write_text("".join(f'#include "heed/{name}"\n' for name in found))
        command = shlex.split(os.environ.get("CC", "gcc" if sys.platform == "win32" else "cc")) + ["-E", "-P", "-nostdinc", "-D__attribute__(x)=", "-I", place]
        for folder in folders:
            command += ["-I", folder]
        return subprocess.run([*command, str(source)], check=True, capture_output=True, text=True).stdout


class Reader:
    """The declarations of the headers, each as the text of Python that defines it."""

    def __init__(self, unit: c_ast.FileAST):
        self.aliases: dict[str, Any] = {}  # typedef: its type
        self.structs: dict[str, Any] = {}  # complete structs
        self.constants: dict[str, int] = {}
        self.enums: dict[str, list[str]] = {}
        self.functions: dict[str, Any] = {}
        self.order: list[str] = []
        for item in unit.ext:
            self.enumerate(item.type)
            if isinstance(item, c_ast.Typedef):
                self.aliases[item.name] = item.type
            inner = item.type.type if isinstance(item.type, c_ast.TypeDecl) else item.type
            if isinstance(inner, c_ast.Struct) and inner.decls:
                self.structs[inner.name] = inner
                self.order.append(inner.name)
            if isinstance(item.type, c_ast.FuncDecl):
                self.functions[item.name] = item.type

    def enumerate(self, node: Any) -> None:
        enum = node.type if isinstance(node, c_ast.TypeDecl) else node
        if not isinstance(enum, c_ast.Enum) or enum.values is None:
            return
        following = 0
        for one in enum.values.enumerators:
            if one.value is not None:
                following = self.value(one.value)
            self.constants[one.name] = following
            self.enums.setdefault(enum.name, []).append(one.name)
            following += 1

    def value(self, node: Any) -> int:
        """An integer constant expression."""
        if isinstance(node, c_ast.Constant):
            return int(node.value.rstrip("uUlL"), 0)
        if isinstance(node, c_ast.ID):
            return self.constants[node.name]
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            return -self.value(node.expr)
        if isinstance(node, c_ast.BinaryOp):
            left, right = self.value(node.left), self.value(node.right)
            return {"+": left + right, "-": left - right, "*": left * right, "<<": left << min(right, 63)}[node.op]
        raise SystemExit(f"make_abi.py: a constant is not readable (found {type(node).__name__})")

    def type(self, node: Any) -> tuple[str, str]:
        """A C type as ctypes and as the annotation of a field."""
        if isinstance(node, c_ast.TypeDecl):
            return self.type(node.type)
        if isinstance(node, c_ast.IdentifierType):
            name = " ".join(node.names)
            if name == "void":
                return "None", "None"
            if name in SCALARS:
                return SCALARS[name]
            return self.type(self.aliases[name])
        if isinstance(node, c_ast.Enum):
            return "c_int", "int"
        if isinstance(node, c_ast.Struct):
            return (node.name, f'"{node.name}"') if node.name in self.structs else ("None", "None")
        if isinstance(node, c_ast.ArrayDecl):
            inner = self.type(node.type)[0]
            return f"{inner} * {self.value(node.dim)}", "Bytes" if inner == "c_char" else "Any"
        if isinstance(node, c_ast.FuncDecl):
            return self.function(node), "Any"
        if isinstance(node, c_ast.PtrDecl):
            if isinstance(node.type, c_ast.FuncDecl):
                return self.function(node.type), "Any"
            inner = self.type(node.type)[0]
            if inner == "None":  # void, or what only the library knows
                return "c_void_p", "int | None"
            if inner == "c_char" and "const" in node.type.quals:
                return "c_char_p", "Bytes | None"
            return f"POINTER({inner})", "Any"
        raise SystemExit(f"make_abi.py: a type is not readable (found {type(node).__name__})")

    def arguments(self, node: Any) -> list[str] | None:
        """None: any number of arguments, which ctypes does not call safely."""
        types = []
        for argument in node.args.params if node.args else []:
            if isinstance(argument, c_ast.EllipsisParam):
                return None
            at = argument.type
            if isinstance(at, c_ast.ArrayDecl):  # an argument [n] is a pointer
                inner = self.type(at.type)[0]
                types.append("c_char_p" if inner == "c_char" and "const" in at.type.quals else f"POINTER({inner})")
                continue
            kind = self.type(at)[0]
            if kind != "None":
                types.append(kind)
        return types

    @staticmethod
    def name(field: Any) -> str:
        """The field's name; that of a keyword of Python ends with an underscore."""
        return str(field.name) + ("_" if keyword.iskeyword(field.name) else "")

    def function(self, node: Any) -> str:
        return f"CFUNCTYPE({', '.join([self.type(node.type)[0], *(self.arguments(node) or [])])})"


def soname(folders: list[str]) -> str:
    """Both numbers of the version that base.h names, which the shared libraries have in their names."""
    for folder in folders:
        path = pathlib.Path(folder, "heed/base.h")
        if path.exists():
            found = dict(re.findall(r"^#define HEED_VERSION_(MAJOR|MINOR) (\d+)$", path.read_text(), re.M))
            return f"{found['MAJOR']}.{found['MINOR']}"
    raise SystemExit(f"make_abi.py: no heed/base.h (found none in {', '.join(folders)}, expected it in one of them)")


def written(reader: Reader, name: str) -> str:
    lines = ['"""heed\'s public headers as ctypes, by make_abi.py. Do not edit."""', "# ruff: noqa", "from __future__ import annotations", "",
             "from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int8, c_int16, c_int32, "
             "c_int64, c_size_t,", "                    c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)  # noqa: F401",
             "from typing import Any, Final", "", "Bytes = bytes  # a field may have this name", "", f"SONAME: Final = {name!r}", ""]
    for name, number in reader.constants.items():
        lines.append(f"{name}: Final = {number}")
    lines += ["", "# The names of each enumeration, in the order of the header."]
    lines.append("ENUMS: dict[str, tuple[str, ...]] = {")
    lines += [f"    {name!r}: {tuple(members)!r}," for name, members in reader.enums.items()]
    lines += ["}", ""]
    for name in reader.order:
        lines += ["", f"class {name}(Structure):"]
        lines += [f"    {reader.name(field)}: {reader.type(field.type)[1]}" for field in reader.structs[name].decls]
    lines.append("")
    for name in reader.order:
        fields = ", ".join(f"({reader.name(field)!r}, {reader.type(field.type)[0]})" for field in reader.structs[name].decls)
        lines.append(f"{name}._fields_ = [{fields}]")
    lines += ["", "STRUCTS: tuple[type[Structure], ...] = (", *(f"    {name}," for name in reader.order), ")",
              "", "# Function: its result and its arguments.", "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"]
    for name, node in reader.functions.items():
        arguments = reader.arguments(node)
        if arguments is not None:
            lines.append(f"    {name!r}: ({reader.type(node.type)[0]}, [{', '.join(arguments)}]),")
    lines += ["}", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit("usage: make_abi.py OUT FOLDER_OF_HEADERS...")
    text = written(Reader(c_parser.CParser().parse(preprocessed(sys.argv[2:]), "heed")), soname(sys.argv[2:]))
    part = sys.argv[1] + ".part"
    pathlib.Path(part).write_text(text)
    os.replace(part, sys.argv[1])
