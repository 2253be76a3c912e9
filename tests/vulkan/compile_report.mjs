// Reads tables of compile_table.sh.
//   compile_report.mjs check LIMITS TABLE         compares every row with the limits; exit code 1: one is missed
//   compile_report.mjs document BEFORE NOW TITLE  prints gpu.md, a page to read; TITLE: what the two tables are of
import { readFileSync } from 'node:fs'

const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
const matches = (pattern, text) =>
  pattern.split(',').some((one) => new RegExp(`^${one.replaceAll('*', '.*')}$`).test(text))

function readLimits(path) {
  const limits = []
  const known = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const words = line.replace(/^#.*/, '').trim().split(/\s+/)
    if (words[0] === 'limit') {
      const [, field, sign, value, device, workload, kernel] = words
      limits.push({ field, sign, value: Number(value), device, workload, kernel })
    } else if (words[0] === 'known') {
      const [, field, worst, device, workload, kernel, ...reason] = words
      if (!reason.length) throw new Error(`${path}: a known row without a reason (found "${line}")`)
      known.push({ field, worst: Number(worst), device, workload, kernel, line, used: false })
    } else if (words[0])
      throw new Error(`${path}: unknown word (found "${words[0]}", expected limit or known)`)
  }
  return { limits, known }
}

const isFor = (rule, row) =>
  matches(rule.device, row.device) &&
  matches(rule.workload, row.workload) &&
  matches(rule.kernel, row.kernel)

const applies = (limit, row) => isFor(limit, row) && row[limit.field] !== null

const holds = (sign, value, found) => (sign === '<=' ? found <= value : found >= value)

function check(limitsPath, tablePath) {
  const { limits, known } = readLimits(limitsPath)
  const table = read(tablePath)
  const devices = new Set(table.map((row) => row.device))
  const workloads = new Set(table.map((row) => row.workload))
  let compared = 0
  let missed = 0
  for (const row of table)
    for (const limit of limits.filter((one) => applies(one, row))) {
      compared++
      const found = row[limit.field]
      if (holds(limit.sign, limit.value, found)) continue
      const reasons = known.filter(
        (one) => one.field === limit.field && isFor(one, row) && holds(limit.sign, one.worst, found)
      )
      for (const reason of reasons) reason.used = true
      if (reasons.length) continue
      missed++
      console.log(
        `${row.device}, ${row.workload}, ${row.kernel} [${row.constants}]: ${limit.field} (found ${found}, expected ${limit.sign} ${limit.value})`
      )
    }
  for (const one of known) {
    // a part of the table says nothing of the rest
    const here =
      [...devices].some((name) => matches(one.device, name)) &&
      [...workloads].some((name) => matches(one.workload, name))
    if (one.used || !here) continue
    missed++
    console.log(`${limitsPath}: no row needs this line any more: ${one.line}`)
  }
  console.log(
    `${table.length} pipelines on ${devices.size} devices, ${compared} comparisons, ${missed} missed`
  )
  return missed || !compared ? 1 : 0
}

// One row a workload and kernel: of several pipelines the one with the most instructions.
function largest(table) {
  const rows = new Map()
  for (const row of table) {
    const key = `${row.device}|${row.workload}|${row.kernel}`
    if (!rows.has(key) || rows.get(key).instructions < row.instructions) rows.set(key, row)
  }
  return rows
}

const shown = /^(attention|linear|patch_embedding|layer_norm)/
const columns = [
  'registers',
  'spills',
  'shared_bytes',
  'waves',
  'instructions',
  'loop_instructions',
  'latency',
  'inverse_throughput'
]
const text = (value) =>
  value === null || value === undefined ? '–' : String(Math.round(value * 100) / 100)
const cell = (now, before) =>
  before === undefined || text(now) === text(before)
    ? text(now)
    : `${text(before)} → **${text(now)}**`

function documentOf(beforePath, nowPath, title) {
  const before = largest(read(beforePath))
  const now = largest(read(nowPath))
  const devices = [...new Set([...now.values()].map((row) => row.device))]
  console.log(`# What drivers' compilers make of the kernels

This page is generated: \`tests/vulkan/compile_document.sh\` writes it. It holds no measurement of a GPU.
Mesa's compilers for real GPUs compiled every pipeline, without the hardware and without running it.
${title}
Where two figures stand in a cell, the first is of the other commit.

- *waves* are subgroups that fit on one SIMD. Spills are registers (AMD), or stores to memory.
- *loop* is the number of instructions in the loop with the most products, from AMD's disassembly.
- *latency* and *inverse throughput* are cycles, as the compiler estimates them. They rank kernels and predict no time.
- Of several pipelines of one kernel in one workload, the row shows the one with the most instructions.
- \`tests/vulkan/compile_limits.txt\` has the limits that \`./dev test all\` holds these figures to.`)
  for (const device of devices) {
    console.log(
      `\n## ${device}\n\n| workload | kernel | registers | spills | shared bytes | waves | instructions | loop | latency | inverse throughput |\n|---|---|---|---|---|---|---|---|---|---|`
    )
    for (const [key, row] of now) {
      if (row.device !== device || !shown.test(row.kernel) || row.workload === 'every_op') continue
      const cells = columns.map((name) => cell(row[name], before.get(key)?.[name]))
      console.log(`| ${row.workload} | ${row.kernel} | ${cells.join(' | ')} |`)
    }
  }
  return 0
}

const [verb, ...paths] = process.argv.slice(2)
if (verb === 'check' && paths.length === 2) process.exitCode = check(...paths)
else if (verb === 'document' && paths.length === 3) process.exitCode = documentOf(...paths)
else {
  console.error('usage: compile_report.mjs check LIMITS TABLE | document BEFORE NOW TITLE')
  process.exitCode = 2
}
