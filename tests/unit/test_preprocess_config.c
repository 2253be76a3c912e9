/* preprocessor_config.json, and what stands for it in timm's config.json, in the spellings that
 * published models have. */
#include <math.h>
#include <stdio.h>

#include "support/config_text.h"

static heed_preprocess read_preprocess(const char *config_text, const char *text,
                                       const heed_family *family, uint32_t image_size) {
  heed_config *c;
  heed_preprocess p;
  assert_ok(open_texts(config_text, text, &c));
  assert_ok(heed_config_preprocess(c, family, image_size, 3, &p, &error));
  heed_config_destroy(c);
  return p;
}

static void check(heed_preprocess p, heed_resize_mode mode, uint32_t height, uint32_t width,
                  uint32_t short_side, uint32_t crop, uint32_t resample, float mean) {
  assert_int_equal(p.resize, mode);
  assert_int_equal(p.height, height);
  assert_int_equal(p.width, width);
  assert_int_equal(p.short_side, short_side);
  assert_int_equal(p.crop_height, crop);
  assert_int_equal(p.crop_width, crop);
  assert_int_equal(p.resample, resample);
  assert_true(p.mean[0] == mean);
  assert_true(p.rescale == 1.0f / 255.0f);
}

#define VIT &heed_family_vit
#define SQUASH HEED_RESIZE_SQUASH
#define SHORT HEED_RESIZE_SHORT_SIDE

static void family_defaults(void **state) {
  (void)state;
  check(read_preprocess(NULL, NULL, VIT, 224), SQUASH, 224, 224, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, NULL, VIT, 32), SQUASH, 32, 32, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, NULL, &heed_family_deit, 224), SQUASH, 256, 256, 0, 224, 3, 0.5f);
  check(read_preprocess(NULL, NULL, &heed_family_deit, 384), SQUASH, 438, 438, 0, 384, 3, 0.5f);
  check(read_preprocess(NULL, NULL, &heed_family_dinov2, 518), SHORT, 0, 0, 256, 224, 3, 0.485f);
  check(read_preprocess(NULL, NULL, &heed_family_dinov2_registers, 518), SHORT, 0, 0, 256, 224, 3,
        0.485f);
  check(read_preprocess(NULL, NULL, &heed_family_dinov2_original, 518), SHORT, 0, 0, 256, 224, 3,
        0.485f);
  check(read_preprocess(NULL, NULL, &heed_family_timm, 224), SHORT, 0, 0, 248, 224, 3, 0.5f);
  check(read_preprocess(NULL, "{}", VIT, 384), SQUASH, 384, 384, 0, 0, 2, 0.5f);
}

static void size_spellings(void **state) {
  (void)state;
  check(read_preprocess(NULL, "{\"size\":384}", VIT, 224), SQUASH, 384, 384, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, "{\"size\":{\"height\":240,\"width\":256}}", VIT, 224), SQUASH, 240,
        256, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, "{\"size\":[240,256]}", VIT, 224), SQUASH, 240, 256, 0, 0, 2, 0.5f);
  check(read_preprocess(
            NULL, "{\"size\":{\"shortest_edge\":256},\"do_center_crop\":true,\"crop_size\":224}",
            VIT, 224),
        SHORT, 0, 0, 256, 224, 2, 0.5f);
  check(read_preprocess(NULL, "{\"do_resize\":false,\"size\":256}", VIT, 224), HEED_RESIZE_NONE, 0,
        0, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, "{\"size\":null,\"resample\":3,\"do_center_crop\":true}", VIT, 96),
        SQUASH, 96, 96, 0, 96, 3, 0.5f);
  check(read_preprocess(NULL, "{\"resample\":\"bicubic\"}", VIT, 96), SQUASH, 96, 96, 0, 0, 3,
        0.5f);
}

/* As published: google/vit-base-patch16-224, facebook/deit-base-distilled-patch16-224,
 * facebook/dinov2-base, openai/clip. */
