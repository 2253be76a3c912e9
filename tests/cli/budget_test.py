#!/usr/bin/env python3
"""budget_test.py HEED SOURCES: what is made to cost much costs little.

Files of a few bytes that ask for gigabytes or hours, and larger ones with very many parts, by each verb that reads them.
Each ends with 0 or 3, one sentence where it is refused, within 100 MB and eight times the file, and two seconds of processor time.
So do files of earlier faults (tests/vectors/reproducers), each with its sentence. Each limit's option allows more, or less.
docs/limits.md has the numbers. HEED_SHOW=1 prints the cost of each. --only TEXT runs those whose name has the text.
"""
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

HEED, SOURCES = sys.argv[1], Path(sys.argv[2])
ONLY = sys.argv[sys.argv.index('--only') + 1] if '--only' in sys.argv else ''
IMAGE = SOURCES / 'runtime/demo/exact_224.png'
MEMORY, OF_FILE, SECONDS = 100 << 20, 8, 2.0

# ------------------------------------------------------------------------------------------------------------------ ONNX


def varint(number):
    number &= (1 << 64) - 1
    out = b''
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    if isinstance(value, int):
        return field(5, field(1, name) + field(3, value) + field(20, 2))
    if isinstance(value, str):
        return field(5, field(1, name) + field(4, value) + field(20, 3))
    if isinstance(value, bytes):  # a graph
        return field(5, field(1, name) + field(6, value) + field(20, 5))
    return field(5, field(1, name) + b''.join(field(8, one) for one in value) + field(20, 7))


def node(op, inputs, outputs, domain='', **attributes):
    out = b''.join(field(1, name) for name in inputs.split(',') if inputs) + b''.join(field(2, name) for name in outputs.split(','))
    out += field(4, op) + b''.join(attribute(name, value) for name, value in attributes.items())
    return field(1, out + (field(7, domain) if domain else b''))


