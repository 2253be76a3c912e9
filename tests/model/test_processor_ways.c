/* Classes of image processors that do more than resize: what each makes of its published file, and
 * of pictures. Expected sizes are those of transformers' functions, run apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/image/resize.h"
#include "support/config_text.h"

#define OF(class, rest) "{\"image_processor_type\":\"" class "ImageProcessor\"" rest "}"
#define MANY(class, rest) OF(class, ",\"do_image_splitting\":true,\"do_pad\":true" rest)

/* A file, and what it asks for; `said`: what is assumed of it. */
typedef struct published {
  const char *text;
  heed_resize_mode resize;
  uint32_t height, width, side, crop, multiple, patches, resample;
  float mean;
  const char *said;
} published;

#define HALF 0.5f, "preprocessing of "
static const published files[] = {
    {OF("Owlv2", ",\"size\":{\"height\":960,\"width\":960},\"do_pad\":true"), HEED_RESIZE_CORNER,
     960, 960, 0, 960, 0, 0, 2, 0.48145466f,
     "preprocessing of Owlv2, one filter for blur and size"},
    {OF("Owlv2", ",\"size\":{\"height\":1008,\"width\":1008},\"do_center_crop\":false"),
     HEED_RESIZE_CORNER, 1008, 1008, 0, 1008, 0, 0, 2, 0.48145466f, "preprocessing of Owlv2, "},
    {OF("Owlv2", ",\"do_pad\":false"), HEED_RESIZE_SQUASH, 960, 960, 0, 0, 0, 0, 2, 0.48145466f,
     "preprocessing of Owlv2, "},
    {OF("Sam", ",\"size\":{\"longest_edge\":1024},\"do_pad\":true,"
               "\"pad_size\":{\"height\":1024,\"width\":1024}"),
     HEED_RESIZE_CORNER_MEAN, 1024, 1024, 0, 1024, 0, 0, 2, 0.485f, ""},
    {OF("Sam", ",\"do_pad\":false"), HEED_RESIZE_CORNER_MEAN, 224, 224, 0, 0, 0, 0, 2, 0.485f, ""},
    {OF("ZoeDepth", ",\"do_pad\":true"), HEED_RESIZE_MULTIPLES, 384, 512, 0, 0, 32, 0, 2,
     HALF "ZoeDepth, no reflected border"},
    {OF("ZoeDepth", ",\"size\":{\"height\":384,\"width\":384},\"keep_aspect_ratio\":false"),
     HEED_RESIZE_SQUASH, 384, 384, 0, 0, 32, 0, 2, HALF "ZoeDepth, "},
    {MANY("Idefics2", ",\"size\":{\"shortest_edge\":378,\"longest_edge\":980}"), HEED_RESIZE_WITHIN,
     980, 980, 378, 0, 0, 0, 2, HALF "Idefics2, one picture, no tiles"},
    {OF("Idefics2", ""), HEED_RESIZE_WITHIN, 980, 980, 378, 0, 0, 0, 2, HALF "Idefics2, "},
    {MANY("Idefics3",
          ",\"size\":{\"longest_edge\":1456},\"max_image_size\":{\"longest_edge\":364}"),
     HEED_RESIZE_SQUASH, 364, 364, 0, 0, 0, 0, 1, HALF "Idefics3, one picture, no tiles"},
    {MANY("SmolVLM", ",\"size\":{\"longest_edge\":2048},\"max_image_size\":{\"longest_edge\":512}"),
     HEED_RESIZE_SQUASH, 512, 512, 0, 0, 0, 0, 1, HALF "SmolVLM, one picture, no tiles"},
    {OF("SmolVLM", ",\"resample\":3,\"image_mean\":[0.25,0.25,0.25]"), HEED_RESIZE_SQUASH, 364, 364,
     0, 0, 0, 0, 3, 0.25f, "preprocessing of SmolVLM, "},
    {OF("Siglip2", ",\"max_num_patches\":729,\"patch_size\":14"), HEED_RESIZE_PATCHES, 0, 0, 0, 0,
     14, 729, 2, 0.5f, ""},
    {"{\"image_processor_type\":\"Siglip2ImageProcessorFast\"}", HEED_RESIZE_PATCHES, 0, 0, 0, 0,
     16, 256, 2, 0.5f, ""},
    {OF("Pixtral", ",\"size\":{\"longest_edge\":1540},\"patch_size\":{\"height\":14,\"width\":14}"),
     HEED_RESIZE_TILES, 1540, 1540, 0, 0, 14, 0, 3, 0.48145466f, ""},
    {OF("Pixtral", ",\"patch_size\":14,\"spatial_merge_size\":2"), HEED_RESIZE_TILES, 1024, 1024, 0,
     0, 28, 0, 3, 0.48145466f, ""},
    /* classes that heed does not know: what their file says, by the family's class */
    {OF("Mine", ""), HEED_RESIZE_SQUASH, 224, 224, 0, 0, 0, 0, 2,
     HALF "MineImageProcessor, read as"
          " that of ViT"},
    {OF("Mine", ",\"size\":{\"shortest_edge\":248},\"do_center_crop\":true,\"crop_size\":224,"
                "\"image_mean\":[0.25,0.25,0.25],\"resample\":3"),
     HEED_RESIZE_SHORT_SIDE, 0, 0, 248, 224, 0, 0, 3, 0.25f, "preprocessing of MineImageProcessor"},
};

