/* What the page says where the browser has no SIMD. Loaded in such browsers alone. */
import { say } from '../../languages/say.js'

export const noSimd = say('noSimd.browserNoSimdWebassembly')