def value(name, *dims, kind=1):
    shape = b''.join(field(1, field(1, size)) for size in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def initializer(name, numbers):
    return field(5, field(1, len(numbers)) + field(2, 7) + field(8, name) + field(9, struct.pack(f'<{len(numbers)}q', *numbers)))


def onnx(graph, opset=17, more=b''):
    return field(1, 8) + field(7, graph) + field(8, field(1, '') + field(2, opset)) + more


X = field(11, value('x', 2, 2))
Y = field(12, value('y', 2, 2))
BIG = 1 << 29


def filled(name, *sizes):
    return initializer(f'{name}s', list(sizes)) + node('ConstantOfShape', f'{name}s', name)


def onnx_files():
    relu = node('Relu', 'x', 'y') + X + Y
    one = initializer('one', [1])
    yield 'no_name', onnx(node('Relu', 'x', 'y') + field(11, value('', 2, 2)) + X + Y)
    yield 'no_condition', onnx(node('If', '', 'y', then_branch=node('Relu', 'x', 'a') + field(12, value('a')),
                                    else_branch=node('Neg', 'x', 'b') + field(12, value('b'))) + X + Y)
    yield 'constant', onnx(filled('c', BIG) + node('Add', 'x,c', 'y') + X + Y)
    yield 'expand', onnx(initializer('s', [BIG]) + node('Expand', 'one,s', 'y') + one + X + Y)
    yield 'tile', onnx(initializer('s', [BIG]) + node('Tile', 'one,s', 'y') + one + X + Y)
    yield 'pad', onnx(initializer('s', [0, BIG]) + node('Pad', 'one,s', 'y') + one + X + Y)
    yield 'one_hot', onnx(initializer('s', [BIG]) + initializer('v', [0, 1]) + node('OneHot', 'one,s,v', 'y') + X + Y + one)
    yield 'range', onnx(field(5, field(2, 7) + field(8, 'a') + field(9, b'\0' * 8)) +
                        field(5, field(2, 7) + field(8, 'b') + field(9, struct.pack('<q', BIG))) +
                        field(5, field(2, 7) + field(8, 'c') + field(9, struct.pack('<q', 1))) + node('Range', 'a,b,c', 'y') + X + Y)
    yield 'matmul', onnx(filled('c', 16000, 16000) + node('MatMul', 'c,c', 'y') + X + Y)
    yield 'einsum', onnx(filled('c', 3000, 3000) + node('Einsum', 'c,c', 'y', equation='ij,kj->ikj') + X + Y)
    yield 'resize', onnx(filled('c', 1, 1, 4, 4) + initializer('s', [1, 1, 30000, 30000]) + node('Resize', 'c,,,s', 'y', mode='linear') + X + Y)
    yield 'pool', onnx(filled('c', 1, 1, 4, 4) + node('MaxPool', 'c', 'y', kernel_shape=[1 << 30, 1], pads=[1 << 29, 0, 1 << 29, 0]) + X + Y)
    yield 'average', onnx(filled('c', 1, 1, 4, 4) + node('AveragePool', 'c', 'y', kernel_shape=[1 << 30, 1], pads=[1 << 29, 0, 1 << 29, 0]) + X + Y)
    yield 'conv', onnx(filled('c', 1, 1, 4, 4) + filled('w', 1, 1, 3, 3) + node('Conv', 'c,w', 'y', pads=[1 << 15] * 4) + X + Y)
    yield 'doubling', onnx(b''.join(node('Concat', f'v{i},v{i}', f'v{i + 1}', axis=0) for i in range(40)) + node('Identity', 'v40', 'y') +
                           initializer('v0', [1]) + X + Y)
    yield 'doubling_computed', onnx(node('Identity', 'x', 'v0') + b''.join(node('Concat', f'v{i},v{i}', f'v{i + 1}', axis=0)
                                                                          for i in range(40)) + node('Identity', 'v40', 'y') + X + Y)
    yield 'outer', onnx(initializer('s', [-1, 1]) + node('Reshape', 'x,s', 'v0') + b''.join(
        node('Add', f'v{i},w{i}', f'a{i}') + initializer(f's{i}', [1, -1]) + node('Reshape', f'a{i},s{i}', f'w{i + 1}') +
        initializer(f't{i}', [-1, 1]) + node('Reshape', f'a{i},t{i}', f'v{i + 1}') for i in range(8)) + initializer('r', [1, -1]) +
                        node('Reshape', 'x,r', 'w0') + node('Identity', 'a7', 'y') + X + Y)
    calls = b''
    for i in range(24):  # each calls the last one twice
        inner = node('Neg', 'x', 'a') + node('Neg', 'a', 'y') if not i else node(f'f{i - 1}', 'x', 'a', 'my') + node(f'f{i - 1}', 'a', 'y', 'my')
        body = field(1, f'f{i}') + field(4, 'x') + field(5, 'y')
        at = 0
        while at < len(inner):  # nodes are field 7 of a function
            length = inner[at + 1]
            body += field(7, inner[at + 2:at + 2 + length])
            at += 2 + length
        calls += field(25, body + field(9, field(1, '') + field(2, 17)) + field(10, 'my'))
    yield 'functions', onnx(node('f23', 'x', 'y', 'my') + X + Y, 17, field(8, field(1, 'my') + field(2, 1)) + calls)
    deep = node('Relu', 'x', 'a') + field(12, value('a'))
    for _ in range(200):
        deep = node('If', 'x', 'a', then_branch=deep, else_branch=node('Neg', 'x', 'a') + field(12, value('a'))) + field(12, value('a'))
    yield 'deep', onnx(deep + X)
    yield 'dims', onnx(field(5, b''.join(field(1, 1 << 31) for _ in range(8)) + field(2, 1) + field(8, 'w')) + node('Add', 'x,w', 'y') + X + Y)
    yield 'negative', onnx(field(5, field(1, -1) + field(2, 1) + field(8, 'w')) + node('Add', 'x,w', 'y') + X + Y)
    yield 'many_nodes', onnx(b'\x0a\x00' * 1_000_000)
    yield 'many_inputs', onnx(relu + b''.join(field(11, value(b'%x' % i, 1)) for i in range(100_000)))
    heads = [node('MatMul', 'x,x', f'm{i}') + node('Softmax', f'm{i}', f's{i}') + node('MatMul', f's{i},x', f'v{i}') for i in range(15_000)]
    yield 'attentions', onnx(b''.join(heads[:10_000]) + X + field(12, value('v0', 2, 2)))
    yield 'many_attentions', onnx(b''.join(heads) + X + field(12, value('v0', 2, 2)))
    yield 'many_attributes', onnx(b'') + (b'\x0a' + varint(2_000_000) + b'\x2a\x00' * 1_000_000) * 2
    yield 'node_lists', onnx((b'\x0a' + varint(1_000_000) + b'\x0a\x00' * 500_000) * 10)
    yield 'graphs', onnx(node('Relu', 'x', 'y') + X + Y + field(1, b''.join(attribute(f'a{i}', b'\x0a\x00' * 100_000) for i in range(60))))
    yield 'many_identities', onnx(b''.join(node('Identity', f'v{i}' if i else 'x', f'v{i + 1}') for i in range(60_000)) + X + field(12, value('v60000')))
    yield 'many_weights', onnx(b''.join(field(5, field(1, 0) + field(2, 1) + field(8, f'w{i}')) for i in range(100_000)) + relu)
    yield 'many_readers', onnx(b''.join(node('Relu', 'x', f'v{i}') for i in range(60_000)) + X + field(12, value('v0')))
    yield 'many_outputs', onnx(node('Relu', 'x', 'y') + X + Y * 100_000)


def eval_inputs(path, dims=(2, 2)):
    count = dims[0] * dims[1]
    header = json.dumps({'x': {'dtype': 'F32', 'shape': dims, 'data_offsets': [0, 4 * count]}}).encode()
    path.write_bytes(struct.pack('<Q', len(header)) + header + struct.pack(f'<{count}f', *range(1, count + 1)))


# ----------------------------------------------------------------------------------------------------------- PyTorch, JSON


def text(words):
    return b'X' + struct.pack('<I', len(words)) + words.encode()


def number(value):
    return b'K' + bytes([value]) if 0 <= value < 256 else b'J' + struct.pack('<i', value)


def pickled(path, pickle, storage=b'\0' * 64, members=()):
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_STORED) as file:
        file.writestr('a/data.pkl', pickle)
        file.writestr('a/data/0', storage)
        file.writestr('a/version', '3\n')
        for name in members:
            file.writestr(name, b'')


