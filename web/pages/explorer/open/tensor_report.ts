/* Which tensors of a model's files are used, and for what: a dialog with a table. Loaded when asked
 * for. */
import { element } from '../../shared/elements.js'
import { showDialog } from '../controls/dialog.js'
import { say } from '../../languages/say.js'
import type { Page } from '../types.js'

export async function showTensors({ engine }: Page) {
  const { found, absent } = await engine.tensors(),
    name = element('model-name').textContent
  const used = found.filter((tensor) => tensor.used).length
  await showDialog({
    title: say('tensorReport.tensors', { name }),
    label: say('tensorReport.tensors2'),
    columns: ['tensor', say('tensorReport.what'), 'shape'],
    text: say('tensorReport.tensorsUsed', {
      used,
      found: found.length,
      others: used === found.length ? '' : say('tensorReport.othersDoNotBelong'),
      absent: absent.length
        ? say('tensorReport.optionalPartsFilesDo', { absent: absent.join(', ') })
        : ''
    }),
    rows: found.map(({ name, dtype, shape, used, role }) => [
      name,
      role ?? (used ? say('tensorReport.name') : say('tensorReport.notUsed')),
      `${shape.join(' × ')} ${dtype}`
    ])
  })
}
