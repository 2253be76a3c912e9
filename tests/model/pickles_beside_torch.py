"""Files that torch.save wrote, and mutations of them, by heed's reader and by torch.load: the same values, or heed refuses.

pickles_beside_torch.py PROGRAM [COUNT]. PROGRAM is pickle_tensors. torch reads with weights_only, so that nothing is run. Where torch
refuses a mutated file that heed reads, shapes and types are those of the whole file; heed does not check the sums of zip's entries,
so that bytes of a storage may differ.
"""
import io
import json
import random
import struct
import subprocess
import sys

try:
    import torch
except ImportError:
    print('skipped: no torch here')
    sys.exit(77)

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]


def tensor(draw, others):
    shape = [draw.choice([1, 2, 3, 4]) for _ in range(draw.randrange(4))]
    made = (torch.randint(-20, 20, shape, generator=GENERATOR) * 0.5).to(draw.choice(TYPES))
    way = draw.randrange(6)
    if way == 0 and made.dim() > 1:
        return made.transpose(0, 1)
    if way == 1 and made.dim():
        return made[made.shape[0] // 2:]
    if way == 2 and made.dim():
        return made[::2]
    if way == 3 and others:
        return draw.choice(others)
    if way == 4 and others and others[-1].dim():
        return others[-1][:1]
    return made


def state(draw):
    names, tensors = {}, []
    for i in range(1 + draw.randrange(4)):
        made = tensor(draw, tensors)
        tensors.append(made)
        names[draw.choice(['layer', 'head']) + f'.{i}.weight'] = torch.nn.Parameter(made) if made.is_floating_point() and draw.random() < 0.2 else made
    return {'state_dict': names, 'epoch': 3} if draw.random() < 0.2 else names


def mutate(draw, file):
    file = bytearray(file)
    for _ in range(1 + draw.randrange(3)):
        at = draw.randrange(min(len(file), 900))
        file[at] = draw.choice([0, 1, 2, 255, draw.randrange(256), file[at] ^ 1 << draw.randrange(8)])
    return bytes(file)


def flat(found):
    if not isinstance(found, dict):
        return None
    if isinstance(found.get('state_dict'), dict):
        found = found['state_dict']
    return {name: one.detach() for name, one in found.items() if isinstance(one, torch.Tensor)}


def by_torch(file):
    try:
        return flat(torch.load(io.BytesIO(file), map_location='cpu', weights_only=True))
    except Exception:  # whatever it says of a file that is broken
        return None


DTYPES = {'F32': torch.float32, 'F64': torch.float64, 'F16': torch.float16, 'BF16': torch.bfloat16, 'I64': torch.int64, 'I32': torch.int32,
          'I16': torch.int16, 'I8': torch.int8, 'U8': torch.uint8, 'BOOL': torch.bool}


def by_heed(file):
    size = struct.unpack('<Q', file[:8])[0]
    found = {}
    for name, entry in json.loads(file[8:8 + size]).items():
        if name == '__metadata__':
            continue
        begin, end = entry['data_offsets']
        data = bytearray(file[8 + size + begin:8 + size + end])
        kind = DTYPES[entry['dtype']]
        found[name] = torch.frombuffer(data, dtype=kind).reshape(entry['shape']) if data else torch.empty(entry['shape'], dtype=kind)
    return found


def bits(tensor):
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    flat_copy = torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor).reshape(-1)
    return flat_copy if tensor.dtype is torch.bool else flat_copy.view(kinds[tensor.element_size()])


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(bits(a), bits(b))


def equals(found, right):
    """Each tensor that heed found is torch's, byte for byte."""
    return all(name in right and same(one, right[name]) for name, one in found.items())


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    draw = random.Random(54)
    cases = []
    for _ in range(count):
        kept = io.BytesIO()
        torch.save(state(draw), kept, _use_new_zipfile_serialization=draw.random() < 0.6)
        whole = kept.getvalue()
        cases.append((whole, mutate(draw, whole) if draw.random() < 0.6 else whole))
    given = b''.join(struct.pack('<I', len(file)) + file for _, file in cases)
    out = subprocess.run([sys.argv[1]], input=given, capture_output=True, check=True).stdout
    at = wrong = equal = refused = more = 0
    for index, (whole, file) in enumerate(cases):
        length = struct.unpack('<I', out[at:at + 4])[0]
        made, at = out[at + 4:at + 4 + length], at + 4 + length
        if not length:
            refused += 1
            if file == whole and all(one.is_contiguous() for one in by_torch(whole).values()):
                print(f'case {index}: a whole file is refused')
                wrong += 1
            continue
        found, right = by_heed(made), by_torch(file)
        if right is None:
            more += 1
            right = by_torch(whole)
            if all(name in right and one.shape == right[name].shape and one.dtype == right[name].dtype for name, one in found.items()):
                found = right
        if equals(found, right) and (file != whole or len(found) == len(right)):
            equal += 1
            continue
        wrong += 1
        if wrong <= 10:
            print(f'case {index}: found {found}, expected {right}')
    print(f'{count} files: {equal} equal, of which torch refuses {more}; heed refuses {refused}; {wrong} differ')
    return 1 if wrong else 0


GENERATOR = torch.Generator().manual_seed(7)
if __name__ == '__main__':
    sys.exit(main())