def tensors_of_one_storage(elements, count, stride):
    def put(code, index):
        return code + b'r' + struct.pack('<I', index) + b'0'
    keep = b'\x80\x02' + put(b'(' + text('storage') + b'ctorch\nFloatStorage\n' + text('0') + text('cpu') + number(elements) + b'tQ', 1)
    keep += put(b'ctorch._utils\n_rebuild_tensor_v2\n', 2) + put(b'(' + number(2) + b't', 3) + put(b'(' + number(stride) + b't', 4)
    keep += put(b'ccollections\nOrderedDict\n)R', 5)
    keep += put(b'(h\x01' + number(0) + b'h\x03h\x04\x89h\x05t', 7)
    return keep + b'}(' + b''.join(text(f'{i:x}') + b'h\x02h\x07R' for i in range(count)) + b'u.'


def pickle_files(folder):
    for name, pickle, storage, members in [
            ('views', tensors_of_one_storage(250_000, 100_000, 249_999), b'\0' * 1_000_000, ()),
            ('doubling', b'\x80\x02' + b'K\x01q\x00' + b''.join(b'h' + bytes([i]) + b'h' + bytes([i]) + b'\x86q' + bytes([i + 1]) for i in range(200)) + b'.', b'', ()),
            ('marks', b'\x80\x02' + b'(' * 2_000_000 + b'.', b'', ()),
            ('lists', b'\x80\x02' + b']0' * 2_000_000 + b'.', b'', ()),
            ('items', b'\x80\x02]' + b'Na' * 2_000_000 + b'.', b'', ()),
            ('nested', b'\x80\x02' + b']' * 100_000 + b'a' * 99_999 + b'.', b'', ()),
            ('texts', b'\x80\x02](' + text('x' * 5000) * 2_000 + b'e.', b'', ()),
            ('claims', b'\x80\x02X' + struct.pack('<I', 0xffffffff) + b'.', b'', ()),
            ('long', b'\x80\x02\x8b' + struct.pack('<i', 0x7fffffff) + b'.', b'', ()),
            ('memo', b'\x80\x02Nr\xff\xff\xff\x7f.', b'', ()),
            ('globals', b'\x80\x02(' + b'ctorch\nFloatStorage\n' * 100_000 + b't.', b'', ()),
            ('entries', b'\x80\x02}.', b'', [f'a/data/{i}' for i in range(1, 60_000)])]:
        path = folder / f'{name}.pth'
        pickled(path, pickle, storage, members)
        yield path
    path = folder / 'legacy.pth'
    path.write_bytes(b'\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}.' + b'\x80\x02' + b'(' * 1_000_000)
    yield path


