/* Whether a map follows the label that it is asked about. In a drawn scene one shape stands twice, and the model
 * answers with it; others stand once. For either label: does the map's largest patch lie on that shape, and what
 * share of the map's first pixels, of as many as the shape has.
 *
 *   node tests/bench/label_maps.mjs [SCENES]        after ./dev web once
 */
import { createRuntime, demoModel } from '../../web/test/package.js'

const scenes = Number(process.argv[2] ?? 40),
  maps = [
    ...['relevancy', 'gradient-rollout', 'gradcam', 'attnlrp', 'cplrp', 'ledger'],
    ...['inputxgrad', 'ig', 'attention', 'rollout', 'chance']
  ],
  side = 224,
  grid = 14

/** A fixed map that knows nothing (Park and Miller 1988). */
function chanceMap(seed) {
  let state = seed + 1
  return Float32Array.from({ length: grid * grid }, () => (state = (state * 48271) % 2147483647))
}

/** The pixels of a shape, by the patches that its objects cover. */
const maskOf = ({ owner, scene }, shape) =>
  Uint8Array.from({ length: side * side }, (_, at) => {
    const row = Math.floor((Math.floor(at / side) * grid) / side),
      column = Math.floor(((at % side) * grid) / side)
    return Number(scene.objects[owner[row * grid + column]]?.shape === shape)
  })

const runtime = await createRuntime(),
  model = await runtime.loadModel(demoModel),
  session = model.createSession(),
  found = new Map(['twins', 'once'].map((kind) => [kind, maps.map(() => [])]))
for (let seed = 1; found.get('once')[0].length < scenes; seed++) {
  const drawn = await runtime.scene(seed),
    shapes = drawn.scene.objects.map(({ shape }) => shape),
    count = (shape) => shapes.filter((one) => one === shape).length,
    twins = drawn.twins && shapes[drawn.twins[0]],
    once = shapes.find((shape, i) => count(shape) === 1 && drawn.owner.includes(i))
  if (!twins || !once) continue
  await session.run(drawn.image)
  for (const [kind, shape] of Object.entries({ twins, once })) {
    const target = model.info.labels.indexOf(shape),
      mask = maskOf(drawn, shape),
      made = await session.explain({
        maps: maps.filter((name) => name !== 'chance'),
        target,
        igSteps: 8
      })
    for (const [i, name] of maps.entries()) {
      const map = name === 'chance' ? chanceMap(seed) : made[`map.${name}`].data,
        judged = await session.explain({ methods: ['localisation'], map, mask, target })
      found
        .get(kind)
        [i].push([judged['localisation.pointing'].data[0], judged['localisation.rank'].data[0]])
    }
  }
}
runtime.close()

/** The mean, and half of its 95 % interval. */
function meanOf(numbers) {
  const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length,
    squares = numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0)
  return `${mean.toFixed(3)} ± ${(1.96 * Math.sqrt(squares / (numbers.length - 1) / numbers.length)).toFixed(3)}`
}

console.log(`${scenes} scenes`)
console.log('| map | twins: pointing | rank | once: pointing | rank |\n|---|---|---|---|---|')
for (const [i, name] of maps.entries()) {
  const cells = ['twins', 'once'].flatMap((kind) =>
    [0, 1].map((metric) => meanOf(found.get(kind)[i].map((numbers) => numbers[metric])))
  )
  console.log(`| \`${name}\` | ${cells.join(' | ')} |`)
}
