/* One bar, in bytes, for all that the start fetches: the page's code, which is there once this
 * runs, the module and the model's weights. Sizes are those of the files, put into the page by
 * web/build/pages.js, since a server that compresses does not say them. */

import type { PageProgress } from '../../shared/types.js'

/** show: as showProgress; gives what takes the progress of createRunner. */
export function barOfStart(
  show: (progress: { phase: string; done: number; total: number }) => unknown
) {
  const entries = [
    ...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource').filter(({ name }) => /\.(js|css)$/.test(name))
  ]
  const code = (entries as PerformanceResourceTiming[]).reduce(
      (sum, { decodedBodySize }) => sum + decodedBodySize,
      0
    ),
    [weights = 0, , module = 0] =
      (document.querySelector('meta[name=demo-weights]') as HTMLMetaElement | null)?.content
        .split(' ')
        .map(Number) ?? []
  let arrived = 0,
    done = 0,
    told = 0
  /* Only what reads differently, 0.1 MB on: else each part of a file lays out the page. */
  const tell = () => {
    const all = code + arrived + done
    if (told !== (told = Math.round(all / 1e5)))
      show({ phase: 'start', done: all, total: code + module + weights })
  }
  tell()
  return (progress: PageProgress) => {
    if (progress.phase === 'module') arrived = module
    if (progress.phase === 'download') done = progress.done
    tell()
  }
}