static void published_files(void **state) {
  (void)state;
  check(read_preprocess(NULL,
                        "{\"do_normalize\":true,\"do_resize\":true,\"image_mean\":[0.5,0.5,0.5],"
                        "\"image_std\":[0.5,0.5,0.5],\"size\":224}",
                        VIT, 224),
        SQUASH, 224, 224, 0, 0, 2, 0.5f);
  heed_preprocess p =
      read_preprocess(NULL,
                      "{\"crop_size\":224,\"do_center_crop\":true,\"do_normalize\":true,\"do_"
                      "resize\":true,\"feature_extractor_type\":"
                      "\"DeiTFeatureExtractor\",\"image_mean\":[0.485,0.456,0.406],\"image_std\":["
                      "0.229,0.224,0.225],\"resample\":3,\"size\":256}",
                      &heed_family_deit, 224);
  check(p, SQUASH, 256, 256, 0, 224, 3, 0.485f);
  assert_true(p.mean[1] == 0.456f && p.mean[2] == 0.406f && p.std[0] == 0.229f &&
              p.std[1] == 0.224f && p.std[2] == 0.225f);
  check(
      read_preprocess(
          NULL,
          "{\"crop_size\":{\"height\":224,\"width\":224},\"do_center_crop\":true,\"do_convert_"
          "rgb\":true,\"do_normalize\":"
          "true,\"do_rescale\":true,"
          "\"do_resize\":true,\"image_mean\":[0.485,0.456,0.406],\"image_processor_type\":"
          "\"BitImageProcessor\",\"image_"
          "std\":[0.229,0.224,0.225],"
          "\"resample\":3,\"rescale_factor\":0.00392156862745098,\"size\":{\"shortest_edge\":256}}",
          &heed_family_dinov2, 518),
      SHORT, 0, 0, 256, 224, 3, 0.485f);
  check(read_preprocess(
            NULL,
            "{\"feature_extractor_type\":\"CLIPFeatureExtractor\",\"size\":224,\"crop_size\":224}",
            VIT, 224),
        SHORT, 0, 0, 224, 224, 3, 0.48145466f);
  check(read_preprocess(NULL,
                        "{\"image_processor_type\":\"ViTImageProcessorFast\",\"size\":{\"height\":"
                        "256,\"width\":256}}",
                        VIT, 224),
        SQUASH, 256, 256, 0, 0, 2, 0.5f);
}

static void values(void **state) {
  (void)state;
  heed_preprocess p = read_preprocess(
      NULL, "{\"do_rescale\":false,\"do_normalize\":false,\"image_mean\":[1,2,3]}", VIT, 224);
  assert_true(p.rescale == 1.0f && p.mean[1] == 0.0f && p.std[2] == 1.0f);
  p = read_preprocess(NULL, "{\"rescale_factor\":0.5,\"image_mean\":0.25,\"image_std\":[0.75]}",
                      VIT, 224);
  assert_true(p.rescale == 0.5f && p.mean[0] == 0.25f && p.mean[2] == 0.25f && p.std[1] == 0.75f);
}

/* Of models of other channels than three: a number for all, as many as there are, or three equal
 * ones; defaults are the means of the class's three. */
static void channels(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t channels;
    float mean, last; /* of the first and the last channel */
    const char *part; /* of the sentence that refuses it, or NULL */
  } cases[] = {{"{}", 1, 0.5f, 0.5f, NULL},
               {"{\"image_processor_type\":\"PvtImageProcessor\"}", 1, 0.449f, 0.449f, NULL},
               {"{\"image_mean\":0.1307}", 1, 0.1307f, 0.1307f, NULL},
               {"{\"image_mean\":[0.1307]}", 1, 0.1307f, 0.1307f, NULL},
               {"{\"image_mean\":[0.5,0.5,0.5]}", 1, 0.5f, 0.5f, NULL},
               {"{\"image_mean\":[0.25]}", 5, 0.25f, 0.25f, NULL},
               {"{\"image_mean\":[0.1,0.2,0.3,0.4,0.6]}", 5, 0.1f, 0.6f, NULL},
               {"{\"do_normalize\":false}", 5, 0.0f, 0.0f, NULL},
               {"{\"image_mean\":[0.485,0.456,0.406]}", 1, 0, 0, "expected a number)"},
               {"{\"image_mean\":[0.1,0.2,0.3]}", 5, 0, 0, "expected 5 numbers, or one)"},
               {"{\"image_std\":[0.1,0.2,0.3,0.4]}", 5, 0, 0, "5 numbers, or one above 0"},
               {"{\"image_mean\":[]}", 1, 0, 0, "expected a number)"},
               {"{}", 257, 0, 0, "too many channels for images (found 257, expected at most 256"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_config *c;
    heed_preprocess p;
    assert_ok(open_texts(NULL, cases[i].text, &c));
    const heed_status status = heed_config_preprocess(c, VIT, 224, cases[i].channels, &p, &error);
    if ((status != HEED_OK) != (cases[i].part != NULL) ||
        (cases[i].part && !strstr(error.message, cases[i].part)))
      fail_msg("case %zu: %s", i, status == HEED_OK ? "taken" : error.message);
    if (status == HEED_OK) {
      assert_int_equal(p.channels, cases[i].channels);
      assert_true(fabsf(p.mean[0] - cases[i].mean) < 1e-6f);
      assert_true(fabsf(p.mean[p.channels - 1] - cases[i].last) < 1e-6f);
      assert_true(p.std[p.channels - 1] > 0.0f);
    }
    heed_config_destroy(c);
  }
}

