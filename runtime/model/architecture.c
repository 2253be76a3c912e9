/* timm's architectures, by patterns of their names, and three families that have no config. Source:
 * vision_transformer.py, deit.py, eva.py and beit.py of timm 1.0.29. */
#include "model/architecture.h"

#include <string.h>

#include "base/status.h"
#include "base/utf8.h"

typedef enum fact {
  HEAD_WIDTH, /* value: channels per head */
  HEADS,      /* value: heads, of models of that width */
  EPSILON,    /* 1e-5 */
  QUICK_GELU,
  GELU_TANH,
  OTHER_BLOCKS /* value: index of what they are */
} fact;

/* Later rows override earlier ones. */
typedef struct row {
  const char *pattern;
  uint16_t width; /* 0: any */
  uint8_t fact, value;
} row;

static const char *const blocks[] = {"attention and MLP in parallel", "differential attention",
                                     "a norm after each part", "RMS norms"};

static const row rows[] = {
    {"vit_*", 0, HEAD_WIDTH, 64},
    {"deit*", 0, HEAD_WIDTH, 64},
    {"eva*", 0, HEAD_WIDTH, 64},
    {"beit*", 0, HEAD_WIDTH, 64},
    {"flexivit_*", 0, HEAD_WIDTH, 64},
    {"test_vit*", 0, HEAD_WIDTH, 32},
    {"aimv2_*", 0, HEAD_WIDTH, 128},
    {"dinov2", 0, HEAD_WIDTH, 64},
    {"clip", 768, HEADS, 12},
    {"clip", 1024, HEADS, 16},
    {"clip", 1280, HEADS, 16},
    {"clip", 1408, HEADS, 16},
    {"clip", 1664, HEADS, 16},
    {"torchvision", 768, HEADS, 12},
    {"torchvision", 1024, HEADS, 16},
    {"torchvision", 1280, HEADS, 16},
    {"vit_base_patch16_gap_224", 768, HEADS, 16},
    {"vit_so400m_*", 1152, HEADS, 16},
    {"*_huge_*", 1280, HEADS, 16},
    {"*_huge_plus_*", 1280, HEADS, 20},
    {"*_giant_*", 1408, HEADS, 16},
    {"vit_giantopt_*", 1536, HEADS, 16},
    {"vit_pe_*", 1536, HEADS, 16},
    {"vit_gigantic_*", 1664, HEADS, 16},
    {"eva02_enormous_*", 1792, HEADS, 16},
    {"vit_7b_*", 4096, HEADS, 32},
    {"vit_*_clip_*", 0, EPSILON, 0},
    {"*dinov3*", 0, EPSILON, 0},
    {"vit_pe_*", 0, EPSILON, 0},
    {"beit3_*", 0, EPSILON, 0},
    {"*quickgelu*", 0, QUICK_GELU, 0},
    {"vit_so400m_patch16_siglip*", 0, GELU_TANH, 0},
    {"vit_giantopt_*siglip*", 0, GELU_TANH, 0},
    {"vit_large_patch16_siglip*_512", 0, GELU_TANH, 0},
    {"vit_base_patch32_siglip*_256", 0, GELU_TANH, 0},
    {"*_18x2_*", 0, OTHER_BLOCKS, 0},
    {"*_xp_*", 0, OTHER_BLOCKS, 0},
    {"*pwee*", 0, OTHER_BLOCKS, 0},
    {"*dwee*", 0, OTHER_BLOCKS, 1},
    {"*dlittle*", 0, OTHER_BLOCKS, 1},
    {"*dpwee*", 0, OTHER_BLOCKS, 1},
    {"*_rpn_*", 0, OTHER_BLOCKS, 2},
    {"eva02_enormous_*", 0, OTHER_BLOCKS, 2},
    {"aimv2_*", 0, OTHER_BLOCKS, 3},
    {"test_vit4*", 0, OTHER_BLOCKS, 3},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* '*' in the pattern stands for any text. */
static bool matches(const char *text, const char *pattern) {
  const char *star = NULL, *from = NULL;
  while (*text) {
    if (*pattern == '*') {
      star = ++pattern;
      from = text;
    } else if (*pattern == *text) {
      pattern++, text++;
    } else if (star) {
      pattern = star;
      text = ++from;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return !*pattern;
}

uint32_t heed_architecture_heads(const char *architecture, uint32_t width) {
  uint32_t heads = 0;
  for (int i = 0; i < ROWS; i++) {
    const row *r = &rows[i];
    if (r->fact > HEADS || (r->width && r->width != width) || !matches(architecture, r->pattern))
      continue;
    heads = r->fact == HEADS ? r->value : width / r->value;
  }
  return heads;
}

heed_status heed_architecture_rules(const char *architecture, const char *where, heed_rules *rules,
                                    heed_error *error) {
  for (int i = 0; i < ROWS; i++) {
    const row *r = &rows[i];
    if (r->fact <= HEADS || !matches(architecture, r->pattern)) continue;
    if (r->fact == EPSILON) rules->epsilon = 1e-5f;
    if (r->fact == QUICK_GELU) rules->activation = HEED_ACTIVATION_GELU_QUICK;
    if (r->fact == GELU_TANH) rules->activation = HEED_ACTIVATION_GELU_TANH;
    if (r->fact == OTHER_BLOCKS)
      return heed_fail(error, HEED_UNSUPPORTED,
                       "%s: architecture %.*s is not supported (found blocks with %s, expected "
                       "plain ones)",
                       where, HEED_CUT(architecture), blocks[r->value]);
  }
  return HEED_OK;
}
