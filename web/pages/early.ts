/* Without a hash in the address the page opens with the zoom: its first view stands in the page. */
if (!location.hash) document.documentElement.classList.add('zooming')

/* The demo model's weights are most of what a first visit fetches. Where no copy is kept they are
 * asked for before the scripts that use them are there: demo_files.ts takes this answer for its
 * first request. */
if ('DecompressionStream' in globalThis) {
  const stop = new AbortController(),
    address = new URL('heed/demo/model.safetensors.deflate', document.baseURI).href,
    options = { signal: stop.signal, priority: 'low' } // after the picture
  const isKept = async () => {
    try {
      return Boolean(await caches.match(address, { ignoreSearch: true, ignoreVary: true }))
    } catch {
      return false // no such store, or not for this page, as in a sandboxed frame
    }
  }
  const answer = isKept().then((kept) =>
    kept ? undefined : fetch(address, options as RequestInit)
  )
  answer.catch(() => {}) // reported to who takes it
  globalThis.early = { address, answer, stop }
}