static void whole_numbers_of_a_preprocessor(void **state) {
  (void)state;
  heed_preprocess p = read_preprocess(
      NULL, "{\"size\":{\"height\":224.0,\"width\":224},\"resample\":3.0}", VIT, 224);
  assert_int_equal(p.height, 224);
  assert_int_equal(p.resample, 3);
  p = read_preprocess(NULL, "{\"size\":[192.0,192]}", VIT, 224);
  assert_int_equal(p.width, 192);
}

static void refuse_preprocess(const char *text, heed_status status, const char *part) {
  heed_config *c;
  heed_preprocess p;
  assert_ok(open_texts(NULL, text, &c));
  assert_fails(heed_config_preprocess(c, VIT, 224, 3, &p, &error), status, part);
  assert_int_equal(strncmp(error.message, "preprocessor_config.json: ", 26), 0);
  heed_config_destroy(c);
}

static void wrong_preprocess(void **state) {
  (void)state;
  heed_config *c;
  assert_fails(open_texts(NULL, "[]", &c), HEED_INVALID_FILE,
               "preprocessor_config.json: it is not an object");
  refuse_preprocess("{\"size\":\"224\"}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":0}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":{}}", HEED_INVALID_FILE, "size is not valid (found an object");
  refuse_preprocess("{\"size\":{\"height\":224}}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":{\"height\":224,\"width\":224,\"shortest_edge\":3}}",
                    HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":{\"height\":-1,\"width\":224}}", HEED_INVALID_FILE,
                    "height is not valid");
  refuse_preprocess("{\"size\":{\"shortest_edge\":224,\"longest_edge\":300}}", HEED_UNSUPPORTED,
                    "longest_edge is not supported");
  refuse_preprocess("{\"size\":[1,2,3]}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":[0,2]}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":[2,0]}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":[1048577,2]}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":[2,1048577]}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":[\"2\",2]}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":[2,\"2\"]}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":{\"shortest_edge\":0}}", HEED_INVALID_FILE,
                    "shortest_edge is not valid");
  refuse_preprocess("{\"do_center_crop\":1}", HEED_INVALID_FILE, "do_center_crop is not valid");
  refuse_preprocess("{\"do_rescale\":1}", HEED_INVALID_FILE, "do_rescale is not valid");
  refuse_preprocess("{\"do_normalize\":1}", HEED_INVALID_FILE, "do_normalize is not valid");
  refuse_preprocess("{\"feature_extractor_type\":1}", HEED_INVALID_FILE,
                    "feature_extractor_type is not valid");
  refuse_preprocess("{\"image_processor_type\":1}", HEED_INVALID_FILE,
                    "image_processor_type is not valid");
  refuse_preprocess("{\"crop_size\":\"x\"}", HEED_INVALID_FILE, "crop_size is not valid");
  refuse_preprocess("{\"resample\":6}", HEED_INVALID_FILE, "resample is not valid");
  refuse_preprocess("{\"resample\":\"cubic\"}", HEED_INVALID_FILE, "resample is not valid");
  refuse_preprocess("{\"resample\":2.5}", HEED_INVALID_FILE, "resample is not valid");
  refuse_preprocess("{\"do_resize\":\"yes\"}", HEED_INVALID_FILE, "do_resize is not valid");
  refuse_preprocess("{\"image_mean\":[1,2]}", HEED_INVALID_FILE, "image_mean is not valid");
  refuse_preprocess("{\"image_mean\":[]}", HEED_INVALID_FILE, "image_mean is not valid");
  refuse_preprocess("{\"image_mean\":[1,2,\"3\"]}", HEED_INVALID_FILE, "image_mean is not valid");
  refuse_preprocess("{\"image_mean\":{}}", HEED_INVALID_FILE, "image_mean is not valid");
  refuse_preprocess("{\"image_std\":[1,0,1]}", HEED_INVALID_FILE, "image_std is not valid");
  refuse_preprocess("{\"image_std\":[1,1e-60,1]}", HEED_INVALID_FILE, "image_std is not valid");
  refuse_preprocess("{\"rescale_factor\":1e40}", HEED_INVALID_FILE, "rescale_factor is not valid");
}

/* Whose rule the centre crop follows: transformers' where the file or the names are its own, else
 * torchvision's. */
static void crop_rules(void **state) {
  (void)state;
  static const heed_family *const others[] = {&heed_family_timm,
                                              &heed_family_dinov2_original,
                                              &heed_family_dinov2_original_registers,
                                              &heed_family_torchvision,
                                              &heed_family_open_clip,
                                              &heed_family_eva02,
                                              &heed_family_pe,
                                              &heed_family_rope_vit,
                                              &heed_family_dinov3_original},
                                  *const own[] = {VIT,
                                                  &heed_family_deit,
                                                  &heed_family_clip,
                                                  &heed_family_dinov2,
                                                  &heed_family_siglip,
                                                  &heed_family_blip,
                                                  &heed_family_dpt};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    assert_int_equal(read_preprocess(NULL, NULL, others[i], 224).crop_rule, HEED_CROP_EVEN);
    assert_int_equal(read_preprocess(NULL, "{}", others[i], 224).crop_rule, HEED_CROP_DOWN);
  }
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    assert_int_equal(read_preprocess(NULL, NULL, own[i], 224).crop_rule, HEED_CROP_DOWN);
}

