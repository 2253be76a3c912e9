/* The demo model's weights are most of what a first visit fetches. They are asked for before the
 * scripts that use them are there: demo_files.js takes this answer for its first request. Who has a
 * service worker has them. */
if (!navigator.serviceWorker?.controller && 'DecompressionStream' in globalThis) {
  const stop = new AbortController(),
    address = new URL('heed/demo/model.safetensors.deflate', document.baseURI).href,
    answer = fetch(address, {
      signal: stop.signal,
      ...{ priority: 'low' } // after the picture
    })
  answer.catch(() => {}) // reported to who takes it
  globalThis.early = { address, answer, stop }
}
