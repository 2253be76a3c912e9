/* Models by address, and those that are kept: shown below the buttons that open files. Loaded when
 * asked for, or when one is kept. */
import { download, keptModels, lookAt, megabytes, remove } from './model_cache.js'
import { showProgress } from '../controls/status.js'
import { laterStyles } from '../later_styles.js'
import { isOtherMakers } from './weight_files.js'
/** @import {KeptModel} from './model_cache.js' */
/** @import {ListedModel, Page} from '../../../types/pages.js' */
/** @import {ModelInfo} from '../../../src/index.js' */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {object} [properties]
 * @param {...(Node | string)} children
 */
const made = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}
/**
 * @param {string} textContent
 * @param {() => unknown} act
 * @param {string} [label]
 */
const button = (textContent, act, label) => {
  const element = made('button', { type: 'button', textContent })
  if (label) element.ariaLabel = label
  element.addEventListener('click', act)
  return element
}
/**
 * The last two parts of an address, which tell models apart.
 * @param {string} address
 */
const shortName = (address) =>
  new URL(address).pathname.split('/').filter(Boolean).slice(-2).join('/')

/**
 * @typedef {object} LibraryPage
 * @property {(files: Record<string, Blob>, name: string) => Promise<unknown>} open
 * @property {(error: unknown) => void} showError
 */

/**
 * The models that this browser keeps, to be opened or removed: { list, show }.
 * @param {LibraryPage} page
 */
function keptList({ open, showError }) {
  const list = made('ul', { className: 'kept' })
  async function show() {
    const models = await keptModels()
    list.replaceChildren(
      ...models.map(({ address, size, files }) => {
        const name = shortName(address)
        return made(
          'li',
          { title: address },
          made('span', { textContent: `${name}, kept: ${megabytes(size)}` }),
          button('Open', () => open(files, name), `Open ${name}`),
          button(
            'Remove',
            () => remove(address).then(show).catch(showError),
            `Remove ${name} from this browser`
          )
        )
      })
    )
  }
  return { list, show }
}

/**
 * A model that was looked at: its files with their sizes, then the download: { found, show }.
 * @param {LibraryPage} page
 * @param {() => Promise<void>} showKept
 */
function foundModel({ open, showError }, showKept) {
  const found = made('div')
  /** @type {AbortController | null} */
  let under = null

  /** @param {ListedModel} model */
  async function fetchModel(model) {
    under = new AbortController()
    found.replaceChildren(
      made(
        'p',
        { className: 'row' },
        'Downloading …',
        button('Cancel', () => /** @type {AbortController} */ (under).abort())
      )
    )
    try {
      await download(model, showProgress, under.signal)
      found.replaceChildren()
      await showKept()
      const { files } = /** @type {KeptModel} */ (
        (await keptModels()).find(({ address }) => address === model.address)
      )
      await open(files, shortName(model.address))
    } catch (error) {
      found.replaceChildren()
      if (!under.signal.aborted) showError(error)
    } finally {
      showProgress(null)
    }
  }

  /** @param {ListedModel} model */
  function show(model) {
    const lines = model.files.map(({ name, size }) =>
      made('li', { textContent: `${name}: ${size ? megabytes(size) : 'size not told'}` })
    )
    found.replaceChildren(
      made('ul', { className: 'kept' }, ...lines),
      made(
        'p',
        { className: 'row' },
        button(model.size ? `Download ${megabytes(model.size)}` : 'Download', () =>
          fetchModel(model)
        ),
        button('Not now', () => found.replaceChildren())
      )
    )
    found.querySelector('button').focus()
  }
  return { found, show }
}

/**
 * open(files, name) is called with the files of a model.
 * @param {HTMLElement} host
 * @param {LibraryPage} page
 */
function createLibrary(host, page) {
  const { showError } = page
  const input = made('input', {
    type: 'text',
    inputMode: 'url',
    placeholder: 'folder, .safetensors, .onnx or .pth',
    ariaLabel: 'Address of a model’s folder or weights',
    autocomplete: 'off',
    spellcheck: false
  })
  const form = made('form', { className: 'row' }, input, made('button', { textContent: 'Look' })),
    kept = keptList(page),
    { found, show } = foundModel(page, kept.show)

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    found.replaceChildren()
    const address = input.value.trim(),
      name = /** @type {string} */ (address.split(/[?#]/)[0].split('/').pop())
    if (isOtherMakers(name))
      page.open({ [name]: new Blob([new Uint8Array(16)]) }, name) // refused by its name alone
    else lookAt(address).then(show).catch(showError)
  })
  host.replaceChildren(
    form,
    made('p', {
      className: 'hint',
      textContent:
        'Enter an address of this server, or of a server that its policy allows. With #sha256=… at the end, weights with another hash are rejected. Sizes are shown first.'
    }),
    found,
    kept.list
  )
  kept.show().catch(showError)
  return { focus: () => input.focus() }
}

/** @type {ReturnType<typeof createLibrary> | null} */
let library = null

/**
 * Shows them, once for the page: { focus }.
 * @param {Page} page
 */
export async function openLibrary(page) {
  await laterStyles()
  library ??= createLibrary(document.getElementById('library'), {
    showError: page.showError,
    open: async (files, name) => {
      if (await page.openModel(files, name)) document.getElementById('demo-model').hidden = false
    }
  })
  return library
}
