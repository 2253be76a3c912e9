"""Mutated safetensors files: heed opens those that the format's rules allow, and no others.

safetensors_rules.py PROGRAM [COUNT]. PROGRAM is safetensors_verdicts. The reader below is written from the rules of
huggingface/safetensors (README, "Format" and "Notes") and shares no code with heed. The README wants a header that begins with
a brace; the reference reads white space before it, and so do both readers here. heed is stricter in three cases, known by name:

null_metadata  "__metadata__": null, which the reference reads as none
zero_byte      a name with a zero byte, as heed's names are C strings
deep           JSON deeper than 64 levels, in a key that the format does not know
"""
import json
import random
import struct
import subprocess
import sys

BITS = {
    'BOOL': 8, 'F4': 4, 'F6_E2M3': 6, 'F6_E3M2': 6, 'U8': 8, 'I8': 8, 'F8_E5M2': 8, 'F8_E4M3': 8, 'F8_E8M0': 8,
    'F8_E4M3FNUZ': 8, 'F8_E5M2FNUZ': 8, 'I16': 16, 'U16': 16, 'F16': 16, 'BF16': 16, 'I32': 32, 'U32': 32, 'F32': 32,
    'C64': 64, 'F64': 64, 'I64': 64, 'U64': 64,
}


class Broken(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Broken(why)


def unique(pairs):
    need(len({key for key, _ in pairs}) == len(pairs), 'duplicate keys')
    return dict(pairs)


def never(text):
    raise Broken('no JSON: ' + text)


def whole(text):
    need(text != '-0', 'a negative number')
    return int(text)


def texts_in(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)
    elif isinstance(value, str):
        yield value


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0) if isinstance(value, (dict, list)) else 0


def is_count(value):
    return type(value) is int and 0 <= value < 2**64


