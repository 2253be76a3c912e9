/* Work that takes long: the buttons that stop a run stop it, and so does leaving its view. */
import { showStop } from './status.js'

/** Null where it was stopped. */
export async function stoppable<Result>(
  left: AbortSignal | null,
  work: (signal: AbortSignal) => Promise<Result>
): Promise<Result | null> {
  const stop = new AbortController(),
    { signal } = stop
  left?.addEventListener('abort', () => stop.abort(), { signal })
  showStop(stop)
  try {
    const result = await work(signal)
    return signal.aborted ? null : result
  } catch (error) {
    if (signal.aborted) return null
    throw error
  } finally {
    showStop(null)
    stop.abort() // nothing listens any longer
  }
}