def safetensors(path, header, data=b''):
    header = header if isinstance(header, bytes) else json.dumps(header, separators=(',', ':')).encode()
    path.write_bytes(struct.pack('<Q', len(header)) + header + data)
    return path


def weight_files(folder):
    yield safetensors(folder / 'many.safetensors', {f'w{i}': {'dtype': 'F32', 'shape': [0], 'data_offsets': [0, 0]} for i in range(60_000)})
    yield safetensors(folder / 'deep.safetensors', b'[' * 1_000_000)
    yield safetensors(folder / 'values.safetensors', b'{"__metadata__":[' + b'1,' * 1_000_000 + b'1]}')
    yield safetensors(folder / 'axes.safetensors', {'w': {'dtype': 'F32', 'shape': [1] * 200_000, 'data_offsets': [0, 4]}}, b'\0' * 4)
    path = folder / 'claims.safetensors'
    path.write_bytes(struct.pack('<Q', 99_999_999) + b'{}')
    yield path


def config_folders(folder):
    source = SOURCES / 'tests/vectors/vit/hf_vit'
    config = json.loads((source / 'config.json').read_text())
    weights = next(source.glob('model*.safetensors')).read_bytes()
    for name, change in [('layers', {'num_hidden_layers': 1048576}), ('image', {'image_size': 1048576}), ('width', {'hidden_size': 1048576}),
                         ('heads', {'num_attention_heads': 1048576}), ('inner', {'intermediate_size': 1048576}),
                         ('labels', {'id2label': {str(i): 'x' for i in range(200_000)}}),
                         ('patch', {'patch_size': 1, 'image_size': 1048576})]:
        made = folder / name
        made.mkdir()
        (made / 'config.json').write_text(json.dumps(config | change))
        (made / 'model.safetensors').write_bytes(weights)
        yield made
    made = folder / 'preprocessor'
    made.mkdir()
    (made / 'config.json').write_text(json.dumps(config))
    (made / 'model.safetensors').write_bytes(weights)
    (made / 'preprocessor_config.json').write_text(json.dumps({'do_resize': True, 'size': {'height': 1 << 20, 'width': 1 << 20}}))
    yield made


def tokenizer_folders(folder):
    source = SOURCES / 'tests/vectors/vit/clip_text'
    whole = json.loads((source / 'tokenizer.json').read_text())
    step = {'type': 'Replace', 'pattern': {'String': 'a'}, 'content': 'a' * 63}
    flags = {'single_word': False, 'lstrip': False, 'rstrip': False, 'normalized': False, 'special': True}
    added = [{'id': i % 28, 'content': f'zq{i:07d}'} | flags for i in range(100_000)]
    letters = ['a' * i for i in range(1, 200)]
    model = dict(whole['model'])
    model['vocab'] = model['vocab'] | {word: 400 + i for i, word in enumerate(letters) if word not in model['vocab']}
    for name, made in [('replace', whole | {'normalizer': {'type': 'Sequence', 'normalizers': [step] * 8}}), ('added', whole | {'added_tokens': added})]:
        into = folder / name
        into.mkdir()
        for file in source.iterdir():
            if file.name != 'tokenizer.json':
                (into / file.name).write_bytes(file.read_bytes())
        (into / 'tokenizer.json').write_text(json.dumps(made))
        yield into


# ------------------------------------------------------------------------------------------------------------ reproducers

