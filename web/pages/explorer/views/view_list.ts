/* The views beside the stage, in the order of their tabs and digit keys: the one list that the
 * panel, the tabs in index.html, the address, the keys and the saved numbers read. load: the module
 * with `view`, fetched when it is first looked at; the first view comes with the page (panel.js).
 * table, csv: the module with the function of that name, where the view has numbers. */
import { say } from '../../languages/say.js'

import type { ListedView } from '../types.js'

export const views = {
  heads: {
    title: say('view.heads'),
    table: () => import('./heads/heads_numbers.js'),
    csv: () => import('./heads/heads_numbers.js')
  },
  matrix: {
    title: say('view.matrix'),
    load: () => import('./matrix/matrix.js'),
    table: () => import('./matrix/matrix_numbers.js'),
    csv: () => import('./matrix/matrix_numbers.js')
  },
  rollout: {
    title: say('view.rollout'),
    load: () => import('./rollout/rollout.js'),
    table: () => import('./rollout/rollout_numbers.js')
  },
  statistics: {
    title: say('view.statistics'),
    load: () => import('./heads/statistics.js'),
    csv: () => import('./heads/statistics_numbers.js')
  },
  compare: {
    title: say('view.compare'),
    load: () => import('./compare/compare.js'),
    table: () => import('./compare/compare_numbers.js'),
    csv: () => import('./compare/compare_numbers.js')
  },
  intervene: { title: say('view.intervene'), load: () => import('./effects/intervene.js') },
  tokens: {
    title: say('view.tokens'),
    load: () => import('./tokens/tokens.js'),
    table: () => import('./tokens/tokens_numbers.js'),
    csv: () => import('./tokens/tokens_numbers.js')
  },
  scene: { title: say('view.scene'), load: () => import('./pictures/scene.js') },
  texts: { title: say('view.texts'), load: () => import('./tokens/texts.js') },
  more: { title: say('view.more'), load: () => import('./more_views.js') }
} satisfies Record<string, ListedView>