/* preprocessor_config.json and processor_config.json (each may be NULL) as transformers 5 reads
 * them. */
static heed_status read_both(const char *old, const char *new, heed_preprocess *p, char where[64]) {
  heed_model_file files[2];
  heed_config *c;
  uint32_t count = 0;
  if (old)
    files[count++] = (heed_model_file){"preprocessor_config.json", test_source(old, strlen(old))};
  if (new)
    files[count++] = (heed_model_file){"processor_config.json", test_source(new, strlen(new))};
  assert_ok(heed_config_open(context, files, count, HEED_TOWER_VISION, &c, &error));
  snprintf(where, 64, "%s", c->processor ? c->processor_file : "");
  assert_int_equal(heed_config_tells_preprocess(c), c->processor != 0);
  const heed_status status = heed_config_preprocess(c, VIT, 224, 3, p, &error);
  heed_config_destroy(c);
  return status;
}

static void processor_files(void **state) {
  (void)state;
#define CLIP_OF(mean) "{\"image_processor_type\":\"CLIPImageProcessor\",\"image_mean\":" mean "}"
#define OLD CLIP_OF("0.125")
  static const struct {
    const char *old, *new, *where;
    float mean;
  } cases[] = {
      {OLD, NULL, "preprocessor_config.json", 0.125f},
      {NULL, "{\"image_processor\":" CLIP_OF("0.25") "}", "processor_config.json", 0.25f},
      {OLD, "{\"image_processor\":" CLIP_OF("0.25") "}", "processor_config.json", 0.25f},
      {OLD, "{\"processor_class\":\"CLIPProcessor\"}", "preprocessor_config.json", 0.125f},
      {OLD, "{\"image_processor\":null}", "preprocessor_config.json", 0.125f},
      {NULL, "{\"processor_class\":\"CLIPProcessor\"}", "", 0.5f},
      {NULL, "{\"feature_extractor\":{\"sampling_rate\":16000}}", "", 0.5f},
      {NULL, "{\"feature_extractor\":" CLIP_OF("0.25") "}", "processor_config.json", 0.25f},
      {"{\"image_processor\":" OLD ",\"size\":7}", NULL, "preprocessor_config.json", 0.125f},
      /* this class reads config.json */
      {"{\"image_processor_type\":\"TimmWrapperImageProcessor\"}", NULL, "", 0.5f}};
  heed_preprocess p;
  char where[64];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_ok(read_both(cases[i].old, cases[i].new, &p, where));
    if (strcmp(where, cases[i].where) != 0 || p.mean[0] != cases[i].mean)
      fail_msg("case %zu: found mean %g of \"%s\", expected %g of \"%s\"", i, (double)p.mean[0],
               where, (double)cases[i].mean, cases[i].where);
  }
  assert_fails(read_both(NULL, "{\"image_processor\":\"CLIP\"}", &p, where), HEED_INVALID_FILE,
               "processor_config.json: image_processor is not valid (found a string");
  assert_fails(read_both(NULL, "{\"image_processor\":{\"do_pad\":true}}", &p, where),
               HEED_UNSUPPORTED, "processor_config.json: do_pad is not supported");
}

