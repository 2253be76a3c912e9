/* The part of a picture that a model saw, on a canvas. */

/** picture: { source }; region: in the picture's own pixels. What lies outside the picture stays as it is on the canvas. */
export function cutOut({ source }, { x, y, width, height }, canvas) {
  let from = source
  if (source instanceof ImageData) {
    from = Object.assign(document.createElement('canvas'), { width: source.width, height: source.height })
    from.getContext('2d').putImageData(source, 0, 0)
  }
  canvas.getContext('2d').drawImage(from, x, y, width, height, 0, 0, canvas.width, canvas.height)
  return canvas
}