static void check_file(const published *file) {
  heed_config *c;
  heed_preprocess p;
  char said[160];
  assert_ok(open_texts(NULL, file->text, &c));
  assert_ok(heed_config_preprocess(c, &heed_family_vit, 224, 3, &p, &error));
  heed_config_left_out(c, "ViT", said, sizeof said);
  const uint32_t found[] = {p.resize,      p.height,   p.width,   p.short_side,
                            p.crop_height, p.multiple, p.patches, p.resample},
                 wanted[] = {file->resize, file->height,   file->width,   file->side,
                             file->crop,   file->multiple, file->patches, file->resample};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (found[i] != wanted[i])
      fail_msg("%s: number %zu is %u, expected %u", file->text, i, found[i], wanted[i]);
  if (p.mean[0] != file->mean || strncmp(said, file->said, strlen(file->said)) != 0 ||
      (*said && !*file->said))
    fail_msg("%s: found mean %g, \"%s\"; expected %g, \"%s\"", file->text, (double)p.mean[0], said,
             (double)file->mean, file->said);
  heed_config_destroy(c);
}

/* Each file as it is, and as transformers 5 keeps it. */
static void published_files(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char nested[512];
    heed_config *c;
    heed_preprocess alone, inside;
    check_file(&files[i]);
    snprintf(nested, sizeof nested, "{\"image_processor\":%s,\"processor_class\":\"X\"}",
             files[i].text);
    const heed_model_file file = {"processor_config.json", test_source(nested, strlen(nested))};
    assert_ok(heed_config_open(context, &file, 1, HEED_TOWER_VISION, &c, &error));
    assert_ok(heed_config_preprocess(c, &heed_family_vit, 224, 3, &inside, &error));
    heed_config_destroy(c);
    assert_ok(open_texts(NULL, files[i].text, &c));
    assert_ok(heed_config_preprocess(c, &heed_family_vit, 224, 3, &alone, &error));
    heed_config_destroy(c);
    assert_true(inside.resize == alone.resize && inside.width == alone.width &&
                inside.crop_width == alone.crop_width && inside.mean[0] == alone.mean[0]);
  }
}

