/* timm's architectures, by patterns of their names, and families that have no config. Source:
 * vision_transformer.py, deit.py, eva.py and beit.py of timm 1.0.29. */
#include "model/families/timm_architectures.h"

#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "heed/graph.h"
#include "model/names/names.h"

typedef enum fact {
  HEAD_WIDTH, /* value: channels per head */
  HEADS,      /* value: heads, of models of that width */
  REFERENCE,  /* value: side of the grid of rotary positions, of models of that width */
  EPSILON,    /* 1e-5 */
  QUICK_GELU,
  GELU_TANH,
  NEEDS,       /* value: heed_group that the model must have */
  WITHOUT,     /* value: heed_group that it may lack */
  PROBES_ALL,  /* the pooling attention reads all tokens */
  OTHER_BLOCKS /* value: index of what they are */
} fact;

/* Of models whose architecture has the pattern; later rows override earlier ones. */
typedef struct row {
  uint16_t width; /* 0: any */
  uint8_t fact, value;
} row;

static const char *const blocks[] = {"attention and MLP in parallel",
                                     "differential attention",
                                     "a norm after each part",
                                     "RMS norms",
                                     "stages of smaller grids",
                                     "attention over channels",
                                     "other attention",
                                     "a convolutional network"};

#define ROWS(ROW)                                            \
  ROW("vit_*", 0, HEAD_WIDTH, 64)                            \
  ROW("deit*", 0, HEAD_WIDTH, 64)                            \
  ROW("eva*", 0, HEAD_WIDTH, 64)                             \
  ROW("beit*", 0, HEAD_WIDTH, 64)                            \
  ROW("flexivit_*", 0, HEAD_WIDTH, 64)                       \
  ROW("test_vit*", 0, HEAD_WIDTH, 32)                        \
  ROW("aimv2_*", 0, HEAD_WIDTH, 128)                         \
  ROW("a guess", 0, HEAD_WIDTH, 64)                          \
  ROW("a guess", 1152, HEADS, 16)                            \
  ROW("a guess", 1280, HEADS, 16)                            \
  ROW("a guess", 1408, HEADS, 16)                            \
  ROW("a guess", 1664, HEADS, 16)                            \
  ROW("a guess", 1792, HEADS, 16)                            \
  ROW("a guess", 4096, HEADS, 32)                            \
  ROW("moco", 384, HEADS, 12)                                \
  ROW("vjepa2", 0, HEAD_WIDTH, 64)                           \
  ROW("vjepa2", 1280, HEADS, 16)                             \
  ROW("qwen", 0, HEADS, 16)                                  \
  ROW("moonvit", 0, HEADS, 16)                               \
  ROW("internvit", 1024, HEADS, 16)                          \
  ROW("internvit", 3200, HEADS, 25)                          \
  ROW("dinov2", 0, HEAD_WIDTH, 64)                           \
  ROW("clip", 768, HEADS, 12)                                \
  ROW("clip", 1024, HEADS, 16)                               \
  ROW("clip", 1280, HEADS, 16)                               \
  ROW("clip", 1408, HEADS, 16)                               \
  ROW("clip", 1664, HEADS, 16)                               \
  ROW("siglip", 0, HEAD_WIDTH, 64)                           \
  ROW("siglip", 1152, HEADS, 16)                             \
  ROW("siglip", 1536, HEADS, 16)                             \
  ROW("torchvision", 768, HEADS, 12)                         \
  ROW("torchvision", 1024, HEADS, 16)                        \
  ROW("torchvision", 1280, HEADS, 16)                        \
  ROW("vit_base_patch16_gap_224", 768, HEADS, 16)            \
  ROW("vit_so400m_*", 1152, HEADS, 16)                       \
  ROW("*_huge_*", 1280, HEADS, 16)                           \
  ROW("*_huge_plus_*", 1280, HEADS, 20)                      \
  ROW("*_giant_*", 1408, HEADS, 16)                          \
  ROW("vit_giantopt_*", 1536, HEADS, 16)                     \
  ROW("vit_pe_*", 1536, HEADS, 16)                           \
  ROW("vit_gigantic_*", 1664, HEADS, 16)                     \
  ROW("eva02_enormous_*", 1792, HEADS, 16)                   \
  ROW("vit_7b_*", 4096, HEADS, 32)                           \
  ROW("vit_pe_*", 192, REFERENCE, 32)                        \
  ROW("vit_pe_*", 384, REFERENCE, 32)                        \
  ROW("vit_pe_*", 768, REFERENCE, 32)                        \
  ROW("vit_pe_*", 1024, REFERENCE, 32)                       \
  ROW("vit_pe_*", 1536, REFERENCE, 32)                       \
  ROW("vit_pe_core_*", 192, REFERENCE, 24)                   \
  ROW("vit_pe_core_*", 384, REFERENCE, 24)                   \
  ROW("vit_pe_core_*", 768, REFERENCE, 14)                   \
  ROW("vit_pe_core_*", 1024, REFERENCE, 24)                  \
  ROW("*_ape_*", 0, NEEDS, HEED_GROUP_POSITIONS)             \
  ROW("*_rope_mixed_*", 0, NEEDS, HEED_GROUP_FREQUENCIES)    \
  ROW("vit_intern300m_*", 0, WITHOUT, HEED_GROUP_FINAL_NORM) \
  ROW("vit_*_clip_*", 0, EPSILON, 0)                         \
  ROW("beit3_*", 0, EPSILON, 0)                              \
  ROW("*quickgelu*", 0, QUICK_GELU, 0)                       \
  ROW("vit_so400m_patch16_siglip*", 0, GELU_TANH, 0)         \
  ROW("vit_giantopt_*siglip*", 0, GELU_TANH, 0)              \
  ROW("vit_large_patch16_siglip*_512", 0, GELU_TANH, 0)      \
  ROW("vit_base_patch32_siglip*_256", 0, GELU_TANH, 0)       \
  ROW("*_18x2_*", 0, OTHER_BLOCKS, 0)                        \
  ROW("*_xp_*", 0, OTHER_BLOCKS, 0)                          \
  ROW("*pwee*", 0, OTHER_BLOCKS, 0)                          \
  ROW("*dwee*", 0, OTHER_BLOCKS, 1)                          \
  ROW("*dlittle*", 0, OTHER_BLOCKS, 1)                       \
  ROW("*dpwee*", 0, OTHER_BLOCKS, 1)                         \
  ROW("*_rpn_*", 0, OTHER_BLOCKS, 2)                         \
  ROW("eva02_enormous_*", 0, OTHER_BLOCKS, 2)                \
  ROW("vit_relpos_*", 0, OTHER_BLOCKS, 6)                    \
  ROW("vit_srelpos_*", 0, OTHER_BLOCKS, 6)                   \
  ROW("vit_*_r26_*", 0, OTHER_BLOCKS, 7)                     \
  ROW("vit_r26_*", 0, OTHER_BLOCKS, 7)                       \
  ROW("vit_r50_*", 0, OTHER_BLOCKS, 7)                       \
  ROW("vit_*_r50_*", 0, OTHER_BLOCKS, 7)                     \
  ROW("vit_*_resnet*", 0, OTHER_BLOCKS, 7)                   \
  ROW("naflexvit_*", 0, OTHER_BLOCKS, 6)                     \
  ROW("gemma4_*", 0, OTHER_BLOCKS, 3)                        \
  ROW("vitamin_*", 0, OTHER_BLOCKS, 7)                       \
  ROW("xcit_*", 0, OTHER_BLOCKS, 5)                          \
  ROW("cait_*", 0, OTHER_BLOCKS, 6)                          \
  ROW("convit_*", 0, OTHER_BLOCKS, 6)                        \
  ROW("crossvit_*", 0, OTHER_BLOCKS, 6)                      \
  ROW("tnt_*", 0, OTHER_BLOCKS, 6)                           \
  ROW("volo_*", 0, OTHER_BLOCKS, 4)                          \
  ROW("swinv2_cr_*", 0, OTHER_BLOCKS, 4)                     \
  ROW("mvit*", 0, OTHER_BLOCKS, 4)                           \
  ROW("pvt*", 0, OTHER_BLOCKS, 4)                            \
  ROW("gcvit*", 0, OTHER_BLOCKS, 4)                          \
  ROW("coat*", 0, OTHER_BLOCKS, 4)                           \
  ROW("maxvit*", 0, OTHER_BLOCKS, 4)                         \
  ROW("maxxvit*", 0, OTHER_BLOCKS, 4)                        \
  ROW("pit_*", 0, OTHER_BLOCKS, 4)                           \
  ROW("caformer*", 0, OTHER_BLOCKS, 4)                       \
  ROW("poolformer*", 0, OTHER_BLOCKS, 4)                     \
  ROW("convformer*", 0, OTHER_BLOCKS, 4)                     \
  ROW("hiera*", 0, OTHER_BLOCKS, 4)                          \
  ROW("levit*", 0, OTHER_BLOCKS, 4)                          \
  ROW("nest*", 0, OTHER_BLOCKS, 4)                           \
  ROW("jx_nest*", 0, OTHER_BLOCKS, 4)                        \
  ROW("twins*", 0, OTHER_BLOCKS, 4)                          \
  ROW("davit*", 0, OTHER_BLOCKS, 4)                          \
  ROW("efficientformer*", 0, OTHER_BLOCKS, 4)                \
  ROW("efficientvit*", 0, OTHER_BLOCKS, 4)                   \
  ROW("fastvit*", 0, OTHER_BLOCKS, 4)                        \
  ROW("mobilevit*", 0, OTHER_BLOCKS, 4)                      \
  ROW("edgenext*", 0, OTHER_BLOCKS, 4)                       \
  ROW("nextvit*", 0, OTHER_BLOCKS, 4)                        \
  ROW("tiny_vit*", 0, OTHER_BLOCKS, 4)                       \
  ROW("visformer*", 0, OTHER_BLOCKS, 4)                      \
  ROW("swiftformer*", 0, OTHER_BLOCKS, 4)                    \
  ROW("repvit*", 0, OTHER_BLOCKS, 4)                         \
  ROW("sam2_*", 0, OTHER_BLOCKS, 4)                          \
  ROW("focalnet*", 0, OTHER_BLOCKS, 4)                       \
  ROW("mambaout*", 0, OTHER_BLOCKS, 4)                       \
  ROW("eva_*", 0, PROBES_ALL, 0)                             \
  ROW("test_vit3*", 0, PROBES_ALL, 0)                        \
  ROW("test_vit4*", 0, OTHER_BLOCKS, 3)
