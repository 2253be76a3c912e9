/* THE table of the keys of configs: those that are read, those that tensors tell, and those that
 * change no result. Any other key is refused by name where it is on. Sources: the constructors of
 * timm 1.0.29's vision_transformer.py, deit.py, eva.py and beit.py; open_clip's model.py; the
 * configurations of transformers 4 and 5. */
#include "model/config/keys.h"

#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/families/timm_architectures.h"

enum {
  ARGS = 1u << HEED_KEYS_TIMM_ARGS,
  MODEL = 1u << HEED_KEYS_OPEN_CLIP_MODEL,
  VISION = 1u << HEED_KEYS_OPEN_CLIP_VISION,
  TEXT = 1u << HEED_KEYS_OPEN_CLIP_TEXT,
  TOWER = 1u << HEED_KEYS_HUGGING_FACE | 1u << HEED_KEYS_HUGGING_FACE_MEMBER
};

/* '*' stands for any text. */
static const struct {
  uint32_t places;
  const char *keys;
} known[] = {
    /* timm: read */
    {ARGS, "img_size|patch_size|in_chans|num_classes|global_pool|embed_dim|depth|num_heads"},
    {ARGS, "mlp_ratio|qkv_bias|reg_tokens|num_reg_tokens|act_layer|attn_pool_num_heads"},
    {ARGS, "use_rot_pos_emb|rope_type|rope_grid_indexing|rope_rotate_half|rope_grid_offset"},
    {ARGS, "rope_temperature|ref_feat_shape|use_shared_rel_pos_bias|dynamic_img_pad"},
    {ARGS, "pool_include_prefix|use_post_norm"},
    /* timm: told by tensors, without which a file is refused */
    {ARGS, "qkv_fused|qkv_bias_separate|swiglu_mlp|swiglu_align_to|scale_mlp|scale_attn_inner"},
    {ARGS, "attn_type|init_values|class_token|no_embed_class|use_abs_pos_emb|use_rel_pos_bias"},
    {ARGS, "qk_norm|scale_attn_norm|scale_mlp_norm|proj_bias|pos_embed|pre_norm|final_norm"},
    {ARGS, "fc_norm|use_pre_transformer_norm|use_post_transformer_norm|use_fc_norm"},
    {ARGS, "attn_pool_mlp_ratio"},
    /* timm: of training, of starting values, of what sizes are allowed */
    {ARGS, "*drop*rate|weight_init|fix_init|head_init_scale|head_init_bias"},
    {ARGS, "dynamic_img_size|strict_img_size|device|dtype|pretrained*|checkpoint_path|cache_dir"},
    {ARGS, "scriptable|exportable|no_jit|grad_checkpointing"},
    /* open_clip */
    {MODEL, "embed_dim|quick_gelu|vision_cfg|text_cfg|multimodal_cfg|custom_text|cast_dtype"},
    {MODEL, "init_logit_scale|init_logit_bias|nonscalar_logit_scale|output_dict"},
    {VISION, "image_size|patch_size|width|layers|head_width|mlp_ratio|pool_type|act_kwargs"},
    {VISION, "norm_kwargs|timm_model_name|timm_pool|timm_proj|ls_init_value|timm_proj_bias"},
    {VISION, "patch_dropout|attn_pooler_queries|attn_pooler_heads|pos_embed_type|output_tokens"},
    {VISION, "final_ln_after_pool|image_seq_len|timm_model_pretrained|timm_drop|timm_drop_path"},
    {TEXT, "context_length|vocab_size|width|heads|layers|mlp_ratio|no_causal_mask|pool_type"},
    {TEXT, "act_kwargs|norm_kwargs|ls_init_value|proj_bias|proj_type|pad_id|bos_id|eos_id"},
    {TEXT, "*tokenizer*|tiktoken_name|final_ln_after_pool|output_tokens|variable_text"},
    {TEXT, "hf_model_pretrained|hf_proj_type|hf_pooler_type|timm_*"},
    /* transformers: read */
    {TOWER, "model_type|hidden_size|num_hidden_layers|num_attention_heads|intermediate_size"},
    {TOWER, "image_size|patch_size|num_channels|mlp_ratio|hidden_act|layer_norm_eps|qkv_bias"},
    {TOWER, "query_bias|key_bias|value_bias|num_register_tokens|use_swiglu_ffn|use_gated_mlp"},
    {TOWER, "vision_use_head|rope_theta|rope_parameters|pooler_act|use_mean_pooling"},
    {TOWER, "use_absolute_position_embeddings|use_relative_position_bias"},
    {TOWER, "use_shared_relative_position_bias|projection_dim|projection_size|num_labels"},
    {TOWER,
     "id2label|label2id|problem_type|vocab_size|num_patches|max_position_embeddings|pruned_heads"},
    {TOWER, "quantization_config|is_hybrid"},
    /* transformers: told by tensors */
    {TOWER, "pooler_output_size|proj_bias|mlp_bias|layer_scale_init_value|layerscale_value"},
    {TOWER, "use_mask_token"},
    /* transformers: of training and starting values */
    {TOWER, "*drop*|initializer_*|logit_scale_init_value|gradient_checkpointing|mask_ratio"},
    {TOWER, "norm_pix_loss|decoder_*|semantic_*|auxiliary_*|use_auxiliary_head|label_smoothing"},
    {TOWER, "pos_embed_shift|pos_embed_jitter|pos_embed_rescale|finetuning_task"},
    {TOWER, "task_specific_params|encoder_stride"},
    /* transformers: of what other parts make of the states */
    {TOWER, "out_features|out_indices|stage_names|apply_layernorm|reshape_hidden_states"},
    {TOWER, "pool_scales|add_fpn|*fpn*|neck_*|fusion_*|readout_type|reassemble_factors"},
    {TOWER, "head_in_index|backbone*|add_projection|use_bias_in_fusion_residual"},
    {TOWER, "use_batch_norm_in_fusion_residual|use_pretrained_backbone|use_timm_backbone"},
    {TOWER, "*_config|*_config_dict|image_text_hidden_size|num_image_tokens|projector_hidden_act"},
    {TOWER, "size|max_image_size|use_base_siglip|return_class_token|conv_*|max_depth"},
    {TOWER, "depth_estimation_type|head_hidden_size|extract_layers|reduce_dim"},
    /* transformers: of every model */
    {TOWER, "architectures|*name_or_path|_commit_hash|transformers_version|torch_dtype|dtype"},
    {TOWER, "torchscript|use_bfloat16|tf_legacy_loss|use_cache|*attn_implementation*"},
    {TOWER, "output_*|return_dict*|is_encoder_decoder|is_decoder|add_cross_attention"},
    {TOWER, "cross_attention_hidden_size|tie_*|chunk_size_feed_forward|*tokenizer*|prefix"},
    {TOWER, "*_token_id|*_token_ids|*_token_index|max_length|min_length|do_sample|early_stopping"},
    {TOWER, "num_beams|num_beam_groups|diversity_penalty|temperature|top_k|top_p|typical_p"},
    {TOWER, "*_penalty|*no_repeat_ngram_size|bad_words_ids|*suppress_tokens|num_return_sequences"},
    {TOWER, "remove_invalid_values|auto_map|custom_pipelines|license|*description*|author*|tags"},
};