static void refused_files(void **state) {
  (void)state;
  static const struct {
    const char *text;
    heed_status status;
    const char *part;
  } cases[] = {
      {OF("Idefics2", ",\"size\":{\"longest_edge\":980}"), HEED_INVALID_FILE, "size is not valid"},
      {OF("Idefics2", ",\"size\":378"), HEED_INVALID_FILE, "size is not valid (found a number"},
      {OF("Idefics3", ",\"max_image_size\":{\"longest_edge\":0}"), HEED_INVALID_FILE,
       "longest_edge is not valid"},
      {OF("Idefics3", ",\"max_image_size\":364"), HEED_INVALID_FILE, "max_image_size is not valid"},
      {OF("Siglip2", ",\"max_num_patches\":0"), HEED_INVALID_FILE, "max_num_patches is not valid"},
      {OF("Siglip2", ",\"patch_size\":1.5"), HEED_INVALID_FILE, "patch_size is not valid"},
      {OF("Owlv2", ",\"do_pad\":1"), HEED_INVALID_FILE, "do_pad is not valid"},
      {OF("Owlv2", ",\"do_thumbnail\":true"), HEED_UNSUPPORTED, "do_thumbnail is not supported"},
      {OF("Qwen2VL", ",\"min_pixels\":0"), HEED_INVALID_FILE, "min_pixels is not valid"},
      {OF("Qwen2VL", ",\"max_pixels\":784"), HEED_INVALID_FILE, "min_pixels is not valid"},
      {OF("Qwen2VL", ",\"merge_size\":1048576"), HEED_INVALID_FILE, "merge_size is not valid"},
      {OF("Pixtral", ",\"size\":{\"longest_edge\":0}"), HEED_INVALID_FILE,
       "longest_edge is not valid"},
      {OF("Pixtral", ",\"patch_size\":{\"height\":true}"), HEED_INVALID_FILE,
       "height is not valid"},
      /* what changes a picture, of classes that heed does not know */
      {OF("Mine", ",\"do_pad\":true"), HEED_UNSUPPORTED, "do_pad is not supported"},
      {OF("Mine", ",\"size\":{\"longest_edge\":1024}"), HEED_UNSUPPORTED,
       "size with a longest_edge is not supported"},
      {OF("Mine", ",\"crop_pct\":0.875"), HEED_UNSUPPORTED, "crop_pct is not supported"},
      {OF("Mine", ",\"min_pixels\":3136"), HEED_UNSUPPORTED, "min_pixels is not supported"},
      {OF("Mine", ",\"max_num_patches\":256"), HEED_UNSUPPORTED,
       "max_num_patches is not supported"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_config *c;
    heed_preprocess p;
    assert_ok(open_texts(NULL, cases[i].text, &c));
    assert_fails(heed_config_preprocess(c, &heed_family_vit, 224, 3, &p, &error), cases[i].status,
                 cases[i].part);
    heed_config_destroy(c);
  }
}

/* Idefics 2: get_resize_output_image_size; SigLIP 2: get_image_size_for_max_num_patches. */
static void sizes(void **state) {
  (void)state;
  static const struct {
    heed_resize_mode mode;
    uint32_t picture[2], side, most, wanted[2];
  } cases[] = {{HEED_RESIZE_WITHIN, {640, 480}, 378, 980, {640, 480}},
               {HEED_RESIZE_WITHIN, {1960, 1470}, 378, 980, {980, 735}},
               {HEED_RESIZE_WITHIN, {1000, 2000}, 378, 980, {490, 980}},
               {HEED_RESIZE_WITHIN, {2000, 300}, 378, 980, {980, 378}},
               {HEED_RESIZE_WITHIN, {100, 90}, 378, 980, {378, 378}},
               {HEED_RESIZE_WITHIN, {3000, 2001}, 378, 980, {980, 653}},
               {HEED_RESIZE_PATCHES, {640, 480}, 16, 256, {288, 224}},
               {HEED_RESIZE_PATCHES, {480, 640}, 16, 256, {224, 288}},
               {HEED_RESIZE_PATCHES, {640, 427}, 14, 729, {462, 308}},
               {HEED_RESIZE_PATCHES, {1000, 30}, 16, 256, {1360, 48}},
               {HEED_RESIZE_PATCHES, {3, 2}, 4, 9, {12, 8}},
               {HEED_RESIZE_PATCHES, {1, 9000}, 16, 256, {16, 4096}},
               {HEED_RESIZE_PATCHES, {224, 224}, 16, 256, {256, 256}},
               {HEED_RESIZE_PATCHES, {5000, 5000}, 16, 1, {16, 16}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const heed_preprocess p = {.resize = cases[i].mode,
                               .width = cases[i].most,
                               .height = cases[i].most,
                               .short_side = cases[i].side,
                               .multiple = cases[i].side,
                               .patches = cases[i].most};
    uint32_t width, height;
    assert_ok(heed_preprocess_size(&p, cases[i].picture[0], cases[i].picture[1], &width, &height,
                                   &error));
    if (width != cases[i].wanted[0] || height != cases[i].wanted[1])
      fail_msg("case %zu: found %u x %u, expected %u x %u", i, width, height, cases[i].wanted[0],
               cases[i].wanted[1]);
  }
  const heed_preprocess none = {.resize = HEED_RESIZE_PATCHES, .multiple = 16};
  uint32_t width, height;
  assert_fails(heed_preprocess_size(&none, 4, 4, &width, &height, &error), HEED_INVALID_ARGUMENT,
               "unknown resize (found 8");
}

/* Qwen2-VL: smart_resize; Pixtral: get_resize_output_image_size. */
static void sizes_of_chat_towers(void **state) {
  (void)state;
  static const struct {
    heed_resize_mode mode;
    uint32_t picture[2], multiple, least, most, wanted[2];
  } cases[] = {{HEED_RESIZE_PIXELS, {640, 480}, 28, 3136, 1003520, {644, 476}},
               {HEED_RESIZE_PIXELS, {4000, 3000}, 28, 3136, 1003520, {1148, 840}},
               {HEED_RESIZE_PIXELS, {30, 20}, 28, 3136, 1003520, {84, 56}},
               {HEED_RESIZE_PIXELS, {448, 448}, 28, 3136, 1003520, {448, 448}},
               {HEED_RESIZE_PIXELS, {42, 70}, 28, 1, 1003520, {56, 56}},
               {HEED_RESIZE_PIXELS, {1000, 1400}, 32, 65536, 16777216, {992, 1408}},
               {HEED_RESIZE_PIXELS, {2000, 100}, 28, 200704, 401408, {1988, 112}},
               {HEED_RESIZE_PIXELS, {210, 154}, 28, 4, 10000, {112, 84}},
               {HEED_RESIZE_PIXELS, {700, 300}, 28, 3136, 100000, {476, 196}},
               {HEED_RESIZE_TILES, {640, 480}, 16, 0, 1024, {640, 480}},
               {HEED_RESIZE_TILES, {3000, 2001}, 14, 0, 1540, {1540, 1036}},
               {HEED_RESIZE_TILES, {1540, 1540}, 28, 0, 1540, {1540, 1540}},
               {HEED_RESIZE_TILES, {17, 1}, 16, 0, 1024, {32, 16}},
               {HEED_RESIZE_TILES, {16, 33}, 16, 0, 1024, {16, 48}},
               {HEED_RESIZE_TILES, {1025, 1024}, 16, 0, 1024, {1024, 1024}},
               {HEED_RESIZE_TILES, {90, 5000}, 28, 0, 1540, {28, 1540}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const heed_preprocess p = {.resize = cases[i].mode,
                               .width = cases[i].most,
                               .multiple = cases[i].multiple,
                               .least_pixels = cases[i].least,
                               .most_pixels = cases[i].most};
    uint32_t width, height;
    assert_ok(heed_preprocess_size(&p, cases[i].picture[0], cases[i].picture[1], &width, &height,
                                   &error));
    if (width != cases[i].wanted[0] || height != cases[i].wanted[1])
      fail_msg("case %zu: found %u x %u, expected %u x %u", i, width, height, cases[i].wanted[0],
               cases[i].wanted[1]);
  }
}

/* The numbers of pixels stand beside the size, or as its edges. */
static void files_of_chat_towers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t multiple, least, most;
    float mean;
  } cases[] = {
      {OF("Qwen2VL", ",\"min_pixels\":3136,\"max_pixels\":12845056,\"patch_size\":14,"
                     "\"temporal_patch_size\":2,\"merge_size\":2"),
       28, 3136, 12845056, 0.48145466f},
      {OF("Qwen2VL", ""), 28, 3136, 1003520, 0.48145466f},
      {"{\"image_processor_type\":\"Qwen2VLImageProcessorFast\",\"size\":{\"longest_edge\":"
       "16777216,\"shortest_edge\":65536},\"patch_size\":16,\"merge_size\":2,"
       "\"image_mean\":[0.5,0.5,0.5]}",
       32, 65536, 16777216, 0.5f}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_config *c;
    heed_preprocess p;
    assert_ok(open_texts(NULL, cases[i].text, &c));
    assert_ok(heed_config_preprocess(c, &heed_family_qwen2_vl, 224, 3, &p, &error));
    heed_config_destroy(c);
    assert_int_equal(p.resize, HEED_RESIZE_PIXELS);
    assert_int_equal(p.multiple, cases[i].multiple);
    assert_int_equal(p.least_pixels, cases[i].least);
    assert_int_equal(p.most_pixels, cases[i].most);
    assert_true(p.mean[0] == cases[i].mean);
  }
}

/* The picture, resized on its own, lies at the top and left of grey. */
static void corner(void **state) {
  (void)state;
  enum { SIDE = 8 };
  static const uint32_t cases[][4] = {/* picture, as it is fitted */
                                      {16, 8, 8, 4},
                                      {5, 10, 4, 8},
                                      {7, 7, 8, 8},
                                      {3, 900, 1, 8}};
  for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
    const uint32_t *of = cases[i / 2], w = of[0], h = of[1], fw = of[2], fh = of[3];
    const bool grey = i % 2 == 0;
    uint8_t *pixels = malloc((size_t)w * h), rgb[SIDE * SIDE * 3];
    float values[3 * SIDE * SIDE];
    heed_region region;
    for (uint32_t k = 0; k < w * h; k++) pixels[k] = (uint8_t)(30 + k * 37);
    heed_preprocess p = {.resize = grey ? HEED_RESIZE_CORNER : HEED_RESIZE_CORNER_MEAN,
                         .width = SIDE,
                         .height = SIDE,
                         .crop_width = SIDE,
                         .crop_height = SIDE,
                         .resample = 2,
                         .rescale = 1.0f / 255.0f};
    for (int c = 0; c < 3; c++) {
      p.mean[c] = 0.25f * (float)c;
      p.std[c] = 0.5f;
    }
    const heed_image image = {pixels, w, h, 1, w};
    const heed_resize_window window = {fw, fh, 0, 0, fw, fh};
    assert_ok(heed_preprocess_image(context, &p, &image, values, &region, &error));
    assert_ok(heed_resize(context, &image, p.resample, &window, 3, rgb, &error));
    for (uint32_t k = 0; k < 3 * SIDE * SIDE; k++) {
      const uint32_t x = k % SIDE, y = k / SIDE % SIDE, c = k / SIDE / SIDE;
      const double level = x < fw && y < fh ? rgb[(y * fw + x) * 3 + c] / 255.0
                           : grey           ? 0.5
                                            : 0.25 * c;
      if (fabs((double)values[k] - (level - 0.25 * c) / 0.5) > 1e-6)
        fail_msg("case %zu: value %u is %.9g, expected %.9g", i, k, (double)values[k],
                 (level - 0.25 * c) / 0.5);
    }
    assert_true(region.x == 0.0 && region.y == 0.0);
    assert_true(fabs(region.width - (double)SIDE * w / fw) < 1e-9 &&
                fabs(region.height - (double)SIDE * h / fh) < 1e-9);
    free(pixels);
  }
}