/* Other classes that do what heed can do, and what each is where its file is silent. */
static void classes(void **state) {
  (void)state;
#define OF(class, rest) "{\"image_processor_type\":\"" class "ImageProcessor\"" rest "}"
  const float clip = 0.48145466f;
  check(read_preprocess(NULL, OF("OwlViT", ""), VIT, 768), SQUASH, 768, 768, 0, 0, 3, clip);
  check(read_preprocess(NULL, OF("ChineseCLIP", ""), VIT, 224), SHORT, 0, 0, 224, 224, 3, clip);
  check(read_preprocess(NULL, OF("ChineseCLIP", ",\"size\":{\"height\":240,\"width\":240}"), VIT,
                        224),
        SQUASH, 240, 240, 0, 224, 3, clip);
  check(read_preprocess(NULL, OF("Llava", ",\"size\":{\"shortest_edge\":336}"), VIT, 336), SHORT, 0,
        0, 336, 336, 3, clip);
  check(read_preprocess(NULL, OF("LlavaNext", ",\"size\":{\"shortest_edge\":336},\"do_pad\":true"),
                        VIT, 336),
        SQUASH, 336, 336, 0, 336, 3, clip);
  check(read_preprocess(NULL, OF("LlavaOnevision", ",\"size\":384,\"do_pad\":true"), VIT, 384),
        SQUASH, 384, 384, 0, 0, 3, clip);
  check(read_preprocess(NULL, OF("Gemma3", ",\"size\":896,\"do_pan_and_scan\":true"), VIT, 896),
        SQUASH, 896, 896, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, OF("GotOcr2", ",\"size\":448"), VIT, 448), SQUASH, 448, 448, 0, 0, 3,
        clip);
  check(read_preprocess(NULL, OF("Segformer", ""), VIT, 224), SQUASH, 512, 512, 0, 0, 2, 0.485f);
  check(read_preprocess(NULL, OF("DPT", ""), VIT, 224), SQUASH, 384, 384, 0, 0, 3, 0.5f);
  check(read_preprocess(NULL, OF("DPT", ",\"ensure_multiple_of\":14,\"size\":[511,525]"), VIT, 224),
        SQUASH, 504, 532, 0, 0, 3, 0.5f); /* 36.5 and 37.5 */
  heed_preprocess p = read_preprocess(
      NULL, OF("DPT", ",\"keep_aspect_ratio\":true,\"ensure_multiple_of\":14,\"size\":518"), VIT,
      224);
  check(p, HEED_RESIZE_MULTIPLES, 518, 518, 0, 0, 3, 0.5f);
  assert_int_equal(p.multiple, 14);
  p = read_preprocess(NULL, OF("OwlViT", ",\"rescale\":false"), VIT, 224);
  assert_true(p.rescale == 1.0f);
  refuse_preprocess(OF("DPT", ",\"size\":{\"shortest_edge\":384}"), HEED_INVALID_FILE,
                    "size is not valid");
  refuse_preprocess(OF("DPT", ",\"do_pad\":true"), HEED_UNSUPPORTED, "do_pad is not supported");
  refuse_preprocess(OF("Llava", ",\"do_pad\":true"), HEED_UNSUPPORTED, "do_pad is not supported");
  refuse_preprocess(OF("DPT", ",\"ensure_multiple_of\":0"), HEED_INVALID_FILE,
                    "ensure_multiple_of is not valid");
  /* no class of transformers: those of weights without a file have no name there */
  check(read_preprocess(NULL, OF("timm", ""), VIT, 224), SQUASH, 224, 224, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, OF("torchvision", ""), VIT, 224), SQUASH, 224, 224, 0, 0, 2, 0.5f);
}

