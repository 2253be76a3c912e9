/* What to do about an error in what somebody opened: it comes with the scripts that open things. What is said of a
 * network that failed is in status.js, as nothing can be fetched then. */
import { say } from '../../languages/say.js'
import { advice } from './status.js'

Object.assign(advice, {
  INVALID_FILE: say('status.chooseAnotherFileAll'),
  UNSUPPORTED: say('status.heedRunsModelsDocs')
})
