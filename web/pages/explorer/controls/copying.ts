/* Texts that are copied: hashes, and what a report of an error needs. Loaded with the first. */
import { element } from '../../shared/elements.js'
import { showStatus } from './status.js'
import { say } from '../../languages/say.js'

/**
 * @param copied what is said once it is
 * @param refused what is said where the browser does not let the page
 */
const copy = (text: string, copied: string, refused: string = say('copying.browserDoesNotAllow')) =>
  navigator.clipboard.writeText(text).then(
    () => showStatus(copied),
    () => showStatus(refused)
  )

/** @param all lines of hashes, as sha256sum has them */
export const copyHashes = (all: string) =>
  copy(all, say('copying.sha256CopiedFormat'), say('copying.browserDoesNotLet', { all }))

/** What went wrong, where, and on which machine. */
export const copyDetails = () => {
  const text = (id: string) => element(id)?.textContent,
    why = element('machine')?.dataset.why
  return copy(
    `${text('error-text')}\n${text('machine')}. ${why}\n${navigator.userAgent}\n${location.href}`,
    say('copying.detailsCopied')
  )
}
