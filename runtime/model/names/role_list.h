/* THE list of roles: what a tensor of a ViT is for, whatever a file calls it.
 *
 * HEED_ROLE(ROLE, GROUP, "shape", "name") is one tensor; HEED_ROLE_PAIR(ROLE, GROUP, BIAS_GROUP,
 * "shape", "name") are two, ROLE_WEIGHT of that shape and ROLE_BIAS of its first axis.
 * HEED_ROLE_NORM(ROLE, GROUP, "shape", "name") is a pair of a norm, which is one of the pairs where
 * it is not defined.
 *
 * When a file has one role of a group in any layer, it must have all roles of the group in every
 * layer; NONE is no group. The name is what `heed inspect` calls the role in every style: Hugging
 * Face's, without a prefix and with '#' for the layer's number.
 *
 * Axes of a shape: C width, M width of the MLP, D numbers that a norm of queries spans, K classes,
 * Q numbers that the classifier reads, E numbers of the embedding, R registers, T rows of
 * positions, N ids of tokens, I channels of the image, P side of a patch, L layers, H heads, A = D
 * / 2 angles, F = D / 4 periods, B rows of a table of relative positions, V width of the pooling
 * attention's MLP, G = C / its heads, J width of all heads together, S width of the classifier's
 * hidden layer, Y = I P P numbers of a patch, X = I times the frames of a token, U width of the
 * embedded patches. Of a layer that begins a stage W = 4 times the width before it, Z numbers that
 * the norm of merged patches spans. O numbers of the hidden layer of computed positions, r
 * distances of two rows or columns of its grid; 1, 2. */
#ifndef HEED_ROLE_NORM
#define HEED_ROLE_NORM(name, group, shape, text) HEED_ROLE_PAIR(name, group, group, shape, text)
#endif
#define HEED_LAYER "encoder.layer.#."
HEED_ROLE(CLS_TOKEN, CLS, "11C", "embeddings.cls_token")
HEED_ROLE(DISTILLATION_TOKEN, DISTILLATION, "11C", "embeddings.distillation_token")
HEED_ROLE(REGISTER_TOKENS, REGISTERS, "1RC", "embeddings.register_tokens")
HEED_ROLE(TOKEN_EMBEDDINGS, NONE, "NC", "embeddings.token_embedding.weight")
HEED_ROLE(POSITION_EMBEDDINGS, POSITIONS, "1TC", "embeddings.position_embeddings")
HEED_ROLE(FREQUENCIES, FREQUENCIES, "2LHA", "rope.freqs")
HEED_ROLE(PERIODS, PERIODS, "F", "rope_embed.periods")
HEED_ROLE(SHARED_POSITION_BIAS, SHARED_POSITION_BIAS, "BH", "relative_position_bias_table")
HEED_ROLE(PIXEL_MEAN, NONE, "I11", "input_conditioner.norm_mean")
HEED_ROLE(PIXEL_STD, NONE, "I11", "input_conditioner.norm_std")
HEED_ROLE_NORM(PATCH_NORM, PATCH_NORMS, "Y", "embeddings.patch_norm")
HEED_ROLE_PAIR(PATCH, NONE, PATCH_BIAS, "UXPP", "embeddings.patch_embeddings.projection")
HEED_ROLE_NORM(EMBEDDED_NORM, PATCH_NORMS, "U", "embeddings.norm")
HEED_ROLE_NORM(PRE_NORM, PRE_NORM, "C", "pre_layernorm")
HEED_ROLE_NORM(MERGE_NORM, NONE, "Z", HEED_LAYER "merge.norm")
HEED_ROLE(MERGE_WEIGHT, NONE, "CW", HEED_LAYER "merge.reduction.weight")
HEED_ROLE_NORM(NORM1, NONE, "C", HEED_LAYER "layernorm_before")
HEED_ROLE_PAIR(QUERY, NONE, QKV_BIASES, "JC", HEED_LAYER "attention.attention.query")
HEED_ROLE_PAIR(KEY, NONE, KEY_BIAS, "JC", HEED_LAYER "attention.attention.key")
HEED_ROLE_PAIR(VALUE, NONE, QKV_BIASES, "JC", HEED_LAYER "attention.attention.value")
HEED_ROLE_NORM(QUERY_NORM, QUERY_KEY_NORMS, "D", HEED_LAYER "attention.query_norm")
HEED_ROLE_NORM(KEY_NORM, QUERY_KEY_NORMS, "D", HEED_LAYER "attention.key_norm")
HEED_ROLE_NORM(ATTENTION_NORM, ATTENTION_NORM, "J", HEED_LAYER "attention.norm")
HEED_ROLE(LOGIT_SCALE, QUERY_KEY_NORMS, "H11", HEED_LAYER "logit_scale")
HEED_ROLE_PAIR(POSITION_HIDDEN, QUERY_KEY_NORMS, QUERY_KEY_NORMS, "O2",
               HEED_LAYER "continuous_position_bias_mlp.0")
