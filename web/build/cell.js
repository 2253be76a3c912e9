/* A notebook's cell, for the Python package: node cell.js OUT writes cell.html, with heed/plot, style
 * and script inside, and widget.js, the front end of an anywidget. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'

/** A file of web/cell/. @param {string} name */
const source = (name) => fileURLToPath(new URL(`../cell/${name}`, import.meta.url))

/**
 * One file with all that it imports, as text.
 * @param {string} name
 * @param {'iife' | 'esm'} format
 */
async function bundled(name, format) {
  const built = await esbuild.build({
    entryPoints: [source(name)],
    bundle: true,
    write: false,
    minify: true,
    format,
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning'
  })
  return built.outputFiles[0].text
}

const out = resolve(process.argv[2]),
  style = (await bundled('cell.css', 'esm')).trim(),
  parts = { style, script: (await bundled('page.ts', 'iife')).replaceAll('</', '<\\/').trim() },
  page = readFileSync(source('cell.html'), 'utf8')
writeFileSync(
  join(out, 'cell.html'),
  page.replace(/\{\{(style|script)\}\}/g, (_, name) => parts[/** @type {'style'} */ (name)])
)
writeFileSync(join(out, 'widget.js'), await bundled('widget.ts', 'esm'))
writeFileSync(join(out, 'widget.css'), style)
