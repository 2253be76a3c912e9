/* What can be opened beside files: models that the server offers, models by address, and what is
 * kept on this machine. Shown below the menu Open; loaded with it, or when something is kept. */
import { element, made } from '../../shared/elements.js'
import '../controls/opened_advice.js'
import { download, lookAt, megabytes } from './model_cache.js'
import { keptThings, refused, remove } from './kept_store.js'
import { readOffers } from './offered_models.js'
import { isOwnPicture, keepModel, keepPicture, openKept, ownModel } from './own_things.js'
import { showProgress, showStatus } from '../controls/status.js'
import { laterStyles } from '../later_styles.js'
import { isOtherMakers } from '../../heed/weight_files.js'
import { say } from '../../languages/say.js'
import type { KeptThing, ListedModel, Page } from '../types.js'
import type { Offer } from './offered_models.js'

const button = (textContent: string, act: () => unknown, label?: string) => {
  const element = made('button', { type: 'button', textContent })
  if (label) element.ariaLabel = label
  element.addEventListener('click', act)
  return element
}
/** The last two parts of an address, which tell models apart. */
const shortName = (address: string) =>
  new URL(address).pathname.split('/').filter(Boolean).slice(-2).join('/')

/** What is kept, to be opened or removed: { list, show }; show resolves to the keys of it. */
function keptList(page: Page) {
  const list = made('ul', { className: 'kept' })
  const line = (thing: KeptThing) => {
    const { key, kind, size } = thing,
      name = thing.name || shortName(key)
    return made(
      'li',
      { title: kind === 'model' && !key.startsWith('own:') ? key : '' },
      made('span', { textContent: say('library.kept', { name, size: megabytes(size) }) }),
      button(
        say('library.open'),
        () => openKept(page, { ...thing, name }).catch(page.showError),
        say('library.open2', { name })
      ),
      button(
        say('pinList.remove'),
        () => remove(key).then(show).catch(page.showError),
        say('library.removeFromBrowser', { name })
      )
    )
  }
  async function show() {
    const things = await keptThings()
    list.replaceChildren(...things.map(line))
    list.dispatchEvent(new Event('change'))
    return things
  }
  return { list, show }
}

/** A model that was looked at: its files with their sizes, then the download:
 * { found, show, fetchModel }. */
function foundModel(page: Page, showKept: () => Promise<KeptThing[]>) {
  const found = made('div')

  async function fetchModel(model: ListedModel) {
    const stop = new AbortController()
    found.replaceChildren(
      made(
        'p',
        { className: 'row' },
        say('library.downloading'),
        button(say('library.cancel'), () => stop.abort())
      )
    )
    try {
      await download(model, showProgress, stop.signal)
      found.replaceChildren()
      const thing = (await showKept()).find(({ key }) => key === model.address)
      if (thing) await openKept(page, { ...thing, name: model.name ?? shortName(model.address) })
    } catch (error) {
      found.replaceChildren()
      if (!stop.signal.aborted) page.showError(error)
    } finally {
      showProgress(null)
    }
  }

  function show(model: ListedModel) {
    const lines = model.files.map(({ name, size }) =>
      made('li', { textContent: `${name}: ${size ? megabytes(size) : say('library.sizeNotTold')}` })
    )
    found.replaceChildren(
      made('ul', { className: 'kept' }, ...lines),
      made(
        'p',
        { className: 'row' },
        button(
          model.size
            ? say('library.download', { size: megabytes(model.size) })
            : say('library.download2'),
          () => fetchModel(model)
        ),
        button(say('library.notNow'), () => found.replaceChildren())
      )
    )
    found.querySelector('button').focus()
  }
  return { found, show, fetchModel }
}

/**
 * What the server offers, each with its licence and size before anything of it is fetched.
 * @param kept keys: they are listed there
 */
