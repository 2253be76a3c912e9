/* Serves a folder on this machine alone, with the headers that make a page cross-origin isolated
 * (threads) and a strict policy: node serve.js FOLDER [PORT] [--not-isolated] [--connect ORIGIN].
 * Port 0 takes any free one. Prints the address. With --connect the pages may ask that server too
 * (in the policy of the header and of the pages themselves), so that models can come from there;
 * without, only this one. */
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGzip } from 'node:zlib'

/** @type {Record<string, string>} */
const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.svg': 'image/svg+xml',
  '.safetensors': 'application/octet-stream'
}

/* As static hosts do. */
const worthZipping = /\.(html|m?js|css|svg|wasm)$/

export const policy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' blob: data:; style-src 'self'"

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp'
}

/**
 * The file that a request asks for; undefined for what lies outside the folder or is not there.
 * @param {string} folder
 * @param {string} address
 */
async function find(folder, address) {
  const path = decodeURIComponent(new URL(address, 'http://localhost').pathname)
  const name = path.endsWith('/')
    ? `${path}index.html`
    : extname(path)
      ? path
      : `${path}.html` /* /learn, as static hosts have it */
  const file = join(folder, normalize(name))
  if (!file.startsWith(folder)) return undefined
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() ? { file, size: found.size } : undefined
}

/**
 * Resolves to { address, asked, close() }; asked: the files that were asked for, as they came.
 * connect: origins beside its own that pages may ask, in one text.
 * @param {string} folder
 * @param {{port?: number, isolated?: boolean, connect?: string}} [options]
 * @returns {Promise<{address: string, asked: string[], close(): void}>}
 */
export function serve(folder, { port = 0, isolated = true, connect = '' } = {}) {
  const asked = /** @type {string[]} */ ([]),
    root = resolve(folder),
    widened = (/** @type {string} */ text) =>
      connect ? text.replaceAll("connect-src 'self'", `connect-src 'self' ${connect}`) : text
  const server = createServer(async (request, response) => {
    const found = await find(root, request.url ?? '/').catch(() => undefined)
    const headers = {
      'Content-Security-Policy': widened(policy),
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'no-cache',
      ...(isolated ? isolation : {})
    }
    if (!found) return response.writeHead(404, headers).end()
    asked.push(found.file)
    const page =
      connect && found.file.endsWith('.html')
        ? Buffer.from(widened(await readFile(found.file, 'utf8')))
        : null
    const zipped =
      !page &&
      request.method === 'GET' &&
      worthZipping.test(found.file) &&
      /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    response.writeHead(200, {
      ...headers,
      'Content-Type': types[extname(found.file)] ?? 'application/octet-stream',
      ...(zipped
        ? { 'Content-Encoding': 'gzip' }
        : { 'Content-Length': page?.length ?? found.size })
    })
    if (request.method === 'HEAD' || page) return response.end(page ?? undefined)
    const file = createReadStream(found.file)
    ;(zipped ? file.pipe(createGzip()) : file).pipe(response)
  })
  return new Promise((done, failed) => {
    server.once('error', failed)
    server.listen(port, 'localhost', () =>
      done({
        address: `http://localhost:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/`,
        asked,
        close: () => {
          server.closeAllConnections?.()
          server.close()
        }
      })
    )
  })
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2),
    at = words.indexOf('--connect'),
    [, connect = ''] = at < 0 ? [] : words.splice(at, 2)
  const [folder, port = '8080'] = words.filter((word) => !word.startsWith('--'))
  const { address } = await serve(folder, {
    port: Number(port),
    isolated: !words.includes('--not-isolated'),
    connect
  })
  console.log(address)
}
