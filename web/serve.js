/* Serves a folder on this machine alone, with the headers that make a page cross-origin isolated (threads) and a strict policy:
 * node serve.js FOLDER [PORT] [--not-isolated]. Port 0 takes any free one. Prints the address. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.json': 'application/json',
  '.wasm': 'application/wasm', '.png': 'image/png', '.jpg': 'image/jpeg', '.svg': 'image/svg+xml', '.safetensors': 'application/octet-stream'
}

export const policy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' blob: data:; style-src 'self'"

const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }

/** The file that a request asks for; undefined for what lies outside the folder or is not there. */
async function find(folder, address) {
  const path = decodeURIComponent(new URL(address, 'http://localhost').pathname)
  const name = path.endsWith('/') ? `${path}index.html` : extname(path) ? path : `${path}.html` /* /learn, as static hosts have it */
  const file = join(folder, normalize(name))
  if (!file.startsWith(folder)) return undefined
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() ? { file, size: found.size } : undefined
}

/** Resolves to { address, close() }. */
export function serve(folder, { port = 0, isolated = true } = {}) {
  const root = resolve(folder)
  const server = createServer(async (request, response) => {
    const found = await find(root, request.url).catch(() => undefined)
    const headers = { 'Content-Security-Policy': policy, 'Cross-Origin-Resource-Policy': 'same-origin', 'Cache-Control': 'no-cache', ...(isolated ? isolation : {}) }
    if (!found) return response.writeHead(404, headers).end()
    response.writeHead(200, { ...headers, 'Content-Type': types[extname(found.file)] ?? 'application/octet-stream', 'Content-Length': found.size })
    if (request.method === 'HEAD') return response.end()
    createReadStream(found.file).pipe(response)
  })
  return new Promise((done, failed) => {
    server.once('error', failed)
    server.listen(port, 'localhost', () =>
      done({ address: `http://localhost:${server.address().port}/`, close: () => { server.closeAllConnections?.(); server.close() } }))
  })
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [folder, port = '8080'] = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  const { address } = await serve(folder, { port: Number(port), isolated: !process.argv.includes('--not-isolated') })
  console.log(address)
}
