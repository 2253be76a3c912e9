#!/bin/sh
# heed maps on files that other programs made: every form that is read, and a sentence for each other one.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

# make NAME METADATA TENSOR...: $bad/NAME, of tensors "name dtype 1,2,3 numbers"; METADATA in JSON, or "". Numbers: one for each element,
# one for all of them, "maps" for rows that sum to 1, or "ramp": 0, 1, 2 ...
cat >"$bad/make.py" <<'PYTHON'
import json, struct, sys
sizes = {'F64': 8, 'F32': 4, 'F16': 2, 'BF16': 2, 'I64': 8, 'I32': 4, 'I8': 1, 'U8': 1, 'BOOL': 1}
def packed(dtype, value):
    if dtype == 'BF16':
        return struct.pack('<f', value)[2:]
    code = {'F64': 'd', 'F32': 'f', 'F16': 'e', 'I64': 'q', 'I32': 'i', 'I8': 'b', 'U8': 'B', 'BOOL': 'B'}[dtype]
    return struct.pack('<' + code, value if code in 'dfe' else int(value))
def weights(shape):  # row i: 1/2 for token i, the rest shared
    tokens = shape[-1]
    rows = 1
    for side in shape[:-1]:
        rows *= side
    return [0.5 if k == i % tokens else 0.5 / (tokens - 1) for i in range(rows) for k in range(tokens)]
path, metadata, *tensors = sys.argv[1:]
header, data = ({'__metadata__': json.loads(metadata)} if metadata else {}), b''
for tensor in tensors:
    name, dtype, shape, numbers = tensor.split()
    shape = [int(side) for side in shape.split(',')]
    count = 1
    for side in shape:
        count *= side
    if numbers == 'maps':
        values = weights(shape)
    elif numbers == 'ramp':
        values = range(count)
    else:
        values = [float(number) for number in numbers.split(',')]
        values = values * count if len(values) == 1 else values
    begin = len(data)
    data += b''.join(packed(dtype, value) for value in values)
    assert len(data) - begin == count * sizes[dtype]
    header[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [begin, len(data)]}
text = json.dumps(header).encode()
open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)
PYTHON
make() {
  made=$1
  shift
  python3 "$bad/make.py" "$bad/$made" "$@" || exit 1
}

# ------------------------------------------------------------------------------------------------------------------ what is read

reads() { # name, a part of the first line; the file is $bad/name
  test_begin "$1"
  heed maps "$bad/$1"
  expect_exit 0
  expect_stderr_empty
  expect_stdout_contains "$2"
  test_end
}

for dtype in F64 F32 F16 BF16; do
  make "of_$dtype" '' "attention.0 $dtype 1,2,5,5 maps" "attention.1 $dtype 1,2,5,5 maps"
  reads "of_$dtype" "maps of 2 layers x 2 heads, 5 tokens = 2 x 2 patches and 1 prefix tokens"
done
newline=$(printf '\n.')
IFS=${newline%.}
# shellcheck disable=SC2046 # a line is an argument
set -- $(awk 'BEGIN { for (i = 0; i < 1000; i++) printf "attention.%d F32 1,2,2 0.5\n", i }')
unset IFS
make layers_1000 '{"grid": "1 1 1"}' "$@"
reads layers_1000 "maps of 1000 layers x 1 heads, 2 tokens = 1 x 1 patches and 1 prefix tokens"
make no_batch '' 'attention.0 F32 3,5,5 maps'
reads no_batch "maps of 1 layers x 3 heads, 5 tokens = 2 x 2 patches and 1 prefix tokens"
# The square is that of the first number of prefix tokens that leaves one: 1, 0, 5, 2, 4, 3.
for grid in '10 3 1' '4 2 0' '9 3 0' '14 3 5' '6 2 2' '8 2 4' '7 2 3' '197 14 1' '201 14 5'; do
  # shellcheck disable=SC2086 # words
  set -- $grid
  make "tokens_$1" '' "attention.0 F32 1,$1,$1 maps"
  reads "tokens_$1" "$1 tokens = $2 x $2 patches and $3 prefix tokens"
done
make grid '{"grid": "2 3 1"}' 'attention.0 F32 1,7,7 maps'
reads grid "7 tokens = 2 x 3 patches and 1 prefix tokens"
make zeros '' 'attention.0 F32 1,4,4 0'
reads zeros "4 tokens = 2 x 2 patches"
make from '{"provenance": "elsewhere", "changes": "--without 0.1"}' 'attention.0 F32 1,5,5 maps'
reads from "from: elsewhere"
reads from "changed: --without 0.1"

