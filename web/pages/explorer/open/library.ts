/* What can be opened beside files: models and pictures that the server offers, models by address, and what is
 * kept on this machine. Shown in the menu Open; loaded with it, or when something is kept. */
import { html, nothing } from 'lit-html'
import { element } from '../../shared/elements.js'
import '../controls/opened_advice.js'
import { download, lookAt, megabytes } from './model_cache.js'
import { keptThings, refused, remove } from './kept_store.js'
import { readOffers } from './offered_models.js'
import { isOwnPicture, keepModel, keepPicture, openKept, ownModel } from './own_things.js'
import { showProgress, showStatus } from '../controls/status.js'
import { laterStyles } from '../later_styles.js'
import { fill } from '../../shared/fill.js'
import { hubAddress, isHubName } from '../../heed/hub.js'
import { isOtherMakers } from '../../heed/weight_files.js'
import { say } from '../../languages/say.js'
import type { KeptThing, ListedModel, Page } from '../types.js'
import type { Offer } from './offered_models.js'

const button = (text: string, act: () => unknown, label?: string) =>
  html`<button type="button" aria-label=${label ?? nothing} @click=${act}>${text}</button>`

/** The last two parts of an address, which tell models apart. */
const shortName = (address: string) =>
  new URL(address).pathname.split('/').filter(Boolean).slice(-2).join('/')

class Library {
  #host
  #page
  #offers: Offer[] = []
  #kept: KeptThing[] = []
  #found: unknown = nothing // a model that was looked at: its files, then its download
  #asked = false // whether for an address

  constructor(host: HTMLElement, page: Page) {
    this.#host = host
    this.#page = page
    page.store.on(['ran'], () => this.#draw())
  }

  async open() {
    this.#draw()
    const [offers] = await Promise.all([
      readOffers().catch((error) => {
        this.#page.showError(error)
        return []
      }),
      this.#readKept().catch(() => showStatus(refused))
    ])
    this.#offers = offers
    this.#draw()
    return this
  }

  /** On the form for an address, hidden until it is asked for. */
  focus() {
    this.#asked = true
    this.#draw()
    this.#host.querySelector('input').focus()
  }

  #draw() {
    fill(
      this.#host,
      html`<div ?hidden=${!this.#asked}><form class="row" @submit=${this.#lookAtAddress}><input type="text" inputmode="url" placeholder=${say('library.folderSafetensorsOnnxPth')} aria-label=${say('library.addressModelsFolderWeights')} autocomplete="off" spellcheck="false"><button>${say('library.look')}</button>${button(say('library.hub'), this.#writeHub)}</form><p class="hint">${say('library.enterAddressServerServer')}</p></div><div>${this.#found}</div><div>${this.#offered()}</div><ul class="kept">${this.#kept.map(this.#keptLine)}</ul><div>${this.#keepButtons()}</div>`
    )
  }

