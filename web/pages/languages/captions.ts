/* The sentences of plot/caption.ts and the names of scales in the language of the page. English has
 * them there. */
import { captionWords, scaleKinds } from '../plot/caption_words.js'
import { say } from './say.js'

export const captions = {
  itself: say('caption.itself'),
  probe: say('caption.probe'),
  patch: (row: number, column: number) => say('caption.patch', { row, column }),
  register: (number: number) => say('caption.register', { number }),
  together: (first: string, others = say('caption.registers')) =>
    first ? say('caption.together', { first, others }) : others,
  nowhere: (where: string, name: string, reverse: boolean | undefined) =>
    reverse
      ? say('caption.receivesNothing', { where, name })
      : say('caption.nowhere', { where, name }),
  received: (where: string, name: string, by: string, share: string, times: string) =>
    say('caption.received', { where, name, by, share, times }),
  given: (
    where: string,
    name: string,
    share: string,
    group: string,
    most: string,
    as: string,
    rollout: boolean | undefined
  ) =>
    rollout
      ? say('caption.comes', { where, name, share, group, most, as })
      : say('caption.given', { where, name, share, group, most, as }),
  patches: (count: number, place: string) => say('caption.patches', { count, place }),
  onObject: (name: string) => say('caption.onObject', { name }),
  around: say('caption.around'),
  spread: say('caption.spread'),
  parts: say('caption.parts').split('|'),
  alone: (
    where: string,
    name: string,
    most: string,
    share: string,
    times: string,
    rollout: boolean | undefined
  ) =>
    rollout
      ? say('caption.comesAlone', { where, name, most, share, times })
      : say('caption.alone', { where, name, most, share, times }),
  noWeight: () => say('caption.noWeight'),
  lies: (share: string, name: string, from: boolean) =>
    from ? say('caption.from', { share, name }) : say('caption.on', { share, name }),
  barred: (where: string, name: string, reverse: boolean | undefined) =>
    reverse ? say('caption.barredFrom', { where, name }) : say('caption.barred', { where, name }),
  scores: (
    where: string,
    name: string,
    least: string,
    highest: string,
    at: string,
    barred: number,
    reverse: boolean | undefined
  ) =>
    say(reverse ? 'caption.scoresOf' : 'caption.scores', {
      where,
      name,
      least,
      highest,
      at,
      barred: barred ? say('caption.barredCount', { barred }) : ''
    })
}
Object.assign(captionWords, captions)

Object.assign(scaleKinds, {
  share: say('scale.share'),
  log: say('scale.log'),
  own: say('scale.own'),
  all: say('scale.all')
})
