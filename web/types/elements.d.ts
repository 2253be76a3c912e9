/* The elements of the pages by their ids, as the .html files have them: a script asks only for
 * those of its own page, so none of them is null. The test of types holds this list to the files. */
interface PageElements {
  ablate: HTMLButtonElement
  'add-positions': HTMLInputElement
  agreement: HTMLParagraphElement
  another: HTMLButtonElement
  answer: HTMLOListElement | HTMLParagraphElement
  'answer-limit': HTMLParagraphElement
  'api-title': HTMLHeadingElement
  'attributes-title': HTMLHeadingElement
  bar: HTMLCanvasElement
  bars: HTMLUListElement
  'bar-label': HTMLButtonElement
  baseline: HTMLSelectElement
  'baseline-said': HTMLParagraphElement
  'bench-title': HTMLHeadingElement
  bias: HTMLDivElement
  'camera-close': HTMLButtonElement
  'camera-dialog': HTMLDialogElement
  'camera-live': HTMLButtonElement
  'camera-title': HTMLHeadingElement
  caption: HTMLParagraphElement
  causal: HTMLInputElement
  clear: HTMLButtonElement
  cls: HTMLButtonElement
  code: HTMLElement | HTMLButtonElement
  columns: HTMLInputElement
  compare: HTMLButtonElement
  copy: HTMLButtonElement
  copied: HTMLSpanElement
  cross: HTMLParagraphElement
  'demo-model': HTMLButtonElement
  device: HTMLDivElement
  devices: HTMLElement
  'devices-copy': HTMLButtonElement
  'devices-report': HTMLTextAreaElement
  'devices-said': HTMLParagraphElement
  'devices-start': HTMLButtonElement
  'devices-title': HTMLHeadingElement
  display: HTMLDivElement
  'display-said': HTMLParagraphElement
  elsewhere: HTMLParagraphElement
  'embed-title': HTMLHeadingElement
  empty: HTMLDivElement
  'empty-title': HTMLHeadingElement
  environment: HTMLDListElement
  error: HTMLDivElement
  'error-again': HTMLButtonElement
  'error-close': HTMLButtonElement
  'error-copy': HTMLButtonElement
  'error-text': HTMLParagraphElement
  example: HTMLSelectElement
  'example-code': HTMLElement
  factors: HTMLDivElement
  'factors-title': HTMLHeadingElement
  facts: HTMLDListElement
  'first-heads': HTMLImageElement
  'first-map': HTMLImageElement
  'first-picture': HTMLImageElement
  fit: HTMLDivElement
  form: HTMLSelectElement
  frame: HTMLDivElement
  from: HTMLParagraphElement
  given: HTMLHeadingElement
  handle: HTMLButtonElement
  'handle-fact': HTMLSpanElement
  head: HTMLSelectElement
  'head-menu': HTMLDivElement
  'head-tables': HTMLDivElement
  heads: HTMLSelectElement
  'heads-agreement': HTMLParagraphElement
  'heads-formula': HTMLDivElement
  'heads-title': HTMLHeadingElement
  help: HTMLButtonElement
  hide: HTMLInputElement
  'hide-said': HTMLParagraphElement
  image: HTMLInputElement
  invite: HTMLParagraphElement
  'invite-close': HTMLButtonElement
  isolation: HTMLParagraphElement
  joined: HTMLDivElement
  'joined-title': HTMLHeadingElement
  keep: HTMLButtonElement
  key: HTMLDivElement
  'key-list': HTMLDListElement
  keys: HTMLDialogElement
  'keys-title': HTMLHeadingElement
  layer: HTMLInputElement | HTMLSelectElement
  'layer-said': HTMLParagraphElement
  left: HTMLInputElement
  letters: HTMLInputElement
  library: HTMLDivElement
  line: HTMLDivElement
  link: HTMLButtonElement
  'link-said': HTMLParagraphElement
  'live-title': HTMLHeadingElement
  lock: HTMLInputElement
  machine: HTMLSpanElement
  'machine-why': HTMLParagraphElement
  map: HTMLCanvasElement
  marks: SVGSVGElement
  'mask-title': HTMLHeadingElement
  masked: HTMLDivElement
  'masked-formula': HTMLDivElement
  model: HTMLDivElement
  'model-facts': HTMLParagraphElement
  'model-files': HTMLInputElement
  'model-name': HTMLParagraphElement
  'model-origin': HTMLParagraphElement
  'model-times': HTMLTableElement
  'more-facts': HTMLButtonElement
  most: HTMLTableSectionElement
  'most-title': HTMLTableCaptionElement
  norm: HTMLSelectElement
  numbers: HTMLElement
  'numbers-title': HTMLHeadingElement
  offline: HTMLParagraphElement
  'on-picture': HTMLAnchorElement
  'on-picture-said': HTMLParagraphElement
  'op-caption': HTMLParagraphElement
  'op-kinds': HTMLTableRowElement
  'op-times': HTMLTableSectionElement
  open: HTMLDivElement
  'open-buttons': HTMLDivElement
  'order-said': HTMLParagraphElement
  output: HTMLDivElement
  'output-formula': HTMLDivElement
  'output-title': HTMLHeadingElement
  own: HTMLDivElement
  padding: HTMLInputElement
  parts: HTMLDivElement
  patches: HTMLDivElement
  picture: HTMLCanvasElement
  'picture-answer': HTMLParagraphElement
  'picture-file': HTMLInputElement
  'picture-hidden': HTMLCanvasElement
  'picture-result': HTMLDivElement
  'picture-rows': HTMLTableSectionElement
  'picture-title': HTMLHeadingElement
  'picture-whole': HTMLCanvasElement
  pin: HTMLButtonElement
  pins: HTMLDivElement
  'place-formula': HTMLDivElement
  placed: HTMLDivElement
  places: HTMLDivElement
  'places-title': HTMLHeadingElement
  'png-times': HTMLSelectElement
  prefix: HTMLDivElement
  preset: HTMLSelectElement
  progress: HTMLProgressElement
  projected: HTMLDivElement
  projection: HTMLDivElement
  query: HTMLInputElement | HTMLDivElement
  'rail-title': HTMLHeadingElement
  real: HTMLElement
  'real-choice': HTMLParagraphElement
  'real-head': HTMLInputElement
  'real-key': HTMLDivElement
  'real-layer': HTMLInputElement
  'real-link': HTMLAnchorElement
  'real-map': HTMLDivElement
  'real-query': HTMLDivElement
  'real-result': HTMLDivElement
  'real-rows': HTMLTableSectionElement
  'real-said': HTMLParagraphElement
  'real-title': HTMLHeadingElement
  'real-value': HTMLDivElement
  reverse: HTMLButtonElement
  right: HTMLInputElement
  rules: HTMLDivElement
  'rules-said': HTMLParagraphElement
  'rules-title': HTMLHeadingElement
  'run-picture': HTMLButtonElement
  'run-twin': HTMLButtonElement
  'run-real': HTMLButtonElement
  'run-sort': HTMLButtonElement
  runs: HTMLInputElement
  runtime: HTMLParagraphElement
  said: HTMLParagraphElement
  samples: HTMLDivElement
  save: HTMLDivElement
  'save-csv': HTMLButtonElement
  'save-figure': HTMLButtonElement
  'save-json': HTMLButtonElement
  'save-npy': HTMLButtonElement
  'save-npz': HTMLButtonElement
  'save-png': HTMLButtonElement
  'save-safetensors': HTMLButtonElement
  'save-session': HTMLButtonElement
  'save-svg': HTMLButtonElement
  scene: HTMLInputElement
  score: HTMLSelectElement
  'score-said': HTMLParagraphElement
  scores: HTMLElement | HTMLDivElement
  'scores-formula': HTMLDivElement
  'scores-title': HTMLHeadingElement
  sentence: HTMLParagraphElement
  'sentence-said': HTMLParagraphElement
  shared: HTMLInputElement
  sheets: HTMLElement
  shoot: HTMLButtonElement
  skip: HTMLButtonElement
  sizes: HTMLTableSectionElement
  'sizes-title': HTMLHeadingElement
  'sort-answer': HTMLSpanElement
  'sort-formula': HTMLDivElement
  'sort-heads': HTMLDivElement
  'sort-letters': HTMLInputElement
  'sort-map': HTMLDivElement
  'sort-maps': HTMLDivElement
  'sort-next': HTMLParagraphElement
  'sort-other': HTMLButtonElement
  'sort-result': HTMLDivElement
  'sort-right': HTMLSpanElement
  'sort-said': HTMLParagraphElement
  'sort-written': HTMLParagraphElement
  sorting: HTMLElement
  'sorting-title': HTMLHeadingElement
  spoken: HTMLParagraphElement
  stage: HTMLElement
  'stage-table': HTMLButtonElement
  'stage-title': HTMLHeadingElement
  stale: HTMLButtonElement
  start: HTMLButtonElement
  status: HTMLParagraphElement
  stop: HTMLButtonElement
  story: HTMLElement
  'story-figure': HTMLElement
  'story-numbers': HTMLDivElement
  'story-picture': SVGSVGElement
  'story-said': HTMLElement
  'story-temperature': HTMLInputElement
  'story-title': HTMLHeadingElement
  strength: HTMLInputElement
  swap: HTMLInputElement
  tabs: HTMLDivElement
  temperature: HTMLInputElement
  'temperature-said': HTMLOutputElement
  language: HTMLSelectElement
  theme: HTMLButtonElement
  threads: HTMLButtonElement
  'threads-title': HTMLHeadingElement
  ticks: HTMLDivElement
  times: HTMLTableSectionElement
  tk: HTMLInputElement
  'token-said': HTMLSpanElement
  tokens: HTMLInputElement
  took: HTMLElement
  'tour-again': HTMLButtonElement
  'tour-at': HTMLSpanElement
  'tour-back': HTMLButtonElement
  'tour-end': HTMLButtonElement
  'tour-next': HTMLButtonElement
  'tour-start': HTMLButtonElement
  'tour-text': HTMLParagraphElement
  'tour-title': HTMLHeadingElement
  tq: HTMLInputElement
  value: HTMLDivElement
  video: HTMLVideoElement
  view: HTMLSelectElement | HTMLDivElement
  'view-table': HTMLButtonElement
  weights: HTMLDivElement
  'weights-formula': HTMLDivElement
  'weights-title': HTMLHeadingElement
  window: HTMLInputElement
  zoom: HTMLElement
  'zoom-answer': HTMLParagraphElement
  'zoom-back': HTMLButtonElement
  'zoom-close': HTMLButtonElement
  'zoom-drawing': SVGSVGElement
  'zoom-first': HTMLImageElement
  'zoom-heads': HTMLCanvasElement
  'zoom-in': HTMLButtonElement
  'zoom-inset': HTMLCanvasElement
  'zoom-measure': HTMLButtonElement
  'zoom-next': HTMLButtonElement
  'zoom-own-model': HTMLButtonElement
  'zoom-own-photo': HTMLButtonElement
  'zoom-picture': HTMLCanvasElement
  'zoom-root': SVGGElement
  'zoom-said': HTMLDivElement
  'zoom-scene': HTMLDivElement
  'zoom-sentence': HTMLParagraphElement
  'zoom-stop': HTMLHeadingElement
  'zoom-stops': HTMLElement
  'zoom-view': HTMLButtonElement
  'zoom-title': HTMLHeadingElement
}