def verdict(file):
    """None where the rules allow the file, or a word of heed's stricter cases; Broken where they do not."""
    need(len(file) >= 8, 'no length')
    size = struct.unpack('<Q', file[:8])[0]
    need(size <= 100_000_000 and size <= len(file) - 8, 'length')
    header, data = file[8:8 + size], len(file) - 8 - size
    need(header.lstrip(b' \t\r\n')[:1] == b'{', 'begins with no brace')
    try:
        found = json.loads(header.decode('utf-8'), object_pairs_hook=unique, parse_constant=never, parse_int=whole)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Broken('no JSON') from error
    need(not any(0xD800 <= ord(letter) < 0xE000 for text in texts_in(found) for letter in text), 'half a surrogate')
    stricter = 'deep' if depth(found) > 64 else None
    metadata = found.pop('__metadata__', {})
    if metadata is None:
        metadata, stricter = {}, 'null_metadata'
    need(isinstance(metadata, dict) and all(isinstance(value, str) for value in metadata.values()), 'metadata')
    spans = []
    for name, entry in found.items():
        need(isinstance(entry, dict), 'entry')
        dtype, shape, offsets = (entry.get(key) for key in ('dtype', 'shape', 'data_offsets'))
        need(isinstance(dtype, str) and dtype in BITS, 'dtype')
        need(isinstance(shape, list) and all(map(is_count, shape)), 'shape')
        need(isinstance(offsets, list) and len(offsets) == 2 and all(map(is_count, offsets)), 'offsets')
        product, largest = 1, 1
        for side in shape:
            product *= side
            largest = max(largest, product)
        need(largest * BITS[dtype] < 2**64 or largest < 2**64 and product == 0, 'overflow')
        need(product * BITS[dtype] % 8 == 0, 'half a byte')
        need(offsets[1] - offsets[0] == product * BITS[dtype] // 8, 'length of the data')
        if '\0' in name:
            stricter = 'zero_byte'
        spans.append(tuple(offsets))
    at = 0
    for begin, end in sorted(spans):
        need(begin == at, 'holes or overlaps')
        at = end
    need(at == data, 'data beyond the tensors')
    return stricter


# ----------------------------------------------------------------------------------------------------------------- cases


def build(draw):
    """A whole file's parts: entries in order, bytes of data."""
    entries, at = [], 0
    if draw.random() < 0.4:
        entries.append(('__metadata__', {'format': 'pt', 'ü': ''}))
    for i in range(draw.randrange(5)):
        dtype = draw.choice(list(BITS))
        shape = [draw.choice([0, 1, 1, 2, 3, 4, 8]) for _ in range(draw.randrange(5))]
        bits = BITS[dtype]
        for side in shape:
            bits *= side
        if bits % 8:
            shape.append(4)
            bits *= 4
        entries.append((f'layer.{i}.w{"é" * (i % 2)}', {'dtype': dtype, 'shape': shape, 'data_offsets': [at, at + bits // 8]}))
        at += bits // 8
    draw.shuffle(entries)
    return entries, at


NUMBERS = [0, 1, -1, 2, 7, 8, 2**31, 2**32, 2**53, 2**63, 2**64 - 1, 2**64, 2**70, 1.0, 1.5, '1', None, True, [], {}]


def change_parts(draw, entries, data):
    kind = draw.randrange(12)
    tensors = [i for i, (name, _) in enumerate(entries) if name != '__metadata__']
    if kind == 0:
        return entries, max(0, data + draw.choice([-8, -1, 1, 8]))
    if kind == 1 or not tensors:
        entries.append(draw.choice([
            ('__metadata__', draw.choice([None, {}, {'a': 1}, {'a': 'b'}, [], 'x', {'a': {}}])),
            ('a\0b', {'dtype': 'U8', 'shape': [0], 'data_offsets': [data, data]}),
            ('', {'dtype': 'U8', 'shape': [0], 'data_offsets': [data, data]}),
            ('x', draw.choice(NUMBERS)),
            ('huge', {'dtype': 'U8', 'shape': [2**40, 2**40, 0], 'data_offsets': [data, data]}),
        ]))
        return entries, data
    at = draw.choice(tensors)
    name, entry = entries[at]
    entry = dict(entry)
    if kind == 2:
        entry['dtype'] = draw.choice([*BITS, 'f32', 'F8', '', None, 3, 'F32\0'])
    elif kind in (3, 4):
        shape = list(entry['shape'])
        place = draw.randrange(len(shape) + 1)
        shape[place:place + draw.randrange(2)] = [draw.choice(NUMBERS)]
        entry['shape'] = shape
    elif kind in (5, 6):
        offsets = list(entry['data_offsets'])
        place = draw.randrange(2)
        offsets[place] = offsets[place] + draw.choice([-8, -1, 1, 8]) if draw.random() < 0.6 else draw.choice(NUMBERS)
        entry['data_offsets'] = offsets
    elif kind == 7:
        entry['data_offsets'] = draw.choice([[], [0], [0, 0, 0], None, 'x', entry['data_offsets'][::-1]])
    elif kind == 8:
        del entry[draw.choice(list(entry))]
    elif kind == 9:
        value = 'x'
        for _ in range(draw.choice([1, 2, 60, 61, 62, 63, 64, 70])):
            value = [value]
        entry['more'] = value
    elif kind == 10:
        entries.append((name, entry))  # the same key twice
    else:
        name = draw.choice(['', '__metadata__', 'é', name + '\0', '\ud800', '\U0001F600', name.upper()])
    entries[at] = (name, entry)
    return entries, data


def write(draw, entries, data):
    header = '{' + ','.join(json.dumps(name) + ':' + json.dumps(entry) for name, entry in entries) + '}'
    header = header.encode('utf-8')
    if draw.random() < 0.3:
        header += b' ' * draw.randrange(9)
    return header, data


def change_bytes(draw, header):
    header = bytearray(header)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        at = draw.randrange(len(header) + 1)
        kind = draw.randrange(4)
        if kind == 0 and at < len(header):
            header[at] = draw.randrange(256)
        elif kind == 1:
            header[at:at] = draw.choice([b' ', b'\n', b'\t', b',', b'{', b'}', b'0', b'-', b'.0', b'e1', b'"', b'\\', b'\0', b'\xff', b'\xed\xa0\x80',
                                         b'\xef\xbb\xbf', b'\\u0000', b'\\ud83d', b'NaN', b'null', b'/**/'])
        elif kind == 2:
            del header[at:at + draw.randrange(1, 4)]
        else:
            header = bytearray(draw.choice([b' ', b'\n', b'\xef\xbb\xbf'])) + header if draw.random() < 0.5 else header + draw.choice([b' ', b'\n', b'x', b'\0'])
    return bytes(header)


def make(draw):
    entries, data = build(draw)
    for _ in range(draw.choice([0, 1, 1, 1, 2])):
        try:
            entries, data = change_parts(draw, list(entries), data)
        except (KeyError, TypeError, IndexError, ValueError):
            pass  # of what the change before left, there is nothing to change in this way
    header, data = write(draw, entries, data)
    if draw.random() < 0.4:
        header = change_bytes(draw, header)
    size = len(header)
    if draw.random() < 0.05:
        size = draw.choice([0, 1, size - 1, size + 1, 2**32, 2**63, 100_000_001, len(header) + data, len(header) + data + 1])
    file = struct.pack('<Q', max(0, size)) + header + bytes(data)
    return file[:draw.randrange(9)] if draw.random() < 0.005 else file


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    draw = random.Random(20261123)
    files = [make(draw) for _ in range(count)]
    answer = subprocess.run([program], input=b''.join(struct.pack('<I', len(file)) + file for file in files), stdout=subprocess.PIPE, check=True).stdout
    assert len(answer) == count, f'found {len(answer)} verdicts, expected {count}'
    allowed, refused, stricter, wrong = 0, 0, {'null_metadata': 0, 'zero_byte': 0, 'deep': 0}, 0
    for file, letter in zip(files, answer.decode()):
        try:
            known, why = verdict(file), 'the rules allow it'
            if known:
                stricter[known] += 1
            expected = 'r' if known else 'a'
        except Broken as error:
            expected, why = 'r', str(error)
        allowed += letter == 'a'
        refused += letter == 'r'
        if letter != expected:
            wrong += 1
            if wrong <= 10:
                print(f'found {letter}, expected {expected} ({why}): {file[:8].hex()} {file[8:400]}')
    print(f'{count} files: {allowed} opened, {refused} refused, stricter than the rules: {stricter}, wrong: {wrong}')
    # a generator that makes only one kind would show nothing
    sys.exit(wrong > 0 or allowed < count / 20 or refused < count / 20 or not all(stricter.values()))


main()
