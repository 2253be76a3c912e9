/* timm's architectures, by patterns of their names, and three families that have no config. Source:
 * vision_transformer.py, deit.py, eva.py and beit.py of timm 1.0.29. */
#include "model/architecture.h"

#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "model/names.h"

typedef enum fact {
  HEAD_WIDTH, /* value: channels per head */
  HEADS,      /* value: heads, of models of that width */
  REFERENCE,  /* value: side of the grid of rotary positions, of models of that width */
  EPSILON,    /* 1e-5 */
  QUICK_GELU,
  GELU_TANH,
  NEEDS,       /* value: heed_group that the model must have */
  WITHOUT,     /* value: heed_group that it may lack */
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
    {"siglip", 0, HEAD_WIDTH, 64},
    {"siglip", 1152, HEADS, 16},
    {"siglip", 1536, HEADS, 16},
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
    {"vit_pe_*", 192, REFERENCE, 32},
    {"vit_pe_*", 384, REFERENCE, 32},
    {"vit_pe_*", 768, REFERENCE, 32},
    {"vit_pe_*", 1024, REFERENCE, 32},
    {"vit_pe_*", 1536, REFERENCE, 32},
    {"vit_pe_core_*", 192, REFERENCE, 24},
    {"vit_pe_core_*", 384, REFERENCE, 24},
    {"vit_pe_core_*", 768, REFERENCE, 14},
    {"vit_pe_core_*", 1024, REFERENCE, 24},
    {"*_ape_*", 0, NEEDS, HEED_GROUP_POSITIONS},
    {"*_rope_mixed_*", 0, NEEDS, HEED_GROUP_FREQUENCIES},
    {"vit_intern300m_*", 0, WITHOUT, HEED_GROUP_FINAL_NORM},
    {"vit_*_clip_*", 0, EPSILON, 0},
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

static bool matches(const char *text, const char *pattern) {
  const char *star = NULL, *from = NULL;
  while (*text) {
    if (*pattern == '*') {
      star = ++pattern;
      from = text;
    } else if (*pattern == *text && *pattern != '|') {
      pattern++, text++;
    } else if (star) {
      pattern = star;
      text = ++from;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return !*pattern || *pattern == '|';
}

bool heed_architecture_is(const char *architecture, const char *patterns) {
  while (patterns && !matches(architecture, patterns)) {
    patterns = strchr(patterns, '|');
    if (patterns) patterns++;
  }
  return patterns != NULL;
}

/* The last row of the facts `first` to `last` for a model of that width. */
static const row *find_row(const char *architecture, uint32_t width, fact first, fact last) {
  const row *found = NULL;
  for (const row *r = rows; r < rows + ROWS; r++)
    if (r->fact >= first && r->fact <= last && (!r->width || r->width == width) &&
        matches(architecture, r->pattern))
      found = r;
  return found;
}

uint32_t heed_architecture_heads(const char *architecture, uint32_t width) {
  const row *found = find_row(architecture, width, HEAD_WIDTH, HEADS);
  return !found ? 0 : found->fact == HEADS ? found->value : width / found->value;
}

uint32_t heed_architecture_reference(const char *architecture, uint32_t width) {
  const row *found = find_row(architecture, width, REFERENCE, REFERENCE);
  return found ? found->value : 0;
}

heed_status heed_architecture_rules(const char *architecture, const char *where, heed_rules *rules,
                                    heed_error *error) {
  for (int i = 0; i < ROWS; i++) {
    const row *r = &rows[i];
    if (r->fact <= REFERENCE || !matches(architecture, r->pattern)) continue;
    if (r->fact == EPSILON) rules->epsilon = 1e-5f;
    if (r->fact == NEEDS) rules->needs |= 1u << r->value;
    if (r->fact == WITHOUT) rules->needs &= ~(1u << r->value);
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