/* Steps that change numbers and are not heed's are refused by name; those that are off, and those
 * that change nothing, are not. */
static void other_steps(void **state) {
  (void)state;
  static const char *const on[] = {"do_pad",       "do_grayscale",      "do_flip_channel_order",
                                   "do_thumbnail", "do_color_quantize", "crop_pct"};
  char text[128], part[96];
  for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
    snprintf(text, sizeof text, "{\"%s\":%s}", on[i], i == 5 ? "0.9" : "true");
    snprintf(part, sizeof part, "%s is not supported (found %s, expected none)", on[i],
             i == 5 ? "a number" : "true");
    refuse_preprocess(text, HEED_UNSUPPORTED, part);
    for (int none = 0; none < 2; none++) {
      snprintf(text, sizeof text, "{\"%s\":%s}", on[i], none ? "null" : "false");
      check(read_preprocess(NULL, text, VIT, 224), SQUASH, 224, 224, 0, 0, 2, 0.5f);
    }
  }
  refuse_preprocess("{\"rescale_offset\":true}", HEED_UNSUPPORTED,
                    "rescale_offset is not supported (found true, expected none)");
  refuse_preprocess("{\"max_pixels\":100352}", HEED_UNSUPPORTED, "max_pixels is not supported");
  /* which this class passes over */
  check(read_preprocess(NULL, "{\"image_processor_type\":\"ViTImageProcessor\",\"max_pixels\":1}",
                        VIT, 224),
        SQUASH, 224, 224, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, "{\"do_convert_rgb\":true,\"do_reduce_labels\":true}", VIT, 224),
        SQUASH, 224, 224, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, "{\"size\":240,\"default_to_square\":false}", VIT, 224), SHORT, 0, 0,
        240, 0, 2, 0.5f);
  check(read_preprocess(NULL,
                        "{\"image_processor_type\":\"CLIPImageProcessor\",\"size\":240,"
                        "\"default_to_square\":true}",
                        VIT, 224),
        SQUASH, 240, 240, 0, 224, 3, 0.48145466f);
}

