/* node package_scripts.js [--without PATTERN] OUT ENTRY...: the scripts of the package by which others
 * ask for it, minified, and what they share as chunks; without the lines in which the pattern is found. Where
 * esbuild is not installed, all scripts beside the entries as they are written. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { esbuild, options, readScript } from './minify.js'

const {
  values: { without },
  positionals: [out, ...entries]
} = parseArgs({ allowPositionals: true, options: { without: { type: 'string' } } })

/** @type {import('esbuild').Plugin} */
const withoutLines = {
  name: 'without-lines',
  setup: (build) =>
    build.onLoad({ filter: /\.js$/ }, async ({ path }) => ({
      contents: await readScript(path, without)
    }))
}

/**
 * With the comments that other bundlers read and esbuild leaves out: a built-in module of Node is
 * none of the package's.
 * @param {string} text
 */
const forBundlers = (text) =>
  text.replace('import(`node:', 'import(/*@vite-ignore*//*webpackIgnore:true*/`node:')

/** @returns {Promise<[name: string, text: string][]>} */
async function asWritten() {
  const folder = dirname(entries[0]),
    names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.js'))
  return Promise.all(
    names.map(async (name) => [name, await readScript(join(folder, name), without)])
  )
}

/**
 * @param {typeof import('esbuild')} bundler
 * @returns {Promise<[name: string, text: string][]>}
 */
async function bundled({ build }) {
  const { outputFiles } = await build({
    ...options,
    entryPoints: entries,
    outdir: out,
    bundle: true,
    splitting: true,
    write: false,
    plugins: [withoutLines],
    logLevel: 'warning'
  })
  return outputFiles.map(({ path, text }) => [relative(out, path), forBundlers(text)])
}

for (const [name, text] of await (esbuild ? bundled(esbuild) : asWritten())) {
  await mkdir(dirname(join(out, name)), { recursive: true })
  await writeFile(join(out, name), text)
}
