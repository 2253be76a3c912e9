/* preprocessor_config.json, and what stands for it in timm's config.json, in the spellings that
 * published models have. */
#include <stdio.h>

#include "support/config_text.h"

static heed_preprocess read_preprocess(const char *config_text, const char *text,
                                       const heed_family *family, uint32_t image_size) {
  heed_config *c;
  heed_preprocess p;
  assert_ok(open_texts(config_text, text, &c));
  assert_ok(heed_config_preprocess(c, family, image_size, &p, &error));
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
  assert_fails(heed_config_preprocess(c, VIT, 224, &p, &error), status, part);
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
  refuse_preprocess("{\"image_processor_type\":\"SamImageProcessor\"}", HEED_UNSUPPORTED,
                    "the kind of processor is not supported (found SamImageProcessor");
  refuse_preprocess("{\"image_processor_type\":\"ViTPoseImageProcessor\"}", HEED_UNSUPPORTED,
                    "the kind of processor is not supported");
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
        SHORT, 0, 0, 256, 224, 2, 0.5f);
  check(read_preprocess(
            TIMM("\"crop_pct\":1.0,\"crop_mode\":\"squash\",\"mean\":[0.485,0.456,0.406]"), NULL,
            &heed_family_timm, 384),
        SQUASH, 384, 384, 0, 384, 3, 0.485f);
  check(read_preprocess("{\"architecture\":\"vit_x\",\"crop_pct\":0.95}", NULL, &heed_family_timm,
                        224),
        SHORT, 0, 0, 235, 224, 3, 0.5f);
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
    assert_fails(heed_config_preprocess(c, &heed_family_timm, 224, &p, &error), bad[i].status,
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
  static const char *const good[] = {OPEN(""), OPEN("\"resize_mode\":\"squash\"")};
  heed_config *c;
  heed_preprocess p;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const heed_model_file file = {"open_clip_config.json",
                                  test_source(bad[i].text, strlen(bad[i].text))};
    assert_ok(heed_config_open(context, &file, 1, HEED_TOWER_VISION, &c, &error));
    assert_fails(heed_config_preprocess(c, c->family, 224, &p, &error), bad[i].status, bad[i].part);
    heed_config_destroy(c);
  }
  for (size_t i = 0; i < 2; i++) {
    const heed_model_file file = {"open_clip_config.json", test_source(good[i], strlen(good[i]))};
    assert_ok(heed_config_open(context, &file, 1, HEED_TOWER_VISION, &c, &error));
    assert_ok(heed_config_preprocess(c, c->family, 96, &p, &error));
    assert_int_equal(p.resize, i ? SQUASH : SHORT);
    assert_int_equal(p.resample, 3);
    assert_int_equal(i ? p.width : p.short_side, 96);
    heed_config_destroy(c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(family_defaults),      cmocka_unit_test(size_spellings),
      cmocka_unit_test(published_files),      cmocka_unit_test(values),
      cmocka_unit_test(open_clip_preprocess), cmocka_unit_test(whole_numbers_of_a_preprocessor),
      cmocka_unit_test(wrong_preprocess),     cmocka_unit_test(timm_preprocess),
      cmocka_unit_test(other_steps),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
