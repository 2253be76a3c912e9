/* What captions say in English, by what is to be said in it, and the names of scales. Pages in other
 * languages put theirs here (languages/captions.js), and their bundles hold no English. */

/** @type {Record<string, string>} */
export const scaleKinds = {
  uniform: '× uniform',
  share: '% of the row',
  log: '× uniform, logarithmic',
  own: 'share of each map’s largest',
  all: '× uniform, to all heads’ largest'
}

export const captionWords = {
  itself: 'itself',
  probe: 'the probe',
  /** @param {number} row @param {number} column */
  patch: (row, column) => `patch (${row}, ${column})`,
  /** @param {number} number */
  register: (number) => `register ${number}`,
  /** @param {string} first @param {string} [others] where they are no registers */
  together: (first, others = 'registers') => (first ? `${first} and ${others}` : others),
  /** @param {string} where @param {string} name @param {boolean} [reverse] */
  nowhere: (where, name, reverse) =>
    `${where}: ${name} ${reverse ? 'is looked at by none' : 'looks nowhere'}.`,
  /** @param {string} where @param {string} name @param {string} by @param {string} share @param {string} times */
  received: (where, name, by, share, times) =>
    `${where}: ${name} is looked at most by ${by}, which gives it ${share} of its attention = ${times}.`,
  /** @param {string} where @param {string} name @param {string} share @param {number} tokens @param {string} most @param {string} as @param {boolean} [rollout] */
  given: (where, name, share, tokens, most, as, rollout) => {
    const of = `${tokens} tokens, most`
    return rollout
      ? `${where}: ${share} of ${name} comes from ${of} from ${most}: ${as}.`
      : `${where}: ${name} gives ${share} of its attention to ${of} to ${most}: ${as}.`
  },
  /** @param {string} where @param {string} name @param {string} most @param {string} share @param {string} times @param {boolean} [rollout] */
  alone: (where, name, most, share, times, rollout) =>
    rollout
      ? `${where}: ${share} of ${name} comes from ${most} alone: ${times}.`
      : `${where}: ${name} gives ${share} of its attention to ${most} alone: ${times}.`,
  /** @param {boolean} from */
  noWeight: (from) => `no weight ${from ? 'from' : 'on'} any token`,
  /** @param {string} share @param {string} name @param {boolean} from */
  lies: (share, name, from) => `${share} ${from ? 'from' : 'on'} ${name}`,
  /** @param {string} where @param {string} name @param {boolean} [reverse] */
  barred: (where, name, reverse) =>
    `${where}: ${name} ${reverse ? 'is barred from all' : 'may look nowhere'}.`,
  /** @param {string} where @param {string} name @param {string} least @param {string} highest @param {string} at @param {number} barred @param {boolean} [reverse] */
  scores: (where, name, least, highest, at, barred, reverse) =>
    `${where}: ${reverse ? `scores for ${name}` : `${name} scores tokens`} from ${least} to ${highest}, highest ${reverse ? 'from' : 'at'} ${at}${barred ? `; ${barred} barred` : ''}.`
}