# What each file is refused with, and the shape of its input where evaluation needs one to get there.
REFUSED = {
    'input_without_name.onnx': ('has no name', [2, 2]),
    'if_without_condition.onnx': ('its condition is missing', [2, 2]),
    'onnx_two_opsets3.onnx': ('two versions of the operator set ai.onnx (found 11 and 17', [2, 2]),
    'onnx_dup_attr_axis.onnx': ('an attribute is there twice: axis', [2, 3]),
    'onnx_leaky_alpha_i.onnx': ('attribute alpha has a value of another type than it says', [2, 3]),
    'onnx_init_shape_contra.onnx': ('input w is of another type or shape than its initializer', [2, 3]),
    'onnx_matmul_transA.onnx': ('attribute transA is none of this op in opset 17', [2, 3]),
    'onnx_softmax_is_causal.onnx': ('attribute is_causal is none of this op in opset 17', [2, 3]),
    'onnx_opset_future.onnx': ('opset 99 is newer than heed', [2, 3]),
    'onnx_ms_add.onnx': ('op not supported (found com.microsoft.Add of opset 1)', [2, 3]),
    'pickle_build_tensor.pth': ('a state that is set of a tensor', None),
    'pickle_neg_meta.pth': ('a view with "neg"', None),
    'pickle_operator_neg.pth': ('a call of operator.neg, which heed does not run', None),
    'pickle_two_folders_xba.pth': ('two pickles', None),
    'pickle_two_types.pth': ('storage 0 occurs with two lengths or element types', None),
}
# Their verbs read them whole, and say that they are no vision transformers; their numbers have tests of their own.
READ = ['fold_expand_4gb.onnx', 'fold_matmul_8gb.onnx', 'onnx_dot_injection.onnx', 'onnx_terminal_escape.onnx', 'onnx_reduce_noop.onnx',
        'onnx_resize10_down.onnx', 'pickle_memo_memoize2.pth', 'f64_beyond_f32.safetensors']


def reproducers(folder, out):
    source = SOURCES / 'tests/vectors/reproducers'
    known = {*REFUSED, *READ, 'tokenizer_replace_bomb.json'}
    found = {path.name for path in source.iterdir() if not path.name.endswith(('.in.safetensors', '.md'))}
    if known != found:
        failures.append(f'reproducers: not in the table, or missing: {sorted(known ^ found)}')
        print(failures[-1])
    for name, (words, dims) in REFUSED.items():
        path = source / name
        run(path, 'inspect', path, words=words)
        if dims is None:
            run(path, 'convert', path, '-o', out.with_suffix(''), '--weights', 'f16', words=words)
            continue
        inputs = folder / f'{path.stem}.in.safetensors'
        eval_inputs(inputs, dims)
        for way in 'graph', 'reference':
            run(path, 'eval', path, inputs, '-o', out, '--way', way, words=words.removeprefix('op not supported '))
        run(path, 'run', path, IMAGE, '--way', 'graph', words='')
    for name in READ:
        path = source / name
        run(path, 'inspect', path)
        if path.suffix == '.onnx':
            run(path, 'inspect', path, '--graph', 'dot')
            run(path, 'run', path, IMAGE, '--way', 'graph', words='')
        else:
            run(path, 'convert', path, '-o', out.with_suffix(''), '--weights', 'f16', words='')
    bomb = folder / 'replace_bomb'
    bomb.mkdir()
    for file in (SOURCES / 'tests/vectors/vit/clip_text').iterdir():
        (bomb / file.name).write_bytes(file.read_bytes())
    (bomb / 'tokenizer.json').write_bytes((source / 'tokenizer_replace_bomb.json').read_bytes())
    run(bomb, 'run', bomb, IMAGE, '--text', 'a')


# ------------------------------------------------------------------------------------------------------------------- runs

failures = []
worst = {'MB': (0, ''), 's': (0, '')}
count = 0


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def size_of(path):
    return sum(file.stat().st_size for file in path.iterdir()) if path.is_dir() else path.stat().st_size


def run(path, *arguments, words=None):
    global count
    what = ' '.join([arguments[0], path.name, *[one for one in map(str, arguments[2:]) if one.startswith('--')]])
    if ONLY not in what:
        return
    with tempfile.TemporaryFile() as said:
        arguments = [*map(str, arguments)] + (['--backend', 'cpu'] if arguments[0] in ('eval', 'run') else [])
        child = subprocess.Popen([HEED, *arguments], stdout=subprocess.DEVNULL, stderr=said, stdin=subprocess.DEVNULL, preexec_fn=limit)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        printed = said.read(100_000).decode(errors='replace').strip()
    memory, seconds = used.ru_maxrss * 1024, used.ru_utime + used.ru_stime
    count += 1
    for unit, cost in [('MB', memory / 1e6), ('s', seconds)]:
        worst[unit] = max(worst[unit], (round(cost, 2), what))
    if os.environ.get('HEED_SHOW'):
        print(f'{what}: {child.returncode}, {memory / 1e6:.0f} MB, {seconds:.2f} s: {printed.splitlines()[-1][:150] if printed else ""}')
    # a text that a tokenizer makes too long is an argument
    wrong = [f'exit code {child.returncode}'] if child.returncode not in ((0, 3, 2) if '--text' in what else (0, 3)) else []
    if child.returncode and not printed or 'wrong arguments' in printed:
        wrong.append('no sentence of the file')
    if words is not None and (child.returncode != 3 or words not in printed):
        wrong.append(f'exit code {child.returncode}, expected 3 and "{words}"')
    if memory > MEMORY + OF_FILE * size_of(path):
        wrong.append(f'{memory / 1e6:.0f} MB')
    if seconds > SECONDS:
        wrong.append(f'{seconds:.2f} s')
    if wrong:
        failures.append(what)
        print(f'{what}: {", ".join(wrong)}: {printed[:300]}')


