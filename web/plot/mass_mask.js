/* DINO's mass mask (Caron et al. 2021): the smallest set of patches that holds `share` of the
 * patches' mass, ties by index; as heed_map_mass_mask in heed.h. */

/**
 * @param {Float32Array | number[]} weights
 * @param {number} share
 */
export function massMask(weights, share) {
  const order = Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a] || a - b)
  const total = /** @type {number[]} */ (weights).reduce((sum, weight) => sum + weight, 0),
    mask = new Uint8Array(weights.length)
  let held = 0
  for (const index of order) {
    if (held >= share * total) break
    mask[index] = 1
    held += weights[index]
  }
  return mask
}
