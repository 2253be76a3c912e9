/* What stands in the cells of the tables of numbers, and what their lines are called. */
import { fixed } from '../../plot/parts/numbers.js'
import { say } from '../../languages/say.js'
import type { Page } from '../types.js'

export const cellsMost = 40000 // cells; a larger table would take long to stand
export const hundredths = (value: number) => fixed(value * 100, 3).replace(/^-/, '−')
export const score = (value: number) =>
  value === -Infinity ? say('tableCells.barred') : fixed(value, 3)

export const namesOf = ({ engine }: Pick<Page, 'engine'>) =>
  Array.from({ length: engine.shape.tokens }, (_, token) => engine.nameOf(token))
export const numbered = (count: number) => Array.from({ length: count }, (_, i) => i)
