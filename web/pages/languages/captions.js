/* The sentences of plot/caption.js and the names of scales in the language of the page. English has
 * them there. */
import { captionWords, scaleKinds } from '../plot/caption_words.js'
import { say } from './say.js'

export const captions = {
  itself: say('caption.itself'),
  probe: say('caption.probe'),
  patch: (/** @type {number} */ row, /** @type {number} */ column) =>
    say('caption.patch', { row, column }),
  register: (/** @type {number} */ number) => say('caption.register', { number }),
  together: (/** @type {string} */ first, others = say('caption.registers')) =>
    first ? say('caption.together', { first, others }) : others,
  nowhere: (
    /** @type {string} */ where,
    /** @type {string} */ name,
    /** @type {boolean | undefined} */ reverse
  ) =>
    reverse
      ? say('caption.receivesNothing', { where, name })
      : say('caption.nowhere', { where, name }),
  received: (
    /** @type {string} */ where,
    /** @type {string} */ name,
    /** @type {string} */ by,
    /** @type {string} */ share,
    /** @type {string} */ times
  ) => say('caption.received', { where, name, by, share, times }),
  given: (
    /** @type {string} */ where,
    /** @type {string} */ name,
    /** @type {string} */ share,
    /** @type {number} */ tokens,
    /** @type {string} */ most,
    /** @type {string} */ as,
    /** @type {boolean | undefined} */ rollout
  ) =>
    rollout
      ? say('caption.comes', { where, name, share, tokens, most, as })
      : say('caption.given', { where, name, share, tokens, most, as }),
  alone: (
    /** @type {string} */ where,
    /** @type {string} */ name,
    /** @type {string} */ most,
    /** @type {string} */ share,
    /** @type {string} */ times,
    /** @type {boolean | undefined} */ rollout
  ) =>
    rollout
      ? say('caption.comesAlone', { where, name, most, share, times })
      : say('caption.alone', { where, name, most, share, times }),
  noWeight: () => say('caption.noWeight'),
  lies: (/** @type {string} */ share, /** @type {string} */ name, /** @type {boolean} */ from) =>
    from ? say('caption.from', { share, name }) : say('caption.on', { share, name }),
  barred: (
    /** @type {string} */ where,
    /** @type {string} */ name,
    /** @type {boolean | undefined} */ reverse
  ) =>
    reverse ? say('caption.barredFrom', { where, name }) : say('caption.barred', { where, name }),
  scores: (
    /** @type {string} */ where,
    /** @type {string} */ name,
    /** @type {string} */ least,
    /** @type {string} */ highest,
    /** @type {string} */ at,
    /** @type {number} */ barred,
    /** @type {boolean | undefined} */ reverse
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
