#!/bin/sh
# How images are prepared: the files that say it, classes of processors that heed has not, images that cannot be fitted.
# shellcheck source=tests/cli/harness.sh
. "${0%/*}/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png

# model NAME: a copy of the micro model in $bad.
model() { cp -r "$micro" "$bad/$1"; }
# The pixel_values of a run, as bytes.
pixels_of() { # model, output
  heed run "$1" "$picture" --backend cpu --quiet --save "$2.safetensors"
  expect_exit 0
}
same_files() { cmp -s "$here/$1.safetensors" "$here/$2.safetensors" || fail "$1 and $2 have other numbers, expected the same"; }

clip='"image_processor_type": "CLIPImageProcessorFast", "size": {"shortest_edge": 40}, "crop_size": 32, "image_mean": [0.1, 0.2, 0.3]'
model old && printf '{%s}' "$clip" >"$bad/old/preprocessor_config.json"
model new && printf '{"image_processor": {%s}, "processor_class": "CLIPProcessor"}' "$clip" >"$bad/new/processor_config.json"
model both && cp "$bad/new/processor_config.json" "$bad/both" && echo '{"size": 32}' >"$bad/both/preprocessor_config.json"
model legacy && cp "$bad/old/preprocessor_config.json" "$bad/legacy" && echo '{"processor_class": "CLIPProcessor"}' >"$bad/legacy/processor_config.json"

test_begin prepare_processor_config_of_transformers_5
for one in old new both legacy; do
  pixels_of "$bad/$one" "$one"
  ! grep -q '^assumed' "$out" || fail "$one: something is assumed, expected nothing"
done
for one in new both legacy; do same_files old "$one"; done
pixels_of "$bad/new/model.safetensors" file
same_files old file
test_end

# Folders as they are published: one picture, and what is assumed of its class.
for class in Owlv2 ZoeDepth Idefics2 Idefics3 SmolVLM Siglip2 Sam Mine; do
  case $class in
    Owlv2) rest='"size": {"height": 64, "width": 64}, "do_pad": true' text='preprocessing of Owlv2, one filter for blur and size' ;;
    ZoeDepth) rest='"size": {"height": 32, "width": 64}, "do_pad": true' text='preprocessing of ZoeDepth, no reflected border' ;;
    Idefics2) rest='"size": {"shortest_edge": 32, "longest_edge": 64}, "do_image_splitting": true' text='preprocessing of Idefics2, one picture, no tiles' ;;
    Sam) rest='"size": {"longest_edge": 32}, "pad_size": {"height": 32, "width": 32}, "do_pad": true' text= ;;
    Siglip2) rest='"max_num_patches": 12' text= ;;
    Mine) rest='"size": 48' text='preprocessing of MineImageProcessor, read as that of ViT' ;;
    *) rest='"size": {"longest_edge": 99}, "max_image_size": {"longest_edge": 32}, "do_image_splitting": true' text="preprocessing of $class, one picture, no tiles" ;;
  esac
  model "one_$class" && printf '{"image_processor_type": "%sImageProcessor", %s}' "$class" "$rest" >"$bad/one_$class/preprocessor_config.json"
  test_begin "prepare_runs_with_$class"
  heed inspect "$bad/one_$class"
  expect_exit 0
  heed run "$bad/one_$class" "$picture" --backend cpu --quiet --maps maps.png --json out.json
  expect_exit 0
  if [ "$text" ]; then expect_stdout_contains "assumed: $text"; else ! grep -q '^assumed' "$out" || fail "something is assumed, expected nothing"; fi
  test_end
done

# Opening a model needs no processor; running it on an image does.
for class in Mine VitMatte; do
  model "$class" && printf '{"image_processor_type": "%sImageProcessor", "do_pad": true}' "$class" >"$bad/$class/preprocessor_config.json"
  test_begin "prepare_opens_without_$class"
  heed inspect "$bad/$class"
  expect_exit 0
  expect_stdout_contains "no images: preprocessor_config.json: do_pad is not supported (found true, expected none)"
  heed eval "$bad/$class" "$vectors/vit/micro_32/io.safetensors" -o out.safetensors --backend cpu --quiet
  expect_exit 0
  test_end
  for verb in run survey; do
    bad_input "prepare_${verb}_refuses_$class" "do_pad is not supported (found true, expected none)" "$verb" "$bad/$class" "$picture" --backend cpu
  done
  bad_input "prepare_run_refuses_${class}_at_another_size" "do_pad is not supported" run "$bad/$class" "$picture" --backend cpu --size 64,64
done

test_begin prepare_says_what_is_left_out
model tiles && printf '{"image_processor_type": "LlavaNextImageProcessor", "size": {"shortest_edge": 32}, "crop_size": 32, "do_pad": true}' >"$bad/tiles/preprocessor_config.json"
heed run "$bad/tiles" "$picture" --backend cpu --quiet
expect_exit 0
expect_stdout_contains "assumed: preprocessing of LlavaNext, one picture, no tiles"
test_end