HEED_ROLE(POSITION_OUTPUT, QUERY_KEY_NORMS, "HO",
          HEED_LAYER "continuous_position_bias_mlp.2.weight")
HEED_ROLE(POSITION_BIAS, POSITION_BIAS, "BH", HEED_LAYER "relative_position_bias_table")
HEED_ROLE(RELATIVE_ROWS, RELATIVE, "rD", HEED_LAYER "attention.rel_pos_h")
HEED_ROLE(RELATIVE_COLUMNS, RELATIVE, "rD", HEED_LAYER "attention.rel_pos_w")
HEED_ROLE_PAIR(ATTENTION_OUTPUT, OUTPUT, OUTPUT_BIAS, "CJ", HEED_LAYER "attention.output.dense")
HEED_ROLE(LAYER_SCALE1, LAYER_SCALES, "C", HEED_LAYER "layer_scale1.lambda1")
HEED_ROLE_NORM(NORM2, NONE, "C", HEED_LAYER "layernorm_after")
HEED_ROLE_PAIR(FC1, NONE, NONE, "MC", HEED_LAYER "intermediate.dense")
HEED_ROLE_PAIR(GATE, GATE, GATE, "MC", HEED_LAYER "mlp.gate")
HEED_ROLE_NORM(MLP_NORM, MLP_NORM, "M", HEED_LAYER "mlp.norm")
HEED_ROLE_PAIR(FC2, NONE, NONE, "CM", HEED_LAYER "output.dense")
HEED_ROLE(LAYER_SCALE2, LAYER_SCALES, "C", HEED_LAYER "layer_scale2.lambda1")
HEED_ROLE_NORM(FINAL_NORM, FINAL_NORM, "C", "layernorm")
HEED_ROLE_NORM(POOL_NORM, POOL_NORM, "C", "pooler.layernorm")
HEED_ROLE(PROBE, PROBE, "11C", "head.probe")
HEED_ROLE_PAIR(PROBE_QUERY, PROBE, PROBE, "CC", "head.attention.query")
HEED_ROLE_PAIR(PROBE_KEY, PROBE, PROBE, "CC", "head.attention.key")
HEED_ROLE_PAIR(PROBE_VALUE, PROBE, PROBE, "CC", "head.attention.value")
HEED_ROLE_NORM(PROBE_QUERY_NORM, PROBE_NORMS, "G", "head.attention.query_norm")
HEED_ROLE_NORM(PROBE_KEY_NORM, PROBE_NORMS, "G", "head.attention.key_norm")
HEED_ROLE_PAIR(PROBE_OUTPUT, PROBE, PROBE, "CC", "head.attention.out_proj")
HEED_ROLE_NORM(PROBE_NORM, PROBE, "C", "head.layernorm")
HEED_ROLE_PAIR(PROBE_FC1, PROBE, PROBE, "VC", "head.mlp.fc1")
HEED_ROLE_PAIR(PROBE_FC2, PROBE, PROBE, "CV", "head.mlp.fc2")
HEED_ROLE_NORM(HEAD_NORM, HEAD_NORM, "C", "classifier.norm")
HEED_ROLE_PAIR(HEAD_HIDDEN, HEAD_HIDDEN, HEAD_HIDDEN, "SC", "classifier.hidden")
HEED_ROLE(CLASSIFIER_WEIGHT, CLASSIFIER, "KQ", "classifier.weight|/cls_classifier.weight")
HEED_ROLE(CLASSIFIER_BIAS, CLASSIFIER, "K", "classifier.bias|/cls_classifier.bias")
HEED_ROLE_PAIR(DISTILLATION_CLASSIFIER, DISTILLATION_CLASSIFIER, DISTILLATION_CLASSIFIER, "KC",
               "distillation_classifier")
HEED_ROLE_PAIR(POOLER, POOLER, POOLER, "CC", "pooler.dense")
HEED_ROLE_PAIR(PROJECTION, PROJECTION, PROJECTION_BIAS, "EC", "visual_projection")
#undef HEED_LAYER
#undef HEED_ROLE_NORM
