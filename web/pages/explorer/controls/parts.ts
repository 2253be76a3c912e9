/* Which stage of a hierarchy is shown, and at which time step of a video the query is. Loaded with the
 * first model that has either. */
import { html, render } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { element } from '../../shared/elements.js'
import { say } from '../../languages/say.js'
import type { ModelParts } from '../../shared/model_parts.js'
import type { Of } from '../../shared/types.js'
import type { Page } from '../types.js'

const indices = (count: number) => Array.from({ length: count }, (_, i) => i)

function stages({ store }: Page, parts: ModelParts) {
  return html`<label>${say('parts.stages')} <select id="stage-shown" @change=${({ target }: Of<HTMLSelectElement>) => store.set({ stage: Number(target.value) })}>${parts.stages.map((_, i) => html`<option value=${i} .selected=${live(i === parts.stage)}>${parts.nameOf(i)}</option>`)}</select></label>`
}

/** The query stays at its place in the frame, and goes to another time step. */
function times({ store }: Page, parts: ModelParts) {
  const { query } = store.get(),
    patch = Array.isArray(query) ? query : null,
    time = patch ? parts.placeIn(patch)[0] : -1,
    go = (to: number) => patch && store.set({ query: parts.atTime(patch, to) }),
    step = (name: string, by: number, text: string, label: string) =>
      html`<button type="button" name=${name} aria-label=${label} ?disabled=${!patch || time + by < 0 || time + by >= parts.frames} @click=${() => go(time + by)}>${text}</button>`
  return html`${step('earlier', -1, '‹', say('parts.earlier'))}<label>${say('parts.time')} <select id="time-shown" ?disabled=${!patch} @change=${({ target }: Of<HTMLSelectElement>) => go(Number(target.value))}>${indices(parts.frames).map((i) => html`<option value=${i} .selected=${live(i === time)}>${say('parts.timeOf', { time: i + 1, times: parts.frames })}</option>`)}</select></label>${step('later', 1, '›', say('parts.later'))}`
}

/** Returns what shows them, or hides them. */
export function connectParts(page: Page) {
  const place = element('parts'),
    file = element('picture-file'),
    { accept } = file
  return () => {
    const { parts } = page.engine,
      isVideo = (parts?.frames ?? 0) > 1
    place.hidden = !parts
    file.accept = isVideo ? `${accept},video/*` : accept
    if (parts) render(isVideo ? times(page, parts) : stages(page, parts), place)
  }
}
