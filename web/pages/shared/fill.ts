/* A template in a place of the page, which may hold what stood there before any script. */
import { render } from 'lit-html'

const filled: WeakSet<Element> = new WeakSet()

export function fill(place: HTMLElement | SVGElement, content: unknown) {
  if (!filled.has(place)) place.replaceChildren()
  filled.add(place)
  render(content, place)
}
