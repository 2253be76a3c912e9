#!/usr/bin/env python3
"""Writes unicode_table.h from Python's unicodedata: letters and numbers, lower case, and what canonical
composition (NFC) needs. Compatibility ideographs of CJK are left out of the last.

Usage: python3 make_unicode.py > unicode_table.h
"""
import unicodedata

END = 0x110000
SURROGATES = range(0xD800, 0xE000)


def points():
    return (p for p in range(END) if p not in SURROGATES)


def varint(value):
    out = []
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return out + [value]


def zigzag(value):
    return varint(value * 2 if value >= 0 else -value * 2 - 1)


def classes():
    """Runs over all code points from 0: length * 4 + class (0 other, 1 letter, 2 number)."""
    kind = lambda p: {'L': 1, 'N': 2}.get(unicodedata.category(chr(p))[0], 0)
    out, start = [], 0
    for p in range(1, END + 1):
        if p == END or kind(p) != kind(start):
            out += varint((p - start) * 4 + kind(start))
            start = p
    return out


def lower():
    """Runs of code points whose lower case is one code point: gap, count, step, difference."""
    pairs = [(p, ord(chr(p).lower()) - p) for p in points() if len(chr(p).lower()) == 1 and chr(p).lower() != chr(p)]
    out, last, i = [], 0, 0
    while i < len(pairs):
        best, step = 1, 1
        for s in (1, 2):
            n = 1
            while i + n < len(pairs) and pairs[i + n] == (pairs[i][0] + n * s, pairs[i][1]):
                n += 1
            if n > best:
                best, step = n, s
        out += varint(pairs[i][0] - last) + varint(best) + varint(step) + zigzag(pairs[i][1])
        last = pairs[i][0]
        i += best
    return out


def combining():
    """Runs of code points of one combining class: gap from the last run's end, length, class."""
    out, last, p = [], 0, 0
    while p < END:
        c = 0 if p in SURROGATES else unicodedata.combining(chr(p))
        n = 1
        while c and unicodedata.combining(chr(p + n)) == c:
            n += 1
        if c:
            out += varint(p - last) + varint(n) + varint(c)
            last = p + n
        p += n
    return out


def canonical():
    """Canonical decompositions: difference of code points * 2 + (1: never composed), and the differences
    of its first and second part (0: none) from the last entry's."""
    out, last = [], (0, 0, 0)
    for p in points():
        text = unicodedata.decomposition(chr(p))
        if not text or text[0] == '<' or 0xF900 <= p < 0xFB00 or 0x2F800 <= p < 0x2FA20:
            continue
        parts = [int(part, 16) for part in text.split()] + [0]
        composes = parts[1] and unicodedata.normalize('NFC', chr(parts[0]) + chr(parts[1])) == chr(p)
        entry = (p, parts[0], parts[1])
        out += varint((p - last[0]) * 2 + (not composes)) + zigzag(entry[1] - last[1]) + zigzag(entry[2] - last[2])
        last = entry
    return out


def table(name, data):
    lines, line = [], ' '
    for value in data:
        item = f' {value},'
        if len(line) + len(item) > 100:
            lines.append(line)
            line = ' '
        line += item
    text = '\n'.join(lines + [line]).rstrip(',')
    return f'static const uint8_t {name}[{len(data)}] = {{\n{text}}};\n'


print(f'/* Made by make_unicode.py: Unicode {unicodedata.unidata_version}. Numbers of seven bits a byte, the lowest first. */')
print('/* clang-format off */')
for function in (classes, lower, combining, canonical):
    print(f'/* {" ".join(function.__doc__.split())} */')
    print(table(function.__name__ + '_table', function()), end='')
print('/* clang-format on */')