# Options say what a file would say.
test_begin prepare_options_are_as_a_file
printf '{"image_processor_type": "ViTImageProcessor", "size": 40, "do_center_crop": true, "crop_size": 32, "resample": 1, "image_mean": [0.1, 0.2, 0.3], "image_std": [0.4, 0.5, 0.6]}' >"$bad/plain.json"
model said && sed 's/"size": 40/"size": {"shortest_edge": 40}/; s/ViTImage/CLIPImage/' "$bad/plain.json" >"$bad/said/preprocessor_config.json"
model bare && rm -f "$bad/bare/preprocessor_config.json"
pixels_of "$bad/said" said
heed run "$bad/bare" "$picture" --backend cpu --quiet --save optioned.safetensors --mean 0.1,0.2,0.3 --std 0.4,0.5,0.6 --resample lanczos --crop 0.8
expect_exit 0
expect_stdout_contains "assumed: preprocessing of ViT (mean 0.1,0.2,0.3; std 0.4,0.5,0.6; with what the options say)"
same_files said optioned
sed 's/"size": 40, "do_center_crop": true, "crop_size": 32/"size": 32/' "$bad/plain.json" >"$bad/said/preprocessor_config.json"
pixels_of "$bad/said" squashed
heed run "$bad/bare" "$picture" --backend cpu --quiet --save none.safetensors --mean 0.1,0.2,0.3 --std 0.4,0.5,0.6 --resample lanczos --crop none
expect_exit 0
same_files squashed none
heed run "$bad/bare" "$picture" --backend cpu --quiet --save twice.safetensors --mean 0 --std 1 --rescale 0.00784313725490196
heed run "$bad/bare" "$picture" --backend cpu --quiet --save half.safetensors --mean 0 --std 0.5
same_files twice half
test_end

for verb in run survey compare; do
  other=
  [ "$verb" != compare ] || other=$bad/bare
  while IFS='|' read -r name option value sentence; do
    test_begin "prepare_${verb}_refuses_$name"
    # shellcheck disable=SC2086
    heed $verb "$bad/bare" $other "$picture" --backend cpu --quiet "$option" "$value"
    expect_exit 2
    expect_stderr_contains "$sentence"
    test_end
  done <<'CASES'