test_begin names
make names '{"grid": "2 2 3", "prefix": "CLS, mean,extra one"}' 'attention.0 F32 1,7,7 maps'
heed maps "$bad/names" --query "extra one"
expect_exit 0
expect_stdout_contains "attention of extra one"
heed maps "$bad/names" --query mean
expect_stdout_contains "attention of mean"
make names_without '{"grid": "2 2 3"}' 'attention.0 F32 1,7,7 maps'
heed maps "$bad/names_without" --query "register 2"
expect_stdout_contains "attention of register 2"
test_end

# ------------------------------------------------------------------------------------------------------------------- order of tokens

# A graph whose patches come before CLS: its maps are saved in its own order, as heed eval gives them, and read in heed's.
test_begin order_of_a_graph
python3 - "$vectors/onnx/model.onnx" "$bad/behind.onnx" <<'PYTHON' || fail "no graph"
import sys
data = open(sys.argv[1], 'rb').read()
first, second = b'\n\x10/Expand_output_0', b'\n\x13/Transpose_output_0'
assert data.count(first + second) == 1
open(sys.argv[2], 'wb').write(data.replace(first + second, second + first))
PYTHON
heed run "$bad/behind.onnx" --json run.json --query 1,2 --backend cpu --quiet
heed run "$bad/behind.onnx" --save saved.safetensors --backend cpu --quiet
expect_exit 0
expect_stdout_contains "tokens in heed's order"
heed eval "$bad/behind.onnx" saved.safetensors -o own.safetensors --way reference --quiet
expect_exit 0
heed maps saved.safetensors --json maps.json --query 1,2
expect_exit 0
python3 - "$here" 2>>"$err" <<'PYTHON' || fail "other maps"
import json, struct, sys
def opened(name):
    data = open(sys.argv[1] + '/' + name, 'rb').read()
    size = 8 + struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:size])
    return header, lambda tensor: struct.unpack('<%df' % ((header[tensor]['data_offsets'][1] - header[tensor]['data_offsets'][0]) // 4),
                                                data[size + header[tensor]['data_offsets'][0]:size + header[tensor]['data_offsets'][1]])
header, saved = opened('saved.safetensors')
_, own = opened('own.safetensors')
tokens, layers = 26, 2
assert header['__metadata__']['tokens'].split() == [str(i) for i in [25, *range(25)]], header
for layer in range(layers):
    name = 'attention.%d' % layer
    assert max(abs(a - b) for a, b in zip(saved(name), own(name), strict=True)) <= 2e-5, name
heads = len(own('attention.0')) // tokens ** 2
rollout = [[float(i == k) for k in range(tokens)] for i in range(tokens)]
for layer in range(layers):
    maps = own('attention.%d' % layer)
    mixed = [[0.5 * (i == k) + 0.5 / heads * sum(maps[(h * tokens + i) * tokens + k] for h in range(heads)) for k in range(tokens)] for i in range(tokens)]
    rollout = [[sum(mixed[i][j] * rollout[j][k] for j in range(tokens)) for k in range(tokens)] for i in range(tokens)]
assert max(abs(a - b) for a, b in zip(saved('rollout'), sum(rollout, []), strict=True)) <= 2e-5, 'rollout'
one, two = (json.load(open(sys.argv[1] + '/' + name))['results'][0] for name in ('run.json', 'maps.json'))
for key in 'query_token', 'heads', 'grid', 'prefix':
    assert one[key] == two[key], key
PYTHON
test_end
"$program" run "$vectors/vit/micro_32" --query 1,0 --save "$bad/narrowed.safetensors" --backend cpu --quiet >/dev/null
bad_input narrowed "narrowed.safetensors: only a part of the maps (found query patch (1, 0), expected a file saved without --layer, --head and --query)" \
  maps "$bad/narrowed.safetensors"
for order in '' '0 1 2 3' '0 1 2 3 3' '0 1 2 3 5' '0 1 2 3 4 ' '0  1 2 3 4' '-1 1 2 3 4' '0 1 2 3 4 5' '0 1 2 3 x'; do
  bad_order="invalid tokens (found \"$order\", expected each of 0 to 4 once)"
  make bad_order "{\"tokens\": \"$order\"}" 'attention.0 F32 1,5,5 maps'
  bad_input "order_${order:-empty}" "$bad_order" maps "$bad/bad_order"
done

# ----------------------------------------------------------------------------------------------------------- patches and pictures

# The mean distance of a head, in pixels: as many times as far as patches are large.
distance() { # file
  heed maps "$bad/$1" --json out.json
  expect_exit 0
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["results"][0]["heads"][0]["distance"])' "$here/out.json" 2>>"$err" || fail "$1: no distance"
}