#define PATTERN(pattern, width, fact, value) pattern "\0"
#define FACT(pattern, width, fact, value) {width, fact, value},
static const char row_patterns[] = ROWS(PATTERN);
static const row rows[] = {ROWS(FACT)};
enum { COUNT = sizeof rows / sizeof *rows };

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
  const char *pattern = row_patterns;
  for (const row *r = rows; r < rows + COUNT; r++, pattern = heed_next_pattern(pattern))
    if (r->fact >= first && r->fact <= last && (!r->width || r->width == width) &&
        matches(architecture, pattern))
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
  const char *pattern = row_patterns;
  for (const row *r = rows; r < rows + COUNT; r++, pattern = heed_next_pattern(pattern)) {
    if (r->fact <= REFERENCE || !matches(architecture, pattern)) continue;
    if (r->fact == EPSILON) rules->epsilon = 1e-5f;
    if (r->fact == NEEDS) rules->needs |= (heed_groups)1 << r->value;
    if (r->fact == WITHOUT) rules->needs &= ~((heed_groups)1 << r->value);
    if (r->fact == PROBES_ALL) rules->probe_reads_all = true;
    if (r->fact == QUICK_GELU) rules->activation = HEED_ACTIVATION_GELU_QUICK;
    if (r->fact == GELU_TANH) rules->activation = HEED_ACTIVATION_GELU_TANH;
    if (r->fact == OTHER_BLOCKS)
      return heed_fail(error, HEED_UNSUPPORTED,
                       "%s: architecture is not supported (found %.*s with %s, expected plain "
                       "blocks); its ONNX export opens",
                       where, HEED_CUT(architecture), blocks[r->value]);
  }
  return HEED_OK;
}
