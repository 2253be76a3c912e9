/* The shape of a DINOv2 with registers, 518 pixels in patches of 14: 1 + 4 + 37 x 37 = 1,374
 * tokens, in small width with seeded weights: its maps, 12 layers x 2 heads x 1,374 x 1,374, are
 * 181 MB, more than the page keeps. */
import { loadPage } from './package.js'

/** @type {typeof import('../pages/shared/array_files.js')} */
const { safetensorsParts } = await loadPage('shared/array_files.js')

const patch = 14

/**
 * @param {number} layers
 * @param {number} side
 * @param {number} width
 */
function tensors(layers, side, width) {
  let state = 7
  /** @type {Record<string, {shape: number[], data: Float32Array}>} */
  const table = {}
  /**
   * @param {string} name
   * @param {number[]} shape
   * @param {number} spread
   */
  const put = (name, shape, spread, around = 0) => {
    const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return around + ((state >>> 8) / 8388608 - 1) * spread
    })
    table[name] = { shape, data }
  }
  /**
   * @param {string} name
   * @param {number} rows
   * @param {number} columns
   */
  const linear = (name, rows, columns) => {
    put(`${name}.weight`, [rows, columns], 2 / Math.sqrt(columns))
    put(`${name}.bias`, [rows], 0.1)
  }
  /** @param {string} name */
  const norm = (name) => {
    put(`${name}.weight`, [width], 0.1, 1)
    put(`${name}.bias`, [width], 0.1)
  }
  put('embeddings.cls_token', [1, 1, width], 1)
  put('embeddings.register_tokens', [1, 4, width], 1)
  put('embeddings.position_embeddings', [1, 1 + side * side, width], 1)
  put('embeddings.patch_embeddings.projection.weight', [width, 3, patch, patch], 0.05)
  put('embeddings.patch_embeddings.projection.bias', [width], 0.1)
  for (let i = 0; i < layers; i++) {
    /** @param {string} name */
    const layer = (name) => `encoder.layer.${i}.${name}`
    for (const name of ['query', 'key', 'value'])
      linear(layer(`attention.attention.${name}`), width, width)
    linear(layer('attention.output.dense'), width, width)
    for (const name of ['norm1', 'norm2']) norm(layer(name))
    linear(layer('mlp.fc1'), 2 * width, width)
    linear(layer('mlp.fc2'), width, 2 * width)
    for (const name of ['layer_scale1', 'layer_scale2'])
      put(layer(`${name}.lambda1`), [width], 0.1, 0.5)
  }
  norm('layernorm')
  return table
}

/**
 * Files as a browser's file input takes them. Fewer layers and patches make it small; `size` as in
 * preprocessor_config.json; crop: its crop_size.
 * @param {{layers?: number, side?: number, heads?: number, width?: number, size?: object, crop?: object | null}} [options]
 */
export async function bigModel({
  layers = 12,
  side = 37,
  heads = 2,
  width = 32,
  size = { height: side * patch, width: side * patch },
  crop = /** @type {object | null} */ (null)
} = {}) {
  const config = {
    model_type: 'dinov2_with_registers',
    hidden_size: width,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    mlp_ratio: 2,
    image_size: side * patch,
    patch_size: patch,
    num_channels: 3,
    num_register_tokens: 4,
    qkv_bias: true
  }
  const preprocessor = {
    image_mean: [0.485, 0.456, 0.406],
    image_std: [0.229, 0.224, 0.225],
    size,
    do_resize: true,
    do_center_crop: crop !== null,
    ...(crop ? { crop_size: crop } : {}),
    resample: 3,
    rescale_factor: 1 / 255
  }
  /**
   * @param {string} name
   * @param {string | ArrayBuffer} bytes
   */
  const file = (name, bytes) => ({
    name,
    mimeType: '',
    buffer: Buffer.from(/** @type {any} */ (bytes))
  })
  return [
    file('config.json', JSON.stringify(config)),
    file('preprocessor_config.json', JSON.stringify(preprocessor)),
    file(
      'model.safetensors',
      await new Blob(safetensorsParts(tensors(layers, side, width), {})).arrayBuffer()
    )
  ]
}