test_begin patch
make patch_1 '' 'attention.0 F32 1,5,5 maps'
make patch_16 '{"patch": "16"}' 'attention.0 F32 1,5,5 maps'
make patch_values '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 1,3,32,32 ramp'
make patch_uneven '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 1,3,32,64 ramp'
make patch_rest '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 1,3,33,33 ramp'
make patch_other '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 3,32,32 ramp'
one=$(distance patch_1) sixteen=$(distance patch_16)
awk -v a="$one" -v b="$sixteen" 'BEGIN { exit !(a > 0 && (b - 16 * a) ^ 2 < 1e-6) }' || fail "distances: found $one and $sixteen"
[ "$(distance patch_values)" = "$sixteen" ] || fail "pixel_values: another patch than 16"
for file in patch_uneven patch_rest patch_other; do [ "$(distance $file)" = "$one" ] || fail "$file: another patch than 1"; done
test_end

# The picture below the maps: bytes before values, grey without one. Constant and missing numbers are no picture, and no fault.
test_begin pictures
make grey '' 'attention.0 F32 1,5,5 maps'
make bytes '' 'attention.0 F32 1,5,5 maps' 'picture U8 8,8,3 200' 'pixel_values F32 1,3,8,8 ramp'
make white '' 'attention.0 F32 1,5,5 maps' 'picture U8 8,8,3 200'
make values '' 'attention.0 F32 1,5,5 maps' 'pixel_values F16 1,3,8,8 ramp'
make floats '' 'attention.0 F32 1,5,5 maps' 'picture F32 8,8,3 200' 'pixel_values I32 1,3,8,8 ramp'
make channels '' 'attention.0 F32 1,5,5 maps' 'picture U8 8,8,4 200' 'pixel_values F32 1,4,8,8 ramp'
make constant '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 1,3,8,8 7'
make missing '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 1,3,8,8 nan'
for file in grey bytes white values floats channels constant missing; do
  cp "$bad/$file" "$bad/one" # the figure names its file
  heed maps "$bad/one" --maps $file.png
  expect_exit 0
  [ -n "$lacking" ] || expect_file $file.png
  cp "$here/$file.png" "$bad/$file.png" 2>/dev/null || true
done
if [ -z "$lacking" ]; then
  same() { cmp -s "$bad/$1.png" "$bad/$2.png"; }
  same bytes white || fail "bytes: pixel_values are shown"
  ! same grey white || fail "white: grey"
  ! same grey values || fail "values: grey"
  for file in floats channels; do same grey $file || fail "$file: not grey"; done
fi
test_end

# ---------------------------------------------------------------------------------------------------------------- what is refused

refused() { # name, a part of the sentence, metadata, tensors...
  refused=$1 sentence=$2
  shift 2
  make "$refused" "$@"
  bad_input "$refused" "$sentence" maps "$bad/$refused" --json out.json
}

for dtype in I32 I8 U8; do
  refused "whole_$dtype" "invalid tensor attention.0 (found $dtype [1, 5, 5], expected floats [1, H, T, T], the same in every layer)" '' "attention.0 $dtype 1,5,5 0"
done
refused hole "missing tensor attention.1 (found attention.2, expected at most 1000 layers without a gap)" '' 'attention.0 F32 1,5,5 maps' 'attention.2 F32 1,5,5 maps'
refused far_hole "missing tensor attention.1 (found attention.4294967295, expected at most 1000 layers without a gap)" '' 'attention.0 F32 1,5,5 maps' 'attention.4294967295 F32 1,5,5 maps'
newline=$(printf '\n.')
IFS=${newline%.}
# shellcheck disable=SC2046 # a line is an argument
set -- $(awk 'BEGIN { for (i = 0; i <= 1000; i++) printf "attention.%d F32 1,2,2 0.5\n", i }')
unset IFS
refused layer_1001 "too many layers (found attention.1000, expected at most 1000 layers)" '' "$@"
set --
refused booleans "invalid tensor attention.0 (found BOOL" '' 'attention.0 BOOL 1,5,5 0'
refused two_axes "found F32 [5, 5], expected floats" '' 'attention.0 F32 5,5 maps'
refused two_pictures "found F32 [2, 1, 5, 5], expected floats" '' 'attention.0 F32 2,1,5,5 maps'
refused five_axes "found F32 [1, 1, 1, 5, 5], expected floats" '' 'attention.0 F32 1,1,1,5,5 maps'
refused not_square "found F32 [1, 5, 4], expected floats" '' 'attention.0 F32 1,5,4 maps'
refused one_token "found F32 [2, 1, 1], expected floats" '' 'attention.0 F32 2,1,1 1'
refused other_heads "invalid tensor attention.1 (found F32 [2, 5, 5]" '' 'attention.0 F32 1,5,5 maps' 'attention.1 F32 2,5,5 maps'
refused other_tokens "invalid tensor attention.1 (found F32 [4, 2, 2]" '' 'attention.0 F32 1,4,4 maps' 'attention.1 F32 4,2,2 maps'
refused scores "layer 0, head 0, row 1: not weights after a softmax (found -2 at least and a sum of 1, expected 0 and 1)" '' 'attention.0 F32 1,2,2 0.5,0.5,3,-2'
refused sums "layer 1, head 1, row 0: not weights after a softmax (found 0 at least and a sum of 1.1, expected 0 and 1)" '' \
  'attention.0 F32 2,4,4 maps' 'attention.1 F32 2,4,4 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1,0.5,0.6,0,0,0,1,0,0,0,0,1,0,0,0,0,1'
