/* Prints a test run in cmocka's lines, which ./dev counts case by case. Only cases are told, not
 * the suites around them. */
/** @param {{file?: string, line?: number}} data */
const where = (data) => `${data.file ?? ''}:${data.line ?? ''}`

export default async function* reporter(/** @type {any} */ source) {
  const counts = { ok: 0, failed: 0, skipped: 0 }
  yield '[==========] Running the tests.\n'
  for await (const { type, data } of source) {
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details?.type === 'suite') continue
    if (data.skip !== undefined) {
      counts.skipped++
      yield `[  SKIPPED ] ${data.name}: ${data.skip === true ? 'no reason given' : data.skip}\n`
    } else if (type === 'test:pass') {
      counts.ok++
      yield `[       OK ] ${data.name}\n`
    } else {
      counts.failed++
      yield `${data.details.error?.cause?.stack ?? data.details.error?.message}\n${where(data)}\n[  FAILED  ] ${data.name}\n`
    }
  }
  yield `[==========] ${counts.ok} passed, ${counts.failed} failed, ${counts.skipped} skipped.\n`
}