  async #readKept() {
    this.#kept = await keptThings()
    this.#draw()
  }

  /** What is kept, to be opened or removed. */
  #keptLine = (thing: KeptThing) => {
    const { key, kind, size, unfinished } = thing,
      name = thing.name || shortName(key),
      goOn = () => this.#fetchModel(unfinished as ListedModel),
      open = () => {
        element('open').hidePopover()
        return openKept(this.#page, { ...thing, name }).catch(this.#page.showError)
      }
    const drop = () =>
      remove(key)
        .then(() => this.#readKept())
        .catch(this.#page.showError)
    return html`<li title=${kind === 'model' && !key.startsWith('own:') ? key : ''}><span>${unfinished ? say('library.unfinished', { name, done: megabytes(size), total: megabytes(unfinished.size) }) : say('library.kept', { name, size: megabytes(size) })}</span>${unfinished ? button(say('library.goOn'), goOn, say('library.goOn2', { name })) : button(say('library.open'), open, say('library.open2', { name }))}${button(say('pinList.remove'), drop, say('library.removeFromBrowser', { name }))}</li>`
  }

  /** Writes the address of owner/name on Hugging Face's hub into the field; asks for nothing. */
  #writeHub = () => {
    const field = this.#host.querySelector('input'),
      name = field.value.trim()
    if (!isHubName(name)) return this.#page.showError(new Error(say('library.noHubName', { name })))
    field.value = hubAddress(name).href
    field.focus()
  }

  #lookAtAddress = (event: SubmitEvent) => {
    event.preventDefault()
    this.#showFound(nothing)
    const address = this.#host.querySelector('input').value.trim(),
      name = address.split(/[?#]/)[0].split('/').pop() as string
    if (isOtherMakers(name))
      this.#page.openModel({ [name]: new Blob([new Uint8Array(16)]) }, name) // refused by its name alone
    else lookAt(address).then(this.#showModel).catch(this.#page.showError)
  }

  #showFound(found: unknown) {
    this.#found = found
    this.#draw()
  }

  /** Its files with their sizes. */
  #showModel = (model: ListedModel) => {
    const lines = model.files.map(
      ({ name, size }) =>
        html`<li>${name}: ${size ? megabytes(size) : say('library.sizeNotTold')}</li>`
    )
    const text = model.size
      ? say('library.download', { size: megabytes(model.size) })
      : say('library.download2')
    this.#showFound(
      html`<ul class="kept">${lines}</ul><p class="row">${button(text, () => this.#fetchModel(model))}${button(say('library.notNow'), () => this.#showFound(nothing))}</p>`
    )
    this.#host.querySelector('.kept + .row button').focus()
  }

  async #fetchModel(model: ListedModel) {
    const stop = new AbortController()
    this.#showFound(
      html`<p class="row">${say('library.downloading')}${button(say('library.cancel'), () => stop.abort())}</p>`
    )
    try {
      await download(model, showProgress, stop.signal)
      this.#showFound(nothing)
      await this.#readKept()
      const thing = this.#kept.find(({ key }) => key === model.address)
      element('open').hidePopover()
      if (thing)
        await openKept(this.#page, { ...thing, name: model.name ?? shortName(model.address) })
    } catch (error) {
      this.#showFound(nothing)
      await this.#readKept().catch(() => {})
      if (!stop.signal.aborted) this.#page.showError(error)
    } finally {
      showProgress(null)
    }
  }

  /** What the server offers and is not kept, each with its licence and size before anything of it is
   * fetched. */
  #offered() {
    const left = this.#offers.filter(({ listed }) =>
        this.#kept.every(({ key }) => key !== listed.address)
      ),
      of = (kind: 'model' | 'picture') =>
        left.filter(({ listed }) => (listed.kind ?? 'model') === kind)
    return html`${this.#list(say('library.modelsServer'), of('model'))}${this.#list(say('library.picturesServer'), of('picture'))}`
  }

  #list(title: string, offers: Offer[]) {
    if (!offers.length) return nothing
    const lines = offers.map(({ name, licence, trained, listed }) => {
      const size = megabytes(listed.size)
      return html`<li title=${listed.files.map((file) => `${file.sha256}  ${file.name}`).join('\n')}><span>${name}. Licence: ${licence}.${trained ? say('library.trained', { trained }) : ''}</span>${button(say('library.download', { size }), () => this.#fetchModel(listed), say('library.download3', { name, size }))}</li>`
    })
    return html`<p class="strong">${title}</p><ul class="kept">${lines}</ul>`
  }

  /** Buttons that keep what is shown, where it is one's own. */
  #keepButtons() {
    const page = this.#page,
      model = element('model-name').textContent,
      picture = isOwnPicture(page)
    if (!picture && !ownModel(page).length) return nothing
    const keep = (text: string, name: string, act: () => Promise<boolean>) =>
      button(text, async () => {
        try {
          const stays = await act()
          showStatus(
            stays
              ? say('library.keptMachine', { name })
              : say('library.keptMachineButBrowser', { name })
          )
          await this.#readKept()
        } catch (error) {
          page.showError(error)
        }
      })
    return html`<p class="row">${picture ? keep(say('library.keepPicture'), page.picture.name, () => keepPicture(page)) : nothing}${ownModel(page).length ? keep(say('library.keepModel'), model, () => keepModel(page, model)) : nothing}</p><p class="hint">${say('library.keptMachineAloneUntil')}</p>`
  }
}

let library: Promise<Library> | null = null

/** Shows it, once for the page. */
export async function openLibrary(page: Page) {
  await laterStyles()
  return (library ??= new Library(element('library'), page).open())
}
