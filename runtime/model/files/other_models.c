/* Models of other blocks, by names that their files have and no plain ViT has. Sources: the models
 * of timm 1.0.29 and of transformers; roboflow/rf-detr. */
#include "model/files/other_models.h"

#include <string.h>

#include "base/status.h"
#include "base/utf8.h"

/* A name has a pattern that begins one of its components; '#' stands for digits. */
static const struct {
  const char *name, *beside; /* beside: a second name that the file must have, or NULL */
  const char *kind;
  bool always; /* it would open, and be another model */
} others[] = {
    {"refpoint_embed.", "transformer.decoder.", "RF-DETR, whose layers attend in windows,", true},
    {"blocks.#.attn.rel_pos_h", NULL, "a model that attends in windows and is not SAM", false},
    {"patch_embed.backbone.", NULL, "a ViT behind a convolutional network", false},
    {"stem.conv", "blocks.#.attn.", "a ViT behind a convolutional network", false},
    {"blocks.#.attn.temperature", NULL, "XCiT, which attends over channels,", false},
    {"blocks_token_only.#.", NULL, "CaiT, whose CLS has layers of its own,", false},
    {"blocks.#.attn.gating_param", NULL, "ConViT, whose attention has gates,", false},
    {"blocks.#.attn.rel_pos.", NULL, "a ViT with relative positions by a network", false},
    {"shared_rel_pos.", NULL, "a ViT with relative positions by a network", false},
    {"embeds.proj.", NULL, "NaFlexViT", false},
    {"pixel_embed.", NULL, "TNT, which attends inside of patches,", false},
    {"blocks.#.blocks.#.", NULL, "CrossViT, which has two sizes of patches,", false},
    {"blocks.#.attn.pool_q.", NULL, "a hierarchical model", false},
    {"blocks.#.proj.weight", NULL, "a hierarchical model", false},
    {"layers.#.blocks.#.", NULL, "a hierarchical model", false},
    {"transformers.#.blocks.#.", NULL, "a hierarchical model", false},
    {"stages.#.", NULL, "a hierarchical model", false},
    {"stages_#.", NULL, "a hierarchical model", false},
    {"levels.#.", NULL, "a hierarchical model", false},
    {"encoder.block.#.#.attention.", NULL, "a hierarchical model", false},
    {"block1.#.attn.", NULL, "a hierarchical model", false},
    {"patch_embed1.", NULL, "a hierarchical model", false},
};

static bool begins(const char *text, const char *pattern) {
  for (; *pattern; pattern++)
    if (*pattern == '#') {
      const size_t digits = strspn(text, "0123456789");
      if (!digits) return false;
      text += digits;
    } else if (*text++ != *pattern)
      return false;
  return true;
}

static bool has(const char *name, const char *pattern) {
  while (name && !begins(name, pattern)) {
    name = strchr(name, '.');
    if (name) name++;
  }
  return name != NULL;
}

/* The first tensor with the pattern, or NULL. */
static const char *find(const heed_checkpoint *checkpoint, const char *pattern) {
  for (uint32_t i = 0; i < heed_checkpoint_count(checkpoint); i++) {
    const char *name = heed_checkpoint_get(checkpoint, i)->info->name;
    if (has(name, pattern)) return name;
  }
  return NULL;
}

heed_status heed_refuse_other_models(const heed_checkpoint *checkpoint, bool failed,
                                     heed_error *error) {
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (!failed && !others[i].always) continue;
    const char *name = find(checkpoint, others[i].name);
    if (!name || (others[i].beside && !find(checkpoint, others[i].beside))) continue;
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: %s is not supported (found tensor %.*s, expected a plain ViT); its ONNX "
                     "export opens",
                     heed_checkpoint_name(checkpoint), others[i].kind, HEED_CUT(name));
  }
  return HEED_OK;
}