def option(words, *arguments):
    """A run with a limit's own option; its sentence, or None where it succeeds."""
    global count
    what = ' '.join(Path(str(one)).name if i else one for i, one in enumerate(arguments))
    if ONLY not in what:
        return
    count += 1
    done = subprocess.run([HEED, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit)
    printed = done.stderr.decode(errors='replace').strip()
    if (done.returncode, words or '') != (3 if words else 0, words if words and words in printed else ''):
        failures.append(what)
        print(f'{what}: exit code {done.returncode}, expected {f"3 and {words}" if words else 0}: {printed[:300]}')


def options(folder, inputs, out):
    weights, expand, product = folder / 'many_weights.onnx', folder / 'elements.onnx', folder / 'steps.onnx'
    option('reading takes too much memory', 'inspect', weights)
    option(None, 'inspect', weights, '--most-reading', 10_000_000_000)
    option('reading takes too much memory (expected at most 1000 bytes', 'inspect', product, '--most-reading', 1000)
    option(None, 'inspect', product, '--most-reading', 0)
    for way in 'graph', 'reference':
        evaluate = 'eval', expand, inputs, '-o', out, '--backend', 'cpu', '--way', way
        option('its values are too large (expected at most ' if way == 'reference' else 'too large', *evaluate)
        option(None, *evaluate, '--most-elements', 100_000_000)
    option('computes too much (expected at most 1000 steps', 'eval', product, inputs, '-o', out, '--way', 'reference', '--most-steps', 1000)
    option('computes too much', 'inspect', product, '--plan')
    option(None, 'inspect', product, '--plan', '--most-steps', 1_000_000_000)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    inputs, out = folder / 'in.safetensors', folder / 'out.safetensors'
    eval_inputs(inputs)
    for stem, data in onnx_files():
        path = folder / f'{stem}.onnx'
        path.write_bytes(data)
        run(path, 'inspect', path)
        run(path, 'inspect', path, '--plan')
        run(path, 'inspect', path, '--graph', 'dot')
        run(path, 'eval', path, inputs, '-o', out, '--way', 'graph')
        run(path, 'eval', path, inputs, '-o', out, '--way', 'reference')
        run(path, 'run', path, IMAGE, '--way', 'graph')
    for path in [*pickle_files(folder), *weight_files(folder)]:
        run(path, 'inspect', path)
        run(path, 'convert', path, '-o', folder / f'{path.stem}.out', '--weights', 'f16')
    for path in config_folders(folder):
        run(path, 'inspect', path)
        run(path, 'run', path, IMAGE)
    for path in tokenizer_folders(folder):
        run(path, 'run', path, IMAGE, '--text', 'a')
    reproducers(folder, out)
    (folder / 'elements.onnx').write_bytes(onnx(initializer('s', [12_000_000]) + node('ReduceSum', 'x', 'a', keepdims=0) + node('Expand', 'a,s', 'b') +
                                                node('ReduceSum', 'b', 'y') + X + Y))
    (folder / 'steps.onnx').write_bytes(onnx(filled('c', 700, 700) + node('MatMul', 'c,c', 'd') + node('ReduceSum', 'd', 'e', keepdims=0) +
                                             node('Add', 'x,e', 'y') + X + Y))
    options(folder, inputs, out)
print(f'{count} runs; most memory {worst["MB"][0]} MB ({worst["MB"][1]}), most time {worst["s"][0]} s ({worst["s"][1]})')
print(f'{len(failures)} over the budget' if failures else 'all within the budget')
sys.exit(1 if failures else 0)