two_means|--mean|0.5,0.5|preprocess: wrong count of mean (found 2, expected 3, the model's channels, or 1 for all)
no_number|--mean|0.5,,0.5|--mean: invalid numbers (found "0.5,,0.5", expected such as 0.5 or 0.485,0.456,0.406)
std_of_0|--std|0|preprocess: invalid std (found 0, expected a finite number above 0)
no_filter|--resample|cubic|preprocess: unknown resample (found "cubic", expected nearest, lanczos, bilinear, bicubic, box or hamming)
crop_of_2|--crop|2|preprocess: invalid crop (found 2, expected 0.01 to 1, or squash alone)
crop_of_0|--crop|0|--crop: invalid number (found "0", expected 0.01 to 1, or none)
CASES
done

test_begin prepare_says_how_to_set_what_is_assumed
for verb in run survey; do
  heed "$verb" "$bad/bare" "$picture" --backend cpu --quiet
  expect_exit 0
  expect_stdout_contains "assumed: preprocessing of ViT (mean 0.5; std 0.5; --mean, --std, --resample and --crop set others)"
done
test_end

# Models of one and of five channels, and the files that have them.
python3 - "$vectors" "$bad" <<'PYTHON'
import json, struct, sys, os
def read(path):
    whole = open(path, 'rb').read()
    size = struct.unpack('<Q', whole[:8])[0]
    header = json.loads(whole[8:8 + size])
    header.pop('__metadata__', None)
    return {n: (t, whole[8 + size + t['data_offsets'][0]:8 + size + t['data_offsets'][1]]) for n, t in header.items()}
for name, (_, data) in read(sys.argv[1] + '/image/kinds.safetensors').items():
    if name.startswith('file.'):
        open(sys.argv[2] + '/' + name[5:], 'wb').write(data)
for channels in (1, 5):
    folder, data, header = f'{sys.argv[2]}/channels_{channels}', b'', {}
    os.mkdir(folder)
    for name, (tensor, part) in read(sys.argv[1] + '/vit/micro_32/model.safetensors').items():
        shape = tensor['shape']
        if len(shape) == 4:  # the same weight for each channel
            part = b''.join(part[i:i + 4 * shape[2] * shape[3]] * channels for i in range(0, len(part), 4 * shape[1] * shape[2] * shape[3]))
            shape = [shape[0], channels, *shape[2:]]
        header[name] = {'dtype': tensor['dtype'], 'shape': shape, 'data_offsets': [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    open(folder + '/model.safetensors', 'wb').write(struct.pack('<Q', len(text)) + text + data)
    config = json.load(open(sys.argv[1] + '/vit/micro_32/config.json'))
    json.dump({**config, 'num_channels': channels}, open(folder + '/config.json', 'w'))
PYTHON
same_pixels() { # names of .npz files
  python3 - "$here/$1.npz" "$here/$2.npz" <<'PYTHON' || fail "$1 and $2 have other pixel_values, expected the same"
import sys, zipfile
one, two = (zipfile.ZipFile(path).read('pixel_values.npy') for path in sys.argv[1:])
sys.exit(one != two)
PYTHON
}
values_of() { # model, image, output, options
  one=$1 two=$2 three=$3
  shift 3
  heed run "$one" "$two" --backend cpu --quiet --save "$three.npz" --maps "$three.png" "$@"
  expect_exit 0
}

test_begin prepare_grey_of_16_bits
values_of "$bad/channels_1" "$bad/sixteen.png" sixteen --mean 0 --std 1 --crop none
python3 - "$here/sixteen.npz" <<'PYTHON' || fail "pixel_values have the levels of 8 bits"
import struct, sys, zipfile
data = zipfile.ZipFile(sys.argv[1]).read('pixel_values.npy')
numbers = struct.unpack('<%df' % (32 * 32), data[-4 * 32 * 32:])
assert any(abs(n * 255 - round(n * 255)) > 0.1 for n in numbers) and 0 <= min(numbers) and max(numbers) <= 1, numbers[:9]
PYTHON
test_end

test_begin prepare_five_channels
values_of "$bad/channels_5" "$bad/f4.npy" first
values_of "$bad/channels_5" "$bad/last.npz" last
same_pixels first last
test_end
bad_input prepare_picture_of_3_for_5 "rgb.png: wrong number of channels (found 3, expected the model's 5: " run "$bad/channels_5" "$picture" --backend cpu --quiet
bad_input prepare_array_of_5_for_3 "f4.npy: wrong shape (found 5 x 13 x 19, expected 3 channels as the first or last axis)" run "$micro" "$bad/f4.npy" --backend cpu --quiet

test_begin prepare_picture_from_stdin
"$program" run "$micro" - --backend cpu --quiet --save "$here/stdin.npz" <"$picture" >"$out" 2>"$err" || fail "the exit code is not 0"
expect_stdout_contains "-: 640 x 427 pixels"
heed run "$micro" "$picture" --backend cpu --quiet --save file.npz
same_pixels stdin file
test_end

if "$program" version | grep -q WebP; then
  test_begin prepare_frames
  heed run "$micro" "$bad/frames.webp" --backend cpu
  expect_exit 0
  expect_stderr_contains "frames.webp: the first of 3 frames (--frame N takes another)"
  heed run "$micro" "$bad/frames.webp" --backend cpu --frame 2
  expect_exit 0
  test_end
  bad_input prepare_no_such_frame "frames.webp: frame out of range (found 3, expected less than 3)" run "$micro" "$bad/frames.webp" --backend cpu --quiet --frame 3
fi
if "$program" version | grep -q TIFF; then
  test_begin prepare_pages_are_channels
  heed run "$bad/channels_5" "$bad/pages.tif" --backend cpu --quiet
  expect_exit 0
  test_end
fi

# Sides of 3 x 2 pixels, and 1 x 900 that would be 32 x 28800: the others are done.
python3 - "$bad" <<'PYTHON'
import struct, sys, zlib
def png(width, height):
    def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = b''.join(b'\0' + bytes((x * 40 + y) % 256 for x in range(3 * width)) for y in range(height))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0))
            + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
open(sys.argv[1] + '/small.png', 'wb').write(png(3, 2))
open(sys.argv[1] + '/good.png', 'wb').write(png(40, 33))
open(sys.argv[1] + '/thin.png', 'wb').write(png(1, 9000))
PYTHON
model whole && echo '{"do_resize": false}' >"$bad/whole/preprocessor_config.json"
model short && echo '{"size": {"shortest_edge": 30000}}' >"$bad/short/preprocessor_config.json"
sentence='small.png: image too small (found 3 x 2 pixels as the model gets it, expected a patch of '
for verb in run survey compare; do
  other=
  [ "$verb" != compare ] || other=$bad/whole
  # shellcheck disable=SC2086
  bad_input "prepare_small_image_of_$verb" "$sentence" $verb "$bad/whole" $other "$bad/small.png" --backend cpu --quiet
done
bad_input prepare_image_that_cannot_be_fitted "thin.png: preprocess: invalid resized image (found 30000 x 270000000, expected" run "$bad/short" "$bad/thin.png" --backend cpu --quiet

for verb in run survey; do
  test_begin "prepare_${verb}_goes_on_after_a_small_image"
  heed "$verb" "$bad/whole" "$bad/small.png" "$bad/good.png" --backend cpu --quiet
  expect_exit 3
  expect_stderr_contains "$sentence"
  if [ "$verb" = run ]; then expect_stdout_contains "good.png: 40 x 33 pixels"; else expect_stdout_contains "; 1 images"; fi
  test_end
done

tests_end
