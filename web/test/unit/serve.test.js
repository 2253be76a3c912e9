/* The server of the pages: what it gives, what it refuses, and that nothing stops it. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { serve } from '../../serve.js'

const top = mkdtempSync(join(tmpdir(), 'heed-serve-')),
  folder = join(top, 'site')
/** @type {Awaited<ReturnType<typeof serve>>} */
let server

before(async () => {
  mkdirSync(join(folder, 'folder.txt'), { recursive: true })
  mkdirSync(join(top, 'site-too'))
  writeFileSync(join(folder, 'index.html'), '<p>first</p>')
  writeFileSync(join(folder, 'learn.html'), '<p>learn</p>')
  writeFileSync(join(folder, 'big.safetensors'), Buffer.alloc(8 << 20))
  writeFileSync(join(top, 'secret.txt'), 'secret')
  writeFileSync(join(top, 'site-too', 'secret.txt'), 'secret')
  symlinkSync(join(top, 'secret.txt'), join(folder, 'link.txt'))
  symlinkSync(join(folder, 'learn.html'), join(folder, 'inside.html'))
  symlinkSync(join(folder, 'none.txt'), join(folder, 'dangling.txt'))
  execFileSync('mkfifo', [join(folder, 'pipe.txt')])
  server = await serve(folder)
})
after(() => {
  server.close()
  rmSync(top, { recursive: true })
})

/**
 * The answer to a request whose path is sent as it is.
 * @param {string} path
 * @param {string} [method]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<{status?: number, headers: import('node:http').IncomingHttpHeaders, text: string}>}
 */
function ask(path, method = 'GET', headers = {}) {
  const { hostname, port } = new URL(server.address)
  return new Promise((done, failed) =>
    request({ hostname, port, path, method, headers, timeout: 5000 }, async (response) => {
      let text = ''
      for await (const part of response) text += part
      done({ status: response.statusCode, headers: response.headers, text })
    })
      .on('timeout', () => failed(new Error(`${method} ${path}: no answer`)))
      .on('error', failed)
      .end()
  )
}

test('files of the folder, and links within it', async () => {
  for (const [path, text] of [
    ['/', '<p>first</p>'],
    ['/learn', '<p>learn</p>'],
    ['/inside.html', '<p>learn</p>'],
    ['/index.html?query#part', '<p>first</p>']
  ]) {
    const answer = await ask(path)
    assert.equal(answer.status, 200, path)
    assert.equal(answer.text, text)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    const policy = String(answer.headers['content-security-policy'])
    for (const part of ["frame-ancestors 'self'", "base-uri 'none'", "form-action 'none'"])
      assert.ok(policy.includes(part), part)
  }
})

test('a folder whose pages need another policy says so in policy.txt', async () => {
  const site = join(top, 'with-policy'),
    said = "default-src 'none'; connect-src 'self'; style-src 'self' 'sha256-abc='"
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), '<p>first</p>')
  writeFileSync(join(site, 'policy.txt'), `${said}\nX-Other: header\n`)
  const other = await serve(site, { connect: 'https://models.example' })
  const { headers } = await fetch(other.address)
  assert.equal(
    headers.get('content-security-policy'),
    `${said.replace("connect-src 'self'", '$& https://models.example')}; frame-ancestors 'self'; base-uri 'none'; form-action 'none'`
  )
  assert.equal(headers.get('x-other'), null)
  other.close()
})

test('nothing outside the folder, and no file that is none', async () => {
  for (const path of [
    '/link.txt',
    '/../secret.txt',
    '/../site-too/secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/a/..%5c..%5csecret.txt',
    '/dangling.txt',
    '/folder.txt',
    '/pipe.txt',
    '/%00',
    '/%',
    '/none'
  ])
    assert.equal((await ask(path)).status, 404, path)
})

test('a part of a file, where one is asked for', async () => {
  const part = async (/** @type {string} */ range) => {
    const { status, headers, text } = await ask('/big.safetensors', 'GET', { range })
    return [status, headers['content-range'], headers['content-length'], text.length]
  }
  const size = 8 << 20
  assert.deepEqual(await part('bytes=5-9'), [206, `bytes 5-9/${size}`, '5', 5])
  assert.deepEqual(await part(`bytes=${size - 3}-`), [
    206,
    `bytes ${size - 3}-${size - 1}/${size}`,
    '3',
    3
  ])
  assert.deepEqual(await part(`bytes=${size - 3}-${size + 9}`), [
    206,
    `bytes ${size - 3}-${size - 1}/${size}`,
    '3',
    3
  ])
  assert.deepEqual(await part(`bytes=${size}-`), [416, `bytes */${size}`, undefined, 0])
  for (const range of ['bytes=0-1,4-5', 'bytes=-3', 'lines=0-1']) {
    const { status, headers } = await ask('/big.safetensors', 'HEAD', { range })
    assert.deepEqual([status, headers['content-length']], [200, String(size)]) // all of it, as HTTP allows
  }
  const { headers } = await ask('/big.safetensors', 'HEAD')
  assert.ok(Date.parse(headers['last-modified'] ?? '') <= Date.now())
})

test('GET and HEAD alone', async () => {
  const head = await ask('/index.html', 'HEAD')
  assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', '12'])
  for (const method of ['POST', 'PUT', 'DELETE', 'TRACE', 'OPTIONS', 'PROPFIND']) {
    const answer = await ask('/index.html', method)
    assert.deepEqual([answer.status, answer.headers.allow, answer.text], [405, 'GET, HEAD', ''])
  }
})

test('a reader that goes away in the middle leaves the server as it was', async () => {
  for (let i = 0; i < 20; i++)
    await new Promise((done) => {
      const going = request(`${server.address}big.safetensors`, (response) =>
        response.once('data', () => going.destroy()).on('error', () => {})
      )
      going.on('error', () => {}).on('close', done)
      going.end()
    })
  const whole = await ask('/big.safetensors')
  assert.deepEqual([whole.status, whole.text.length], [200, 8 << 20])
  assert.equal(server.asked.filter((file) => file.endsWith('big.safetensors')).length, 1)
})

/* A name of somebody else's that leads to this machine: its page may not read what is served. */
test('other names of this machine are refused', async () => {
  for (const host of ['evil.example', 'evil.example:8080', 'localhost.evil.example']) {
    const { status, text } = await ask('/', 'GET', { host })
    assert.equal(status, 421, host)
    assert.match(text, /found another name as Host/)
  }
  for (const host of ['localhost', 'LOCALHOST:8080', '127.0.0.1:1', '[::1]:8080'])
    assert.equal((await ask('/', 'GET', { host })).status, 200, host)
})
