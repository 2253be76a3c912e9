/* What captions say in English, by what is to be said in it, and the names of scales. Pages in other
 * languages put theirs here (languages/captions.ts), and their bundles hold no English. */
import type { ScaleKind } from 'heed/plot'

export const scaleKinds: Record<ScaleKind, string> = {
  uniform: '× uniform',
  share: '% of the row',
  log: '× uniform, logarithmic',
  own: 'share of each map’s largest',
  all: '× uniform, to all heads’ largest'
}

export const captionWords = {
  itself: 'itself',
  probe: 'the probe',
  patch: (row: number, column: number) => `patch (${row}, ${column})`,
  register: (number: number) => `register ${number}`,
  /** @param others where they are no registers */
  together: (first: string, others: string = 'registers') =>
    first ? `${first} and ${others}` : others,
  nowhere: (where: string, name: string, reverse?: boolean) =>
    `${where}: ${name} ${reverse ? 'is looked at by none' : 'looks nowhere'}.`,
  received: (where: string, name: string, by: string, share: string, times: string) =>
    `${where}: ${name} is looked at most by ${by}, which gives it ${share} of its attention = ${times}.`,
  given: (
    where: string,
    name: string,
    share: string,
    group: string,
    most: string,
    as: string,
    rollout?: boolean
  ) =>
    rollout
      ? `${where}: ${share} of ${name} comes from ${group}, most from ${most}: ${as}.`
      : `${where}: ${name} gives ${share} of its attention to ${group}, most to ${most}: ${as}.`,
  /** @param place where they lie: one of the words below */
  patches: (count: number, place: string) => `${count} patch${count === 1 ? '' : 'es'} ${place}`,
  onObject: (name: string) => `on ${name}`,
  around: 'around it',
  spread: 'in several places',
  /** Of a picture, by rows. */
  parts: [
    'at the top left',
    'at the top',
    'at the top right',
    'at the left',
    'in the middle',
    'at the right',
    'at the bottom left',
    'at the bottom',
    'at the bottom right'
  ],
  alone: (
    where: string,
    name: string,
    most: string,
    share: string,
    times: string,
    rollout?: boolean
  ) =>
    rollout
      ? `${where}: ${share} of ${name} comes from ${most} alone: ${times}.`
      : `${where}: ${name} gives ${share} of its attention to ${most} alone: ${times}.`,
  noWeight: (from: boolean) => `no weight ${from ? 'from' : 'on'} any token`,
  lies: (share: string, name: string, from: boolean) => `${share} ${from ? 'from' : 'on'} ${name}`,
  barred: (where: string, name: string, reverse?: boolean) =>
    `${where}: ${name} ${reverse ? 'is barred from all' : 'may look nowhere'}.`,
  scores: (
    where: string,
    name: string,
    least: string,
    highest: string,
    at: string,
    barred: number,
    reverse?: boolean
  ) =>
    `${where}: ${reverse ? `scores for ${name}` : `${name} scores tokens`} from ${least} to ${highest}, highest ${reverse ? 'from' : 'at'} ${at}${barred ? `; ${barred} barred` : ''}.`
}
