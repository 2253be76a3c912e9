/* A service worker that adds the headers which threads need, for hosts that cannot send them; installed only where someone asks for it on
 * the page of measurements, removed there as well. It keeps nothing and changes nothing else. */

addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => {
  const { request } = event
  if (request.cache === 'only-if-cached' && request.mode !== 'same-origin') return
  event.respondWith(fetch(request).then((answer) => {
    if (answer.status === 0) return answer
    const headers = new Headers(answer.headers)
    headers.set('Cross-Origin-Opener-Policy', 'same-origin')
    headers.set('Cross-Origin-Embedder-Policy', 'require-corp')
    headers.set('Cross-Origin-Resource-Policy', 'same-origin')
    return new Response(answer.body, { status: answer.status, statusText: answer.statusText, headers })
  }))
})
