/* What to do about an error, by its status: what may come while nothing can be fetched. opened_advice.ts adds the rest. */
import { say } from '../../languages/say.js'

export const advice: Record<string, string> = {
  OUT_OF_MEMORY: say('status.chooseSmallerModelImage'),
  IO: say('status.checkServerRunningThen'),
  MISMATCH: say('status.siteChangedNetworkFailed')
}
