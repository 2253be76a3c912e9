/* THE list of roles: what a tensor of a ViT is for, whatever a file calls it.
 *
 * HEED_ROLE(ROLE, GROUP, "name") is one tensor; HEED_ROLE_PAIR(ROLE, GROUP, BIAS_GROUP, "name") are
 * two, ROLE_WEIGHT and ROLE_BIAS. When a file has one role of a group in any layer, it must have
 * all roles of the group in every layer; NONE is no group. The name is what `heed inspect` calls
 * the role in every style: Hugging Face's, without a prefix and with '#' for the layer's number. */
#define HEED_LAYER "encoder.layer.#."
HEED_ROLE(CLS_TOKEN, CLS, "embeddings.cls_token")                            /* [1, 1, C] */
HEED_ROLE(DISTILLATION_TOKEN, DISTILLATION, "embeddings.distillation_token") /* [1, 1, C] */
HEED_ROLE(REGISTER_TOKENS, REGISTERS, "embeddings.register_tokens")          /* [1, R, C] */
HEED_ROLE(POSITION_EMBEDDINGS, POSITIONS, "embeddings.position_embeddings")  /* [1, rows, C] */
HEED_ROLE_PAIR(PATCH, NONE, PATCH_BIAS,
               "embeddings.patch_embeddings.projection")         /* [C, Cin, P, P] */
HEED_ROLE_PAIR(PRE_NORM, PRE_NORM, PRE_NORM, "pre_layernorm")    /* [C], on all tokens */
HEED_ROLE_PAIR(NORM1, NONE, NONE, HEED_LAYER "layernorm_before") /* [C] */
HEED_ROLE_PAIR(QUERY, NONE, QKV_BIASES, HEED_LAYER "attention.attention.query") /* [C, C] */
HEED_ROLE_PAIR(KEY, NONE, QKV_BIASES, HEED_LAYER "attention.attention.key")     /* [C, C] */
HEED_ROLE_PAIR(VALUE, NONE, QKV_BIASES, HEED_LAYER "attention.attention.value") /* [C, C] */
HEED_ROLE_PAIR(QUERY_NORM, QUERY_KEY_NORMS, QUERY_KEY_NORMS,
               HEED_LAYER "attention.query_norm") /* [D] */
HEED_ROLE_PAIR(KEY_NORM, QUERY_KEY_NORMS, QUERY_KEY_NORMS,
               HEED_LAYER "attention.key_norm")                                   /* [D] */
HEED_ROLE_PAIR(ATTENTION_OUTPUT, NONE, NONE, HEED_LAYER "attention.output.dense") /* [C, C] */
HEED_ROLE(LAYER_SCALE1, LAYER_SCALES, HEED_LAYER "layer_scale1.lambda1")          /* [C] */
HEED_ROLE_PAIR(NORM2, NONE, NONE, HEED_LAYER "layernorm_after")                   /* [C] */
HEED_ROLE_PAIR(FC1, NONE, NONE, HEED_LAYER "intermediate.dense")         /* [mlp_width, C] */
HEED_ROLE_PAIR(GATE, GATE, GATE, HEED_LAYER "mlp.gate")                  /* [mlp_width, C] */
HEED_ROLE_PAIR(FC2, NONE, NONE, HEED_LAYER "output.dense")               /* [C, mlp_width] */
HEED_ROLE(LAYER_SCALE2, LAYER_SCALES, HEED_LAYER "layer_scale2.lambda1") /* [C] */
HEED_ROLE_PAIR(FINAL_NORM, FINAL_NORM, FINAL_NORM, "layernorm")          /* [C] */
HEED_ROLE_PAIR(POOL_NORM, POOL_NORM, POOL_NORM, "pooler.layernorm") /* [C], on the pooled state */
/* [classes, C], or [classes, 2 C] on CLS and the mean of the patches */
HEED_ROLE(CLASSIFIER_WEIGHT, CLASSIFIER, "classifier.weight|/cls_classifier.weight")
HEED_ROLE(CLASSIFIER_BIAS, CLASSIFIER, "classifier.bias|/cls_classifier.bias")
HEED_ROLE_PAIR(DISTILLATION_CLASSIFIER, DISTILLATION_CLASSIFIER, DISTILLATION_CLASSIFIER,
               "distillation_classifier")                     /* [classes, C] */
HEED_ROLE_PAIR(POOLER, POOLER, POOLER, "pooler.dense")        /* [C, C] */
HEED_ROLE(PROJECTION, PROJECTION, "visual_projection.weight") /* [E, C] */
#undef HEED_LAYER
