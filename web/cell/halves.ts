/* float16 as float32. Not every browser has DataView.getFloat16. */

const half = (bits: number) => {
  const sign = bits & 0x8000 ? -1 : 1,
    exponent = (bits >> 10) & 31,
    fraction = bits & 1023
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return exponent
    ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024)
    : (sign * fraction) / 2 ** 24
}

/** @param bytes little-endian */
export const halves = (bytes: Uint8Array) =>
  Float32Array.from(new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2), half)
