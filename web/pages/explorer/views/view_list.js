/* The views beside the stage, in the order of their tabs and digit keys: the one list that the
 * panel, the tabs in index.html, the address, the keys and the saved numbers read. load: the module
 * with `view`, fetched when it is first looked at; the first view comes with the page (panel.js).
 * table, csv: the module with the function of that name, where the view has numbers. */

/** @import {ListedView} from '../../../types/pages.js' */

/** @satisfies {Record<string, ListedView>} */
export const views = {
  heads: {
    title: 'Heads',
    table: () => import('./heads_numbers.js'),
    csv: () => import('./heads_numbers.js')
  },
  matrix: {
    title: 'Matrix',
    load: () => import('./matrix.js'),
    table: () => import('./matrix_numbers.js'),
    csv: () => import('./matrix_numbers.js')
  },
  rollout: {
    title: 'Rollout',
    load: () => import('./rollout.js'),
    table: () => import('./rollout_numbers.js')
  },
  statistics: {
    title: 'Statistics',
    load: () => import('./statistics.js'),
    csv: () => import('./statistics_numbers.js')
  },
  compare: {
    title: 'Compare',
    load: () => import('./compare.js'),
    table: () => import('./compare_numbers.js'),
    csv: () => import('./compare_numbers.js')
  },
  intervene: { title: 'Intervene', load: () => import('./intervene.js') },
  tokens: {
    title: 'Tokens',
    load: () => import('./tokens.js'),
    table: () => import('./tokens_numbers.js'),
    csv: () => import('./tokens_numbers.js')
  },
  scene: { title: 'Scene', load: () => import('./scene.js') },
  texts: { title: 'Texts', load: () => import('./texts.js') },
  more: { title: 'More', load: () => import('./more_views.js') }
}