function offerLines(offers: Offer[], fetchModel: (model: ListedModel) => unknown, kept: string[]) {
  const left = offers.filter(({ listed }) => !kept.includes(listed.address))
  if (!left.length) return []
  const lines = left.map(({ name, licence, trained, listed }) =>
    made(
      'li',
      {
        title: listed.files.map((file) => `${file.sha256}  ${file.name}`).join('\n')
      },
      made('span', {
        textContent: `${name}. Licence: ${licence}.${trained ? say('library.trained', { trained }) : ''}`
      }),
      button(
        say('library.download', { size: megabytes(listed.size) }),
        () => fetchModel(listed),
        say('library.download3', { name, size: megabytes(listed.size) })
      )
    )
  )
  return [
    made('p', { className: 'strong', textContent: say('library.modelsServer') }),
    made('ul', { className: 'kept' }, ...lines)
  ]
}

/** Buttons that keep what is shown, where it is one's own. */
function keepButtons(page: Page, showKept: () => Promise<unknown>) {
  const place = made('div')
  const keep = (name: string, act: () => Promise<boolean>) => async () => {
    try {
      const stays = await act()
      showStatus(
        stays
          ? say('library.keptMachine', { name })
          : say('library.keptMachineButBrowser', { name })
      )
      await showKept()
      show()
    } catch (error) {
      page.showError(error)
    }
  }
  function show() {
    const model = element('model-name').textContent,
      buttons = []
    if (isOwnPicture(page))
      buttons.push(
        button(
          say('library.keepPicture'),
          keep(page.picture.name, () => keepPicture(page))
        )
      )
    if (ownModel(page).length)
      buttons.push(
        button(
          say('library.keepModel'),
          keep(model, () => keepModel(page, model))
        )
      )
    place.replaceChildren(
      ...(buttons.length
        ? [
            made('p', { className: 'row' }, ...buttons),
            made('p', {
              className: 'hint',
              textContent: say('library.keptMachineAloneUntil')
            })
          ]
        : [])
    )
  }
  page.store.on(['ran'], show)
  show()
  return place
}

/** The form for an address, hidden until it is asked for. */
function addressForm(page: Page, { found, show }: ReturnType<typeof foundModel>) {
  const input = made('input', {
    type: 'text',
    inputMode: 'url',
    placeholder: say('library.folderSafetensorsOnnxPth'),
    ariaLabel: say('library.addressModelsFolderWeights'),
    autocomplete: 'off',
    spellcheck: false
  })
  const form = made(
    'form',
    { className: 'row' },
    input,
    made('button', { textContent: say('library.look') })
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    found.replaceChildren()
    const address = input.value.trim(),
      name = address.split(/[?#]/)[0].split('/').pop() as string
    if (isOtherMakers(name))
      page.openModel({ [name]: new Blob([new Uint8Array(16)]) }, name) // refused by its name alone
    else lookAt(address).then(show).catch(page.showError)
  })
  const place = made(
    'div',
    { hidden: true },
    form,
    made('p', {
      className: 'hint',
      textContent: say('library.enterAddressServerServer')
    })
  )
  return {
    place,
    focus() {
      place.hidden = false
      input.focus()
    }
  }
}

async function createLibrary(host: HTMLElement, page: Page) {
  const kept = keptList(page),
    model = foundModel(page, kept.show),
    { place, focus } = addressForm(page, model),
    offered = made('div')
  host.replaceChildren(place, model.found, offered, kept.list, keepButtons(page, kept.show))
  const [offers] = await Promise.all([
    readOffers().catch((error) => {
      page.showError(error)
      return []
    }),
    kept.show().catch(() => showStatus(refused))
  ])
  const showOffers = async () => {
    const things = await keptThings().catch(() => [])
    offered.replaceChildren(
      ...offerLines(
        offers,
        model.fetchModel,
        things.map(({ key }) => key)
      )
    )
  }
  kept.list.addEventListener('change', showOffers)
  await showOffers()
  return { focus }
}

let library: ReturnType<typeof createLibrary> | null = null

/** Shows it, once for the page: { focus }. */
export async function openLibrary(page: Page) {
  await laterStyles()
  return (library ??= createLibrary(element('library'), page))
}
