/* Whose weights those with timm's names are, by what else their file holds. */
#include <string.h>

#include "model/vit/role.h"

#define DINO HEED_ORIGINAL_DINO
#define MAE HEED_ORIGINAL_MAE
#define DEIT HEED_ORIGINAL_DEIT

/* The first parts of names outside the encoder that no model of timm with another preprocessing
 * has. Sources: facebookresearch/dino (vision_transformer.py, DINOHead), mae (models_mae.py) and
 * deit (models.py), as files of their trainings have them. */
static const struct {
  const char *name, *processor;
} marks[] = {{"decoder_blocks.", MAE}, {"decoder_embed.", MAE},    {"decoder_pos_embed", MAE},
             {"head.mlp.", DINO},      {"head.last_layer.", DINO}, {"dist_token", DEIT},
             {"head_dist.", DEIT}};

const char *heed_roles_maker(const heed_roles *roles) {
  const heed_checkpoint *checkpoint = roles->checkpoint;
  for (uint32_t i = 0; i < heed_checkpoint_count(checkpoint); i++) {
    const char *name = heed_checkpoint_get(checkpoint, i)->info->name;
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
      const char *at = strstr(name, marks[m].name);
      if (at && (at == name || at[-1] == '.')) return marks[m].processor;
    }
  }
  return roles->training.maker;
}
