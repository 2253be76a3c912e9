/* What is changed in the attention, as words of a command line. */
import { changesWithin } from '../../shared/changes.js'
import type { Changes, Shape } from '../../shared/types.js'

/** As options of heed run, [name, value]; what the model has not is left out. */
export function optionsOfChanges(
  { how, temperature, ...changes }: Changes,
  shape: Shape
): [name: string, value: string][] {
  const { off, dropped, cuts, gains } = changesWithin(changes, shape),
    { columns } = shape
  return Object.entries({
    ablate: off.join(),
    replace: off.length && how !== 'zero' ? how : '',
    gain: gains.map((text) => text.replace(/\.(\d+)$/, (_, percent) => `=${percent / 100}`)).join(),
    drop: dropped.map((patch) => `${Math.floor(patch / columns)},${patch % columns}`).join(';'),
    cut: cuts.join(),
    temperature: temperature === 1 ? '' : temperature
  })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [`--${name}`, String(value)])
}