static void timm_preprocess(void **state) {
  (void)state;
#define TIMM(cfg) "{\"architecture\":\"vit_x\",\"pretrained_cfg\":{" cfg "}}"
  heed_preprocess p = read_preprocess(
      TIMM(
          "\"input_size\":[3,224,224],\"interpolation\":\"bicubic\",\"crop_pct\":0.9,\"crop_mode\":"
          "\"center\",\"mean\":[0.5,0.5,0.5],\"std\":[0.5,0.5,0.5]"),
      NULL, &heed_family_timm, 224);
  check(p, SHORT, 0, 0, 248, 224, 3, 0.5f);
  check(read_preprocess(TIMM("\"interpolation\":\"bilinear\",\"crop_pct\":0.875"), NULL,
                        &heed_family_timm, 224),
        SHORT, 0, 0, 256, 224, 2, 0.485f);
  check(read_preprocess(
            TIMM("\"crop_pct\":1.0,\"crop_mode\":\"squash\",\"mean\":[0.485,0.456,0.406]"), NULL,
            &heed_family_timm, 384),
        SQUASH, 384, 384, 0, 384, 3, 0.485f);
  check(read_preprocess("{\"architecture\":\"vit_x\",\"crop_pct\":0.95}", NULL, &heed_family_timm,
                        224),
        SHORT, 0, 0, 235, 224, 3, 0.485f);
  /* PretrainedCfg's defaults */
  p = read_preprocess(TIMM(""), NULL, &heed_family_timm, 224);
  check(p, SHORT, 0, 0, 256, 224, 3, 0.485f);
  assert_true(p.std[0] == 0.229f && p.crop_rule == HEED_CROP_EVEN);
  heed_config *c;
  static const struct {
    const char *text;
    heed_status status;
    const char *part;
  } bad[] = {
      {TIMM("\"crop_mode\":\"border\""), HEED_UNSUPPORTED,
       "crop_mode is not supported (found border"},
      {TIMM("\"crop_mode\":1"), HEED_INVALID_FILE, "crop_mode is not valid"},
      {TIMM("\"mean\":[0,0]"), HEED_INVALID_FILE, "mean is not valid"},
      {TIMM("\"crop_pct\":0"), HEED_INVALID_FILE, "crop_pct is not valid"},
      {TIMM("\"crop_pct\":\"1\""), HEED_INVALID_FILE, "crop_pct is not valid"},
      {TIMM("\"crop_pct\":1.5"), HEED_INVALID_FILE, "crop_pct is not valid"},
      {TIMM("\"interpolation\":\"random\""), HEED_INVALID_FILE, "interpolation is not valid"},
      {TIMM("\"std\":[0,0,0]"), HEED_INVALID_FILE, "std is not valid"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_ok(open_texts(bad[i].text, NULL, &c));
    assert_fails(heed_config_preprocess(c, &heed_family_timm, 224, 3, &p, &error), bad[i].status,
                 bad[i].part);
    heed_config_destroy(c);
  }
}

/* preprocess_cfg of open_clip_config.json. */
static void open_clip_preprocess(void **state) {
  (void)state;
#define OPEN(cfg) "{\"model_cfg\":{\"vision_cfg\":{}},\"preprocess_cfg\":{" cfg "}}"
  static const struct {
    const char *text;
    heed_status status;
    const char *part;
  } bad[] = {{OPEN("\"resize_mode\":\"longest\""), HEED_UNSUPPORTED,
              "resize_mode is not supported (found longest, expected shortest or squash)"},
             {OPEN("\"resize_mode\":1"), HEED_INVALID_FILE, "resize_mode is not valid"},
             {OPEN("\"interpolation\":\"x\""), HEED_INVALID_FILE, "interpolation is not valid"},
             {OPEN("\"mean\":\"x\""), HEED_INVALID_FILE, "mean is not valid"},
             {OPEN("\"std\":0"), HEED_INVALID_FILE, "std is not valid"},
             {"{\"model_cfg\":{\"vision_cfg\":{}},\"preprocess_cfg\":[]}", HEED_INVALID_FILE,
              "preprocess_cfg is not valid (found an array at byte 48, expected an object)"}};
  static const char *const good[] = {
      OPEN("\"interpolation\":\"random\""), OPEN("\"resize_mode\":\"squash\""),
      /* as without preprocess_cfg, whatever the trunk is of */
      "{\"model_cfg\":{\"vision_cfg\":{\"timm_model_name\":\"vit_base_patch16_224\"}}}"};
  heed_config *c;
  heed_preprocess p;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const heed_model_file file = {"open_clip_config.json",
                                  test_source(bad[i].text, strlen(bad[i].text))};
    assert_ok(heed_config_open(context, &file, 1, HEED_TOWER_VISION, &c, &error));
    assert_fails(heed_config_preprocess(c, c->family, 224, 3, &p, &error), bad[i].status,
                 bad[i].part);
    heed_config_destroy(c);
  }
  for (size_t i = 0; i < 3; i++) {
    const heed_model_file file = {"open_clip_config.json", test_source(good[i], strlen(good[i]))};
    const bool squash = i == 1;
    assert_ok(heed_config_open(context, &file, 1, HEED_TOWER_VISION, &c, &error));
    assert_ok(heed_config_preprocess(c, c->family, 96, 3, &p, &error));
    assert_true(heed_config_tells_preprocess(c));
    assert_int_equal(p.resize, squash ? SQUASH : SHORT);
    assert_int_equal(p.resample, 3);
    assert_int_equal(squash ? p.width : p.short_side, 96);
    assert_int_equal(p.crop_width, squash ? 0 : 96);
    assert_true(p.mean[0] == 0.48145466f && p.std[2] == 0.27577711f);
    assert_int_equal(p.crop_rule, HEED_CROP_EVEN);
    heed_config_destroy(c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(family_defaults),
      cmocka_unit_test(size_spellings),
      cmocka_unit_test(published_files),
      cmocka_unit_test(values),
      cmocka_unit_test(open_clip_preprocess),
      cmocka_unit_test(whole_numbers_of_a_preprocessor),
      cmocka_unit_test(wrong_preprocess),
      cmocka_unit_test(timm_preprocess),
      cmocka_unit_test(other_steps),
      cmocka_unit_test(crop_rules),
      cmocka_unit_test(processor_files),
      cmocka_unit_test(classes),
      cmocka_unit_test(channels),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
