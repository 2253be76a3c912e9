/* The curves of deletion and insertion: the probability by the share of patches that left or came. */
import { svg } from 'lit-html'
import { say } from '../../../languages/say.js'

const width = 100,
  height = 60

const lineOf = (numbers: Float32Array, least: number, most: number) =>
  Array.from(numbers, (value, i) => {
    const x = (i / (numbers.length - 1)) * width,
      y = height - ((value - least) / (most - least || 1)) * height
    return `${i ? 'L' : 'M'}${x.toFixed(2)} ${y.toFixed(2)}`
  }).join('')

/** A figure in words is `said`. Probabilities go from 0 to 1; scores from the least to the largest. */
export function curves(
  { deletion, insertion }: { deletion: Float32Array; insertion: Float32Array },
  said: string
) {
  const all = [...deletion, ...insertion],
    shares = all.every((value) => value >= 0 && value <= 1),
    least = shares ? 0 : Math.min(...all),
    most = shares ? 1 : Math.max(...all)
  return svg`<svg class="curves" role="img" aria-label=${said} viewBox="-12 -4 118 92"><path class="axis" d=${`M0 0V${height}H${width}`}/><path class="rule" d=${`M0 0H${width}M0 ${height / 2}H${width}`}/><path class="insertion" d=${lineOf(insertion, least, most)}/><path class="deletion" d=${lineOf(deletion, least, most)}/><text x="-2" y="2" text-anchor="end">${shares ? 1 : most.toPrecision(2)}</text><text x="-2" y=${height} text-anchor="end">${shares ? 0 : least.toPrecision(2)}</text><text x="0" y=${height + 7}>0 %</text><text x=${width} y=${height + 7} text-anchor="end">100 %</text><text x=${width / 2} y=${height + 7} text-anchor="middle">${say('classMap.axis')}</text><path class="insertion" d=${`M0 ${height + 15}h8`}/><text x="10" y=${height + 17}>${say('classMap.curveInsertion')}</text><path class="deletion" d=${`M0 ${height + 23}h8`}/><text x="10" y=${height + 25}>${say('classMap.curveDeletion')}</text></svg>`
}
