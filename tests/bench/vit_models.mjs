/* The vision transformers of the benchmarks: sizes, tensor names and what differs between them.
 * Weights are seeded; vit_files.mjs writes them. */

const dinov2 = {
  cls: 'embeddings.cls_token',
  positions: 'embeddings.position_embeddings',
  projection: 'embeddings.patch_embeddings.projection',
  layer: 'encoder.layer',
  query: 'attention.attention.query',
  key: 'attention.attention.key',
  value: 'attention.attention.value',
  output: 'attention.output.dense',
  up: 'mlp.fc1',
  down: 'mlp.fc2',
  before: 'norm1',
  after: 'norm2',
  norm: 'layernorm'
}
const vit = {
  ...dinov2,
  cls: 'vit.embeddings.cls_token',
  positions: 'vit.embeddings.position_embeddings',
  projection: 'vit.embeddings.patch_embeddings.projection',
  layer: 'vit.encoder.layer',
  up: 'intermediate.dense',
  down: 'output.dense',
  before: 'layernorm_before',
  after: 'layernorm_after',
  norm: 'vit.layernorm'
}
const dinov2Classes = Object.fromEntries(
  Object.entries(dinov2).map(([part, name]) => [
    part,
    ['cls', 'positions', 'projection', 'layer', 'norm'].includes(part) ? `dinov2.${name}` : name
  ])
)
const clip = {
  cls: 'vision_model.embeddings.class_embedding',
  positions: 'vision_model.embeddings.position_embedding.weight',
  projection: 'vision_model.embeddings.patch_embedding',
  layer: 'vision_model.encoder.layers',
  query: 'self_attn.q_proj',
  key: 'self_attn.k_proj',
  value: 'self_attn.v_proj',
  output: 'self_attn.out_proj',
  up: 'mlp.fc1',
  down: 'mlp.fc2',
  before: 'layer_norm1',
  after: 'layer_norm2',
  norm: 'vision_model.post_layernorm',
  preNorm: 'vision_model.pre_layrnorm'
}

const config = ({ width, heads, side, patch, epsilon }) => ({
  hidden_size: width,
  num_hidden_layers: 12,
  num_attention_heads: heads,
  intermediate_size: 4 * width,
  layer_norm_eps: epsilon,
  image_size: side,
  patch_size: patch,
  num_channels: 3,
  qkv_bias: true
})

const plainVit = (width, heads) => {
  const model = { width, heads, side: 224, patch: 16, epsilon: 1e-12, names: vit }
  return {
    ...model,
    output: 'logits',
    config: {
      ...config(model),
      model_type: 'vit',
      architectures: ['ViTForImageClassification'],
      hidden_act: 'gelu',
      num_labels: 1000
    }
  }
}

const dinov2Small = { width: 384, heads: 6, side: 518, patch: 14, epsilon: 1e-6, names: dinov2 }
const clipBase = { width: 768, heads: 12, side: 224, patch: 16, epsilon: 1e-5, names: clip }

/** By job. output: the graph's output: logits of 1000 classes, last_hidden_state, or image_embeds of
 * 512 numbers. read: how many states the classifier reads, beside each other; 1 where it is not
 * given. */
export const models = {
  vit_ti: plainVit(192, 3),
  vit_s: plainVit(384, 6),
  vit_b: plainVit(768, 12),
  /* ViT-S/14 with layer scale, without a classifier */
  dinov2_s: {
    ...dinov2Small,
    output: 'last_hidden_state',
    scales: ['layer_scale1.lambda1', 'layer_scale2.lambda1'],
    config: { ...config(dinov2Small), model_type: 'dinov2', hidden_act: 'gelu', mlp_ratio: 4 }
  },
  /* the same with a classifier of CLS beside the mean of the patches; for heed alone */
  dinov2_s_classes: {
    ...dinov2Small,
    names: dinov2Classes,
    output: 'logits',
    read: 2,
    scales: ['layer_scale1.lambda1', 'layer_scale2.lambda1'],
    config: {
      ...config(dinov2Small),
      model_type: 'dinov2',
      architectures: ['Dinov2ForImageClassification'],
      hidden_act: 'gelu',
      mlp_ratio: 4,
      num_labels: 1000
    }
  },
  /* the vision tower of ViT-B/16 with its projection */
  clip_b: {
    ...clipBase,
    output: 'image_embeds',
    config: {
      ...config(clipBase),
      model_type: 'clip_vision_model',
      hidden_act: 'quick_gelu',
      projection_dim: 512
    }
  }
}

/** The model of a job, which may ask for all maps or for 8 bits (quantised.mjs): "vit_b_maps",
 * "vit_b_int8", "vit_b_s8", "vit_b_u7". */
export const modelOf = (job) => folderOf(job).replace(/_(int8|s8|u7)$/, '')
/** The folder that heed loads. */
export const folderOf = (job) => job.replace(/_maps$/, '')
/** int8, s8 or u7; undefined for floats. */
export const formOf = (job) => /_(int8|s8|u7)$/.exec(folderOf(job))?.[1]
