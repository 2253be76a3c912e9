/* What stands in the cells of the tables of numbers, and what their lines are called. */
import { fixed } from '../../plot/parts/numbers.js'
import { say } from '../../languages/say.js'
/** @import {Page} from '../../../types/pages.js' */

export const cellsMost = 40000 // cells; a larger table would take long to stand
/** @param {number} value */
export const hundredths = (value) => fixed(value * 100, 3).replace(/^-/, '−')
/** @param {number} value */
export const score = (value) => (value === -Infinity ? say('tableCells.barred') : fixed(value, 3))

/** @param {Pick<Page, 'engine'>} options */
export const namesOf = ({ engine }) =>
  Array.from({ length: engine.shape.tokens }, (_, token) => engine.nameOf(token))
/** @param {number} count */
export const numbered = (count) => Array.from({ length: count }, (_, i) => i)
