/** Nine digits tell any two floats apart. */
export const digits = (row: Float32Array) =>
  Array.from(row, (weight) => Number(weight.toPrecision(9)))
