/* A ViT-B of 224 pixels, 12 layers of 12 heads, with seeded weights in fp16: 173 MB, made in memory.
 * Spreads of queries and keys grow from layer to layer, so that rows are even, peaked and between. */

const width = 768,
  layers = 12

/** A number as fp16, to the nearest; what is below 2^-14 is 0. @param {number} value */
function half(value) {
  const size = Math.abs(value)
  if (size < 2 ** -14) return 0
  const exponent = Math.floor(Math.log2(size))
  return (
    (value < 0 ? 0x8000 : 0) +
    ((exponent + 15) << 10) +
    Math.round((size / 2 ** exponent - 1) * 1024)
  )
}

/** Names with shapes, and how far from `around` their values are. */
function tensors() {
  /** @type {[name: string, shape: number[], spread: number, around: number][]} */
  const all = [
    ['embeddings.cls_token', [1, 1, width], 0.5, 0],
    ['embeddings.position_embeddings', [1, 197, width], 0.5, 0],
    ['embeddings.patch_embeddings.projection.weight', [width, 3, 16, 16], 0.05, 0],
    ['embeddings.patch_embeddings.projection.bias', [width], 0.1, 0]
  ]
  /**
   * @param {string} name
   * @param {number} rows
   * @param {number} columns
   */
  const linear = (name, rows, columns, spread = 1.5 / Math.sqrt(columns)) =>
    all.push([`${name}.weight`, [rows, columns], spread, 0], [`${name}.bias`, [rows], 0.05, 0])
  const norm = (/** @type {string} */ name) =>
    all.push([`${name}.weight`, [width], 0.1, 1], [`${name}.bias`, [width], 0.05, 0])
  for (let i = 0; i < layers; i++) {
    const layer = `encoder.layer.${i}`
    for (const what of ['query', 'key'])
      linear(`${layer}.attention.attention.${what}`, width, width, 0.02 + 0.012 * i)
    linear(`${layer}.attention.attention.value`, width, width)
    linear(`${layer}.attention.output.dense`, width, width)
    linear(`${layer}.intermediate.dense`, 4 * width, width)
    linear(`${layer}.output.dense`, width, 4 * width)
    norm(`${layer}.layernorm_before`)
    norm(`${layer}.layernorm_after`)
  }
  norm('layernorm')
  return all
}

/** The model as loadModel takes it. */
export function randomVit() {
  const all = tensors(),
    count = (/** @type {number[]} */ shape) => shape.reduce((a, b) => a * b)
  let at = 0
  const header = Object.fromEntries(
      all.map(([name, shape]) => [
        name,
        { dtype: 'F16', shape, data_offsets: [at, (at += 2 * count(shape))] }
      ])
    ),
    text = new TextEncoder().encode(JSON.stringify(header)),
    start = 8 + Math.ceil(text.length / 8) * 8,
    weights = new Uint8Array(start + at).fill(32, 0, start)
  new DataView(weights.buffer).setBigUint64(0, BigInt(start - 8), true)
  weights.set(text, 8)
  const halves = new Uint16Array(weights.buffer, start)
  let state = 5,
    i = 0
  for (const [, shape, spread, around] of all) {
    const table = Uint16Array.from({ length: 2048 }, (_, k) =>
      half(around + spread * (k / 1023.5 - 1))
    )
    for (const end = i + count(shape); i < end; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      halves[i] = table[state >>> 21]
    }
  }
  const json = (/** @type {object} */ value) => new TextEncoder().encode(JSON.stringify(value))
  return {
    weights,
    config: json({
      model_type: 'vit',
      architectures: ['ViTModel'],
      hidden_size: width,
      num_hidden_layers: layers,
      num_attention_heads: 12,
      intermediate_size: 4 * width,
      image_size: 224,
      patch_size: 16,
      num_channels: 3,
      hidden_act: 'gelu',
      layer_norm_eps: 1e-12,
      qkv_bias: true
    }),
    preprocessor: json({
      image_mean: [0.5, 0.5, 0.5],
      image_std: [0.5, 0.5, 0.5],
      size: { height: 224, width: 224 },
      do_resize: true,
      resample: 2,
      rescale_factor: 1 / 255
    })
  }
}
