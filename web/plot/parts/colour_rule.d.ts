/* The functions of runtime/explain/colour_rule.h, which says what they are; the build makes them a
 * script (web/wasm/script.js). */
export function scaleEnd(tokens: number, largest: number, locked: number): number
export function linearPlace(weight: number, end: number): number
export function logPlace(weight: number, tokens: number, end: number): number
export function logTick(before: number): number
export function scaleStep(least: number): number
export function scaleVote(largest: number, tokens: number, end: number): number
export function placeOpacity(place: number): number
/** Not 0 where it is so. */
export function rowIsElsewhere(total: number, held: number): number
/** Not 0 where it is so. */
export function holderIsNamed(total: number, weight: number): number
