/**
 * Nine digits tell any two floats apart.
 * @param {Float32Array} row
 */
export const digits = (row) => Array.from(row, (weight) => Number(weight.toPrecision(9)))