refused not_numbers "found nan at least" '' 'attention.0 F32 1,4,4 nan'
refused infinite "a sum of inf" '' 'attention.0 F32 1,4,4 inf'
refused no_square "cannot infer the patch grid from 3 tokens (expected metadata grid" '' 'attention.0 F32 1,3,3 maps'
for grid in '2 2' '2 2 1 4' '2 2 2' '0 5 0' '5 0 5' '2.5 2 0' 'two two one' ''; do
  refused "grid_${grid:-empty}" "invalid grid (found \"$grid\", expected rows, columns and prefix tokens of 5 tokens)" "{\"grid\": \"$grid\"}" 'attention.0 F32 1,5,5 maps'
done
for names in CLS 'CLS, a, b' 'CLS,' ',a' '' 'CLS, a name of more than 23 bytes'; do
  refused "prefix_${names:-empty}" "invalid prefix (found \"$names\", expected 2 names of at most 23 bytes)" "{\"grid\": \"2 2 2\", \"prefix\": \"$names\"}" 'attention.0 F32 1,6,6 maps'
done
for patch in 0 16px -1 65537 ''; do
  refused "side_${patch:-empty}" "invalid patch (found \"$patch\", expected 1 to 65536 pixels)" "{\"patch\": \"$patch\"}" 'attention.0 F32 1,5,5 maps'
done

refused nothing "missing tensor attention.0 (expected a file written by heed run --save" '' 'other F32 1,5,5 maps'
refused no_heads "found F32 [0, 5, 5], expected floats" '' 'attention.0 F32 0,5,5 0'
refused no_pixels "image too small or too large (found 0 x 8)" '' 'attention.0 F32 1,5,5 maps' 'picture U8 8,0,3 0'
refused no_rows "image too small or too large (found 8 x 0)" '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 1,3,0,8 0'
refused other_rows "invalid tensor attention.1" '' 'attention.0 F32 1,4,4 maps' 'attention.1 F32 1,4,5 maps'
# Infinite values make no picture, and none of more pictures than one, of whole numbers, or of a type that is not read.
test_begin no_picture
make infinite_values '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 1,3,8,8 inf'
make two_values '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 2,3,8,8 ramp'
make bool_values '' 'attention.0 F32 1,5,5 maps' 'picture BOOL 8,8,3 1' 'pixel_values BOOL 1,3,8,8 1'
make int8_values '' 'attention.0 F32 1,5,5 maps' 'picture U8 8,8 1' 'pixel_values I8 1,3,8,8 1'
make u8_values '' 'attention.0 F32 1,5,5 maps' 'pixel_values U8 1,3,8,8 1'
for file in infinite_values two_values bool_values int8_values u8_values; do
  heed maps "$bad/$file" --reverse --json out.json
  expect_exit 0
  expect_stdout_contains "attention to "
done
test_end

test_begin usage
heed maps "$bad/grey" "$bad/grey"
expect_exit 2
expect_stderr_contains "wrong arguments (found 2 files, expected one file)"
heed maps "$bad/grey" --query 9,9
expect_exit 2
heed maps "$bad/grey" --layer 9
expect_exit 2
make uneven_width '' 'attention.0 F32 1,5,5 maps' 'pixel_values F32 1,3,32,33 ramp'
heed maps "$bad/uneven_width"
expect_exit 0
test_end

test_begin outputs_that_cannot_be_written
for option in --json --maps --rollout; do
  heed maps "$bad/grey" $option none/out.json
  [ "$status" -ne 0 ] || fail "$option: exit code 0"
  heed maps "$bad/grey" $option none/out.png
  [ "$status" -ne 0 ] || fail "$option: exit code 0"
done
lacking=''
test_end
allocations_fail maps maps "$bad/bytes" --json out.json
allocations_fail values maps "$bad/values" --json out.json --query 1,1

tests_end
