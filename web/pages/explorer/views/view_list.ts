/* The views beside the stage, in the order of their tabs and digit keys: the one list that the
 * panel, the tabs in index.html, the address, the keys and the saved numbers read. load: the module
 * with `view`, fetched when it is first looked at; the first view comes with the page (panel.js).
 * table, csv: the module with the function of that name, where the view has numbers. */
import { say } from '../../languages/say.js'

import type { ListedView } from '../../../types/pages.js'

export const views = {
  heads: {
    title: say('view.heads'),
    table: () => import('./heads_numbers.js'),
    csv: () => import('./heads_numbers.js')
  },
  matrix: {
    title: say('view.matrix'),
    load: () => import('./matrix.js'),
    table: () => import('./matrix_numbers.js'),
    csv: () => import('./matrix_numbers.js')
  },
  rollout: {
    title: say('view.rollout'),
    load: () => import('./rollout.js'),
    table: () => import('./rollout_numbers.js')
  },
  statistics: {
    title: say('view.statistics'),
    load: () => import('./statistics.js'),
    csv: () => import('./statistics_numbers.js')
  },
  compare: {
    title: say('view.compare'),
    load: () => import('./compare.js'),
    table: () => import('./compare_numbers.js'),
    csv: () => import('./compare_numbers.js')
  },
  intervene: { title: say('view.intervene'), load: () => import('./intervene.js') },
  tokens: {
    title: say('view.tokens'),
    load: () => import('./tokens.js'),
    table: () => import('./tokens_numbers.js'),
    csv: () => import('./tokens_numbers.js')
  },
  scene: { title: say('view.scene'), load: () => import('./scene.js') },
  texts: { title: say('view.texts'), load: () => import('./texts.js') },
  more: { title: say('view.more'), load: () => import('./more_views.js') }
} satisfies Record<string, ListedView>