/* What the name of a key that changes a tower has in it. A whole config.json carries notes of its
 * owner too; of those, the names that have none of these are let be. */
static const char parts[] =
    "*attn*|*attention*|*norm*|*act*|*pos*|*rope*|*rotary*|*pool*|*head*|*layer*|*block*|*mlp*|"
    "*ffn*|*window*|*qk*|*rms*|*moe*|*expert*|*stride*|*gate*|*residual*|*embed*|*token*|*scale*|"
    "*bias*|*mask*|*patch*|*depth*|*prune*|*merge*|*shift*|*temporal*|*frame*|*tubelet*|*kernel*|"
    "*conv*|*dilat*|*hidden*|*width*|*parallel*|*hybrid*|*gelu*|*swiglu*|*eps*|*theta*";

/* null, false, 0, "", [], {}, and words for what is there without the key. */
static bool is_off(const heed_json *json, heed_json_value value) {
  const char *text;
  double number;
  switch (heed_json_kind_of(json, value)) {
    case HEED_JSON_NULL:
    case HEED_JSON_FALSE: return true;
    case HEED_JSON_NUMBER: return heed_json_double(json, value, &number) && number == 0.0;
    case HEED_JSON_STRING:
      return heed_json_string(json, value, &text, NULL) &&
             (!*text || heed_list_has("none|default|absolute|eager|sdpa|clip", text));
    case HEED_JSON_ARRAY:
    case HEED_JSON_OBJECT: return heed_json_count(json, value) == 0;
    default: return false;
  }
}

static bool is_known(heed_key_place place, const char *key) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].places >> place & 1 && heed_architecture_is(key, known[i].keys)) return true;
  const bool whole = place == HEED_KEYS_HUGGING_FACE || place == HEED_KEYS_OPEN_CLIP_MODEL;
  return whole && !heed_architecture_is(key, parts);
}

heed_status heed_config_check_keys(const heed_fields *fields, heed_key_place place,
                                   const char *besides, const char *what) {
  const heed_json *json = fields->json;
  for (heed_json_value v = heed_json_first(json, fields->object); v;
       v = heed_json_next(json, fields->object, v)) {
    const char *key = heed_json_key(json, v, NULL);
    if (is_off(json, v) || is_known(place, key) || heed_list_has(besides, key)) continue;
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: %s with %.*s is not supported (found a key that heed does not know at "
                     "byte %zu; it could change the results)",
                     fields->where, what, HEED_CUT(key), heed_json_offset(json, v));
  }
  return HEED_OK;
}
