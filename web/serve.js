/* Serves a folder on this machine alone, with the headers that make a page cross-origin isolated
 * (threads) and a strict policy:
 * node serve.js FOLDER [PORT] [--not-isolated] [--connect ORIGIN] [--models FOLDER].
 * Port 0 takes any free one. Prints the address. With --models each folder in that folder that has
 * weights is offered to the explorer, as models/NAME/ of models.json, and so is each picture of its
 * folder `pictures`. Parts of files are given where they are asked for. With --connect the pages may ask that server too
 * (in the policy of the header and of the pages themselves), so that models can come from there;
 * without, only this one. */
import { constants } from 'node:fs'
import { open, readFile, realpath } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createGzip } from 'node:zlib'
import { listModels } from './list_models.js'

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
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.safetensors': 'application/octet-stream'
}

/* As static hosts do. */
const worthZipping = /\.(html|m?js|css|svg|wasm)$/

export const policy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' blob: data:; media-src blob:; style-src 'self'"

/* Has the policy of a folder whose pages need another one, in one line. */
export const policyFile = 'policy.txt'

/* Of the header alone: a page cannot say who frames it, and those that heed makes have no base and
 * no form. */
const framing = "; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"

/* What it is asked as: another name that leads here is a page of somebody else's, which could read
 * what this machine offers (DNS rebinding). */
const ownNames = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i,
  strange =
    'heed serves this machine alone (found another name as Host, expected localhost, 127.0.0.1 or [::1])\n'

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp'
}

/**
 * The file that a request asks for, open; undefined for what lies outside the folder, is not there
 * or cannot be read.
 * @param {string} folder its real path
 * @param {string} address
 */
async function find(folder, address) {
  const path = decodeURIComponent(new URL(address, 'http://localhost').pathname)
  const name = path.endsWith('/')
    ? `${path}index.html`
    : extname(path)
      ? path
      : `${path}.html` /* /learn, as static hosts have it */
  const file = await realpath(join(folder, normalize(name)))
  if (!file.startsWith(folder + sep)) return undefined
  /* a pipe does not wait for its writer */
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  const found = await handle.stat()
  if (found.isFile()) return { file, handle, size: found.size, changed: found.mtime.toUTCString() }
  await handle.close()
  return undefined
}

/**
 * The bytes that a request asks for; undefined: all of them, as of a list of parts. `refused`: there are none such.
 * @param {string | undefined} range
 * @param {number} size
 */
function partOf(range, size) {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
  if (from === undefined) return undefined
  const start = Number(from),
    end = to ? Math.min(Number(to), size - 1) : size - 1
  return { start, end, refused: start > end }
}

/**
 * What comes before a file's bytes, and which of them, start to end, they are.
 * @param {{file: string, size: number, changed: string}} found
 * @param {string | undefined} range
 * @param {Buffer | null} page what it is instead
 * @param {boolean} zipped
 */
function headOf({ file, size, changed }, range, page, zipped) {
  const part = zipped || page ? undefined : partOf(range, size),
    { start, end } = part ?? {}
  if (part?.refused) return { status: 416, head: { 'Content-Range': `bytes */${size}` } }
  return {
    status: part ? 206 : 200,
    start,
    end,
    head: {
      'Content-Type': types[extname(file)] ?? 'application/octet-stream',
      'Last-Modified': changed,
      ...(part && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
      ...(zipped
        ? { 'Content-Encoding': 'gzip' }
        : { 'Content-Length': part ? part.end - part.start + 1 : (page?.length ?? size) })
    }
  }
}

/**
 * What a request asks for: a file of the site or of the models that are offered, or their list.
 * @param {string} root the site's real path
 * @param {string | undefined} models
 * @returns {Promise<(url: string) => {list?: string, file: ReturnType<typeof find>}>}
 */
async function placeOf(root, models) {
  if (models === undefined) return (url) => ({ file: find(root, url) })
  const folder = await realpath(models),
    list = JSON.stringify(await listModels(models)),
    none = Promise.resolve(undefined)
  return (url) => {
    if (/^\/models\.json(\?|$)/.test(url)) return { list, file: none }
    return url.startsWith('/models/')
      ? { file: find(folder, url.slice('/models'.length)) }
      : { file: find(root, url) }
  }
}

/**
 * Resolves to { address, asked, close() }; asked: the files that were asked for, each once.
 * connect: origins beside its own that pages may ask, in one text. models: a folder of models that
 * it offers; hashes are computed before the first answer.
 * @param {string} folder
 * @param {{port?: number, isolated?: boolean, connect?: string, models?: string}} [options]
 * @returns {Promise<{address: string, asked: string[], close(): void}>}
 */
export async function serve(folder, { port = 0, isolated = true, connect = '', models } = {}) {
  const asked = /** @type {string[]} */ ([]),
    root = await realpath(folder),
    place = await placeOf(root, models),
    [own] = (await readFile(join(root, policyFile), 'utf8').catch(() => policy)).split('\n'),
    widened = (/** @type {string} */ text) =>
      connect ? text.replaceAll("connect-src 'self'", `connect-src 'self' ${connect}`) : text,
    headers = {
      'Content-Security-Policy': widened(own) + framing,
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-cache',
      ...(isolated ? isolation : {})
    }

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   */
  async function answer(request, response) {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return response.writeHead(405, { ...headers, Allow: 'GET, HEAD' }).end()
    const { list, file } = place(request.url ?? '/')
    if (list)
      return response.writeHead(200, { ...headers, 'Content-Type': types['.json'] }).end(list)
    const found = await file.catch(() => undefined)
    if (!found) return response.writeHead(404, headers).end()
    try {
      if (!asked.includes(found.file)) asked.push(found.file)
      const page =
        connect && found.file.endsWith('.html')
          ? Buffer.from(widened(await found.handle.readFile('utf8')))
          : null
      const zipped =
        !page &&
        request.method === 'GET' &&
        worthZipping.test(found.file) &&
        /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
      const { status, head, start, end } = headOf(found, request.headers.range, page, zipped)
      response.writeHead(status, { ...headers, ...head })
      if (request.method === 'HEAD' || page || status === 416)
        return response.end(page ?? undefined)
      const bytes = found.handle.createReadStream({ autoClose: false, start, end })
      return await (zipped ? pipeline(bytes, createGzip(), response) : pipeline(bytes, response))
    } finally {
      await found.handle.close()
    }
  }

  /* A reader that goes away, or a file that fails midway, ends that answer and not the server. */
  const server = createServer((request, response) => {
    if (ownNames.test(request.headers.host ?? ''))
      answer(request, response).catch(() => response.destroy())
    else response.writeHead(421, { ...headers, 'Content-Type': 'text/plain' }).end(strange)
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
    valueOf = (/** @type {string} */ name) => {
      const at = words.indexOf(name)
      return at < 0 ? undefined : words.splice(at, 2)[1]
    },
    connect = valueOf('--connect'),
    models = valueOf('--models')
  const [folder, port = '8080'] = words.filter((word) => !word.startsWith('--'))
  const { address } = await serve(folder, {
    port: Number(port),
    isolated: !words.includes('--not-isolated'),
    connect,
    models
  })
  console.log(address)
}
