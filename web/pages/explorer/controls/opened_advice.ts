/* What to do about an error in what somebody opened: it comes with the scripts that open things. */
import { say } from '../../languages/say.js'
import { advice } from './advice.js'

Object.assign(advice, {
  INVALID_FILE: say('status.chooseAnotherFileAll'),
  UNSUPPORTED: say('status.heedRunsModelsDocs')
})
