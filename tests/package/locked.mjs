/* What npm brings is what the lock file says: each package has an exact version and a hash, none but those listed here runs a
 * script when it is installed, and the package that people install depends on nothing. The argument is the root of the project. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const withScripts = ['esbuild'] // it puts its own program in place
const root = process.argv[2]
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const wrong = []
let count = 0
for (const [path, entry] of Object.entries(read('package-lock.json').packages)) {
  if (!path.startsWith('node_modules/') || entry.link) continue
  const name = path.slice(path.lastIndexOf('node_modules/') + 13)
  count++
  if (!/^sha512-/.test(entry.integrity ?? '')) wrong.push(`${name}: no SHA-512`)
  if (!/^\d+\.\d+\.\d+/.test(entry.version ?? ''))
    wrong.push(`${name}: no exact version (found ${entry.version})`)
  if (entry.hasInstallScript && !withScripts.includes(name))
    wrong.push(`${name}: a script that runs when it is installed`)
}
for (const path of ['package.json', 'web/test/package.json'])
  for (const [name, version] of Object.entries(read(path).devDependencies ?? {}))
    if (!/^\d+\.\d+\.\d+$/.test(version))
      wrong.push(`${path}: ${name} is not pinned (found ${version})`)
const { dependencies, optionalDependencies, scripts } = read('web/package.json')
if (dependencies || optionalDependencies || scripts)
  wrong.push('web/package.json: dependencies or scripts (expected none)')
if (count === 0) wrong.push('package-lock.json: no packages')
for (const line of wrong) console.error(line)
console.log(`${count} packages, ${wrong.length} findings`)
process.exit(wrong.length ? 1 : 0)