/* RADIO normalises pixels itself: without a description they are 0 to 1, and that is assumed. */
static void radio(void **state) {
  (void)state;
  static const char text[] =
      "{\"args\":{\"model\":\"vit_base_patch16_224\"},\"max_resolution\":2048}";
  heed_config *c;
  heed_preprocess p;
  assert_ok(open_texts(text, NULL, &c));
  assert_false(heed_config_tells_preprocess(c));
  assert_ok(heed_config_preprocess(c, &heed_family_radio, 432, 3, &p, &error));
  assert_int_equal(p.resize, HEED_RESIZE_SQUASH);
  assert_true(p.width == 432 && p.height == 432 && p.rescale == 1.0f / 255.0f);
  for (int i = 0; i < 3; i++) assert_true(p.mean[i] == 0.0f && p.std[i] == 1.0f);
  heed_config_destroy(c);
  assert_ok(open_texts(text, OF("CLIP", ",\"do_normalize\":false,\"size\":432"), &c));
  assert_true(heed_config_tells_preprocess(c));
  assert_ok(heed_config_preprocess(c, &heed_family_radio, 432, 3, &p, &error));
  assert_true(p.mean[2] == 0.0f && p.std[2] == 1.0f);
  heed_config_destroy(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(published_files),
                                     cmocka_unit_test(refused_files),
                                     cmocka_unit_test(sizes),
                                     cmocka_unit_test(sizes_of_chat_towers),
                                     cmocka_unit_test(files_of_chat_towers),
                                     cmocka_unit_test(corner),
                                     cmocka_unit_test(radio)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
