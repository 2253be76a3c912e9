/* Models by their names on a hub: owner/name, or owner/name@revision. Nothing asks a hub unless the caller says so. */
import { HeedError, said } from './error.js'

const own = 'https://huggingface.co',
  name = /^([\w-][\w.-]*\/[\w-][\w.-]*)(?:@([\w-][\w./-]*))?$/

/** Whether a text is such a name. */
export const isHubName = (text: string) => name.test(text)

/**
 * The address of a model's folder on a hub that lays files out as Hugging Face does.
 * @param hub true: Hugging Face's own
 */
export function hubAddress(model: unknown, hub: true | string | URL = true): URL {
  const [, path, revision = 'main'] = (typeof model === 'string' && name.exec(model)) || []
  if (!path || revision.includes('..'))
    throw new HeedError(
      'INVALID_ARGUMENT',
      `loadModel: no name on a hub (found ${said(model)}, expected owner/name or owner/name@revision)`
    )
  const base = String(hub === true ? own : hub).replace(/\/*$/, '')
  return new URL(`${base}/${path}/resolve/${revision}/`, globalThis.document?.baseURI)
}
