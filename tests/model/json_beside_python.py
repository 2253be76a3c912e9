"""Random and mutated JSON by heed's reader and by Python's: the same values, or both refuse.

json_beside_python.py PROGRAM [COUNT]. PROGRAM is json_values. heed is stricter where RFC 8259 is, and in these cases:

keys       a key that occurs twice in one object
deep       more than 64 levels
surrogate  half of a pair of surrogates
number     NaN, Infinity and -Infinity, which RFC 8259 has not
range      a number beyond double precision is read as text, and has no value
"""
import json
import math
import random
import struct
import subprocess
import sys

PIECES = ['{', '}', '[', ']', ',', ':', '"', '\\', 'null', 'true', 'false', '0', '-', '1e5', '.5', '1.', '01', '-0', '1E400', '\\u0000', '\\ud800',
          '\\ud83d\\ude00', '\\x', ' ', '\t', '\n', '\x0b', '\x00', 'NaN', 'Infinity', 'é', '💡', '\ufeff', '"a":1', '9007199254740993', '1e-400', '/', '\x7f']


class Refused(Exception):
    pass


def unique(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused
    return Members(pairs)


class Members(list):
    pass


def never(word):
    raise Refused


def line(value, depth=0):
    if value is None or value is True or value is False:
        return {None: 'n ', True: 't ', False: 'f '}[value]
    if isinstance(value, float):
        return '? ' if math.isinf(value) else f'{value:.17g} '
    if isinstance(value, str):
        try:
            return 's' + value.encode().hex() + ' '
        except UnicodeEncodeError as error:
            raise Refused from error
    if depth >= 64:
        raise Refused
    if isinstance(value, Members):
        return '{ ' + ''.join(line(key) + line(inner, depth + 1) for key, inner in value) + '] '
    return '[ ' + ''.join(line(inner, depth + 1) for inner in value) + '] '


def expected(text):
    try:
        return line(json.loads(text.decode('utf-8'), object_pairs_hook=unique, parse_constant=never, parse_int=float))
    except (Refused, UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return 'r'


def value(draw, depth=0):
    kind = draw.randrange(8 if depth < 5 else 6)
    if kind < 3:
        return draw.choice([None, True, False, 0, -1, 1.5, 1e300, -0.0, 123456789012345678, 5e-324, draw.uniform(-1e6, 1e6), draw.randrange(-2**60, 2**60)])
    if kind < 6:
        return ''.join(draw.choice('ab"\\/\n\t\0é💡\x7f ') for _ in range(draw.randrange(6)))
    if kind == 6:
        return [value(draw, depth + 1) for _ in range(draw.randrange(5))]
    return {''.join(draw.choice('abcdé"') for _ in range(draw.randrange(4))): value(draw, depth + 1) for _ in range(draw.randrange(5))}


def case(draw):
    text = json.dumps(value(draw), ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 1])).encode()
    if draw.random() < 0.02:
        count = draw.randrange(60, 70)
        text = b'[' * count + text + b']' * count
    for _ in range(draw.choice([0, 0, 1, 1, 2, 5])):
        at, end = draw.randrange(len(text) + 1), draw.randrange(len(text) + 1)
        way = draw.randrange(5)
        if way == 0:
            text = text[:at] + draw.choice(PIECES).encode() + text[at:]
        elif way == 1:
            text = text[:at] + text[at + 1 + draw.randrange(4):]
        elif way == 2:
            text = text[:at] + bytes([draw.randrange(256)]) + text[at + 1:]
        elif way == 3:
            text = text[:at] + text[min(at, end):max(at, end)] + text[at:]
        else:
            text = text[:at]
    return text


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    draw = random.Random(53)
    cases = [case(draw) for _ in range(count)]
    given = b''.join(struct.pack('<I', len(text)) + text for text in cases)
    lines = subprocess.run([sys.argv[1]], input=given, capture_output=True, check=True).stdout.decode().split('\n')
    wrong = read = 0
    for text, found in zip(cases, lines, strict=False):
        right = expected(text)
        read += right != 'r'
        if found != right:
            wrong += 1
            if wrong <= 10:
                print(f'{text!r}: found {found[:200]}, expected {right[:200]}')
    print(f'{len(cases)} texts, of which {read} are read: {wrong} differ')
    return 1 if wrong or len(lines) != len(cases) + 1 else 0


if __name__ == '__main__':
    sys.exit(main())