/* A script looks for what its own page's markup, or what it has just written, holds. Where that may
 * be missing it says so with "?.". */
/* Of an id that is put together, or of another page: an element of no special kind. */
type ElementOf<Id extends string> = Id extends keyof PageElements ? PageElements[Id] : HTMLElement
interface Document {
  getElementById<Id extends string>(id: Id): ElementOf<Id>
}
interface ParentNode {
  querySelector<Id extends keyof PageElements>(selector: `#${Id}`): PageElements[Id]
  querySelector<Tag extends keyof HTMLElementTagNameMap>(selector: Tag): HTMLElementTagNameMap[Tag]
  querySelector<Tag extends keyof SVGElementTagNameMap>(selector: Tag): SVGElementTagNameMap[Tag]
  querySelector<E extends HTMLElement = HTMLElement>(selector: string): E
  querySelectorAll<E extends HTMLElement = HTMLElement>(selector: string): NodeListOf<E>
}

/* Controls without children: their events are their own. */
type OwnEvents<Control> = (
  type: 'change' | 'input',
  listener: (event: Event & { target: Control }) => unknown,
  options?: AddEventListenerOptions
) => void
interface HTMLSelectElement {
  addEventListener(...listen: Parameters<OwnEvents<HTMLSelectElement>>): void
}
interface HTMLInputElement {
  addEventListener(...listen: Parameters<OwnEvents<HTMLInputElement>>): void
}
interface HTMLTextAreaElement {
  addEventListener(...listen: Parameters<OwnEvents<HTMLTextAreaElement>>): void
}

/* What is written into the document becomes text by itself. */
interface Element {
  setAttribute(name: string, value: string | number | boolean): void
}
interface CSSStyleDeclaration {
  setProperty(name: string, value: string | number | null, priority?: string): void
}

/* A script knows what surrounds its elements in its page's markup; SVG is looked up by a
 * selector. */
interface HTMLElement {
  readonly children: HTMLCollectionOf<HTMLElement>
  readonly firstElementChild: HTMLElement | null
  readonly lastElementChild: HTMLElement
  readonly nextElementSibling: HTMLElement
  closest<Tag extends keyof HTMLElementTagNameMap>(selector: Tag): HTMLElementTagNameMap[Tag]
  closest<E extends HTMLElement = HTMLElement>(selector: string): E
}
