/* Which tensors of a model's files are used, and for what: a dialog with a table. Loaded when asked
 * for. */
import { showDialog } from '../controls/dialog.js'
/** @import {Page} from '../../../types/pages.js' */

/** @param {Page} page */
export async function showTensors({ engine }) {
  const { found, absent } = await engine.tensors(),
    name = document.getElementById('model-name').textContent
  const used = found.filter((tensor) => tensor.used).length
  await showDialog({
    title: `Tensors of ${name}`,
    label: 'Tensors',
    columns: ['tensor', 'what it is', 'shape'],
    text: `${used} of ${found.length} tensors are used${used === found.length ? '' : '; the others do not belong to the model that runs'}.${absent.length ? ` Optional parts that the files do not have: ${absent.join(', ')}.` : ''}`,
    rows: found.map(({ name, dtype, shape, used, role }) => [
      name,
      role ?? (used ? 'by its name' : 'not used'),
      `${shape.join(' × ')} ${dtype}`
    ])
  })
}
