/* Scenes, drawn by heed-scene.wasm. Loaded with the first scene. It imports nothing, so that bundlers
 * leave the scripts that a page starts with as they are. */
/** @import {OpenModule, SceneDrawing, WantedScene} from '../types/library.js' */

/**
 * @param {OpenModule} module
 * @param {WantedScene} scene
 * @returns {SceneDrawing}
 */
export function drawScene({ exports, memory, web }, { seed = 0n, text }) {
  const at = memory.alloc(exports.scene_size()),
    written = text === undefined ? [] : [new TextEncoder().encode(text)]
  try {
    memory.lend(written, (textAt = 0) =>
      memory.check(
        exports.scene_draw(
          web,
          at,
          textAt,
          written[0]?.length ?? 0,
          Number(seed & 0xffffffffn),
          Number(seed >> 32n)
        )
      )
    )
    const made = memory.out('scene'),
      { side, grid } = made,
      data = new Uint8ClampedArray(memory.bytes(made.rgba, side * side * 4))
    return {
      text: memory.string(made.text),
      image: { data, width: side, height: side },
      owner: memory.bytes(made.owner, grid * grid).slice(),
      twins: made.hasTwins ? [made.first, made.second] : null
    }
  } finally {
    memory.free(at)
  }
}
