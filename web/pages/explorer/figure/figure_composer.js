/* The composer: a dialog that puts a figure for print together and saves it. Panels are computed
 * when they are first asked for. A figure from a file has its own numbers and asks the page for
 * nothing but colours. */
import { laterStyles } from '../later_styles.js'
import { download } from '../save/download_file.js'
import { fileName } from '../save/file_names.js'
import { pngOfSvg } from '../save/svg_raster.js'
import { fromHash, longestSettings } from '../state/address.js'
import { figureOf, figurePart, whyNot } from './figure_content.js'
import { readFigure, writeFigure } from './figure_file.js'
import { chosenHeads, fonts, layoutFigure, panels, shownPanels, widths } from './figure_layout.js'
import { withTexts } from './figure_png.js'
import { descriptionOf, figureSvg, pngTexts } from './figure_svg.js'
import { say } from '../../languages/say.js'
/** @import {Field, Figure, FigureLayout, FigureLook, FigurePanel, Page} from '../../../types/pages.js' */

/** @type {FigureLook} */
const usual = {
  panels: ['picture', 'map', 'heads'],
  width: widths.usual[0],
  font: 'sans',
  dark: false,
  letters: true,
  heads: 'all'
}
const resolutions = [150, 300, 600],
  longestSide = 16384 // pixels of a canvas

const options = (/** @type {[value: string | number, text: string][]} */ all) =>
  all.map(([value, text]) => `<option value="${value}">${text}</option>`).join('')

const markup = `<h2 id="figure-heading">${say('composer.title')}</h2>
  <form class="composer" novalidate>
    <div class="composer-fields">
      <fieldset><legend>${say('composer.panels')}</legend>${Object.entries(panels)
        .map(
          ([name, text]) =>
            `<div class="panel-line"><label class="check"><input type="checkbox" name="panel" value="${name}"> ${text}</label><button type="button" name="earlier" aria-label="${say('composer.earlierOf', { panel: text })}" title="${say('composer.earlier')}">↑</button><p class="hint" hidden></p></div>`
        )
        .join('')}</fieldset>
      <label>${say('view.heads')} <input name="heads" maxlength="400" spellcheck="false" autocomplete="off" aria-describedby="figure-heads-hint"></label>
      <p class="hint" id="figure-heads-hint">${say('composer.headsHint')}</p>
      <div class="fields">
        <label>${say('composer.width')} <input type="number" name="width" min="${widths.least}" max="${widths.most}" step="1" list="figure-widths"></label>
        <datalist id="figure-widths">${options(widths.usual.map((width) => [width, String(width)]))}</datalist>
        <label>${say('composer.font')} <select name="font">${options(Object.entries(fonts).map(([name, [text]]) => [name, text]))}</select></label>
        <label>${say('composer.ground')} <select name="dark">${options([
          ['', say('composer.light')],
          ['1', say('composer.dark')]
        ])}</select></label>
        <label>PNG <select name="dpi">${options(resolutions.map((dpi) => [dpi, `${dpi} DPI`]))}</select></label>
      </div>
      <label class="check"><input type="checkbox" name="letters"> ${say('composer.letters')}</label>
      <div class="even two">
        <button type="button" name="svg">${say('composer.saveSvg')}</button><button type="button" name="png">${say('composer.savePng')}</button>
        <button type="button" name="copy-svg">${say('composer.copySvg')}</button><button type="button" name="copy-png">${say('composer.copyPng')}</button>
        <button type="button" name="print">${say('composer.print')}</button><button type="button" name="caption">${say('composer.copyCaption')}</button>
        <button type="button" name="json">${say('composer.saveJson')}</button><button type="button" name="close">${say('dialog.close')}</button>
      </div>
      <p class="hint">${say('composer.jsonHint')}</p>
    </div>
    <figure><img alt=""><figcaption class="hint"></figcaption></figure>
  </form>
  <p class="strong" role="status"></p>`

class Composer {
  /** @type {Omit<Figure, 'look'>} */
  #base
  /** What of it can be asked of the page; null: it is from a file. */
  #page
  /** @type {Page} for colours and errors */
  #colours
  /** @type {FigureLook} */
  #look
  #turn = 0
  /** @type {{figure: Figure, layout: FigureLayout, svg: string} | null} */
  #shown = null

  /**
   * @param {Page} page
   * @param {Omit<Figure, 'look'>} base
   * @param {FigureLook | null} look of a file
   */
  constructor(page, base, look) {
    this.#base = base
    this.#page = look ? null : page
    this.#colours = page
    this.#look = { ...(look ?? usual) }
    this.dialog = document.body.appendChild(
      Object.assign(document.createElement('dialog'), { id: 'figure', innerHTML: markup })
    )
    this.dialog.setAttribute('aria-labelledby', 'figure-heading')
    this.status = /** @type {HTMLElement} */ (this.dialog.querySelector('[role=status]'))
    this.#connect()
  }

  /** @param {string} name */
  #field(name) {
    return /** @type {Field} */ (this.dialog.querySelector(`[name=${name}]`))
  }
  get #boxes() {
    return /** @type {NodeListOf<HTMLInputElement>} */ (
      this.dialog.querySelectorAll('[name=panel]')
    )
  }

  /** @param {HTMLElement} inside */
  #lineOf(inside) {
    return /** @type {HTMLElement} */ (inside.closest('.panel-line'))
  }

  /* Panels stand in the order of their lines: first that of the look, then a press of ↑ by another. */
  #order() {
    const place = (/** @type {HTMLInputElement} */ { value }) => {
      const at = this.#look.panels.indexOf(/** @type {FigurePanel} */ (value))
      return at < 0 ? this.#look.panels.length : at
    }
    const boxes = [...this.#boxes].sort((a, b) => place(a) - place(b)),
      host = /** @type {HTMLElement} */ (this.#lineOf(boxes[0]).parentElement)
    host.append(...boxes.map((box) => this.#lineOf(box)))
    host.addEventListener('click', ({ target }) => {
      const button = /** @type {HTMLButtonElement} */ (target),
        line = button.name === 'earlier' ? this.#lineOf(button) : null,
        before = line?.previousElementSibling
      if (!line || !before?.matches('.panel-line')) return
      before.before(line)
      button.focus()
      this.draw()
    })
  }

  #connect() {
    const { heads, width, font, dark, letters } = this.#look
    this.#field('heads').value = heads
    this.#field('width').value = String(width)
    this.#field('font').value = font
    this.#field('dark').value = dark ? '1' : ''
    this.#field('dpi').value = '300'
    this.#field('letters').checked = letters
    for (const box of this.#boxes) {
      const name = /** @type {FigurePanel} */ (box.value),
        why = this.#whyNot(name)
      box.checked = !why && this.#look.panels.includes(name)
      box.disabled = why !== ''
      const said = /** @type {HTMLElement} */ (this.#lineOf(box).lastElementChild)
      said.hidden = !why
      said.textContent = why
    }
    this.#order()
    const form = /** @type {HTMLFormElement} */ (this.dialog.querySelector('form'))
    form.addEventListener('input', () => this.draw())
    form.addEventListener('submit', (event) => event.preventDefault())
    /** @type {Record<string, () => unknown>} */
    const actions = {
      svg: () => this.#save(this.#now.svg, 'svg', 'image/svg+xml'),
      png: async () => this.#save(await this.#png(), 'png', 'image/png'),
      json: () => this.#save(writeFigure(this.#now.figure), 'json', 'application/json'),
      'copy-svg': () => this.#copy(navigator.clipboard.writeText(this.#now.svg), 'SVG'),
      'copy-png': () =>
        this.#copy(
          navigator.clipboard.write([
            new ClipboardItem({
              'image/png': this.#png().then((bytes) => new Blob([bytes], { type: 'image/png' }))
            })
          ]),
          'PNG'
        ),
      caption: () =>
        this.#copy(
          navigator.clipboard.writeText(descriptionOf(this.#now.figure)),
          say('composer.caption')
        ),
      print: () => this.#print(),
      close: () => this.dialog.close()
    }
    for (const [name, act] of Object.entries(actions))
      this.#field(name).addEventListener('click', async () => {
        try {
          await act()
        } catch (error) {
          this.#say(/** @type {Error} */ (error).message)
        }
      })
    this.dialog.addEventListener('close', () => {
      this.#forget()
      this.dialog.remove()
    })
  }

  /** @param {FigurePanel} name */
  #whyNot(name) {
    if (this.#page) return whyNot[name](this.#page)
    return this.#base.parts[name] ? '' : say('composer.noPanel')
  }

  get #now() {
    if (!this.#shown) throw new Error(say('composer.noFigure'))
    return this.#shown
  }

  /** @param {string} text */
  #say(text) {
    this.status.textContent = text
  }

  /** The address of the picture that is shown is given back. */
  #forget() {
    const image = /** @type {HTMLImageElement} */ (this.dialog.querySelector('img'))
    if (image.src) URL.revokeObjectURL(image.src)
  }

  /** What the fields say; throws what cannot be a figure. */
  #lookNow() {
    const width = this.#field('width').valueAsNumber
    if (!(width >= widths.least && width <= widths.most))
      throw new Error(
        say('composer.widthWrong', {
          found: this.#field('width').value || say('composer.noNumber'),
          least: widths.least,
          most: widths.most
        })
      )
    return {
      panels: /** @type {FigurePanel[]} */ (
        [...this.#boxes].filter(({ checked }) => checked).map(({ value }) => value)
      ),
      width,
      font: /** @type {FigureLook['font']} */ (this.#field('font').value),
      dark: this.#field('dark').value === '1',
      letters: this.#field('letters').checked,
      heads: this.#field('heads').value
    }
  }

  /** Draws what the fields say; the picture before stays until then. */
  async draw() {
    const mine = ++this.#turn
    try {
      const look = this.#lookNow()
      if (!look.panels.length) throw new Error(say('composer.noneChosen'))
      for (const name of look.panels)
        if (this.#page && !this.#base.parts[name])
          /** @type {any} */ (this.#base.parts)[name] = await figurePart(this.#page, name)
      if (mine !== this.#turn) return
      const figure = this.#figure(look),
        table = this.#colours.engine.colours(
          fromHash(figure.from.settings, longestSettings).colours
        ),
        layout = layoutFigure(figure, { table }),
        svg = await figureSvg(figure, layout)
      if (mine !== this.#turn) return
      this.#shown = { figure, layout, svg }
      this.#showPicture()
    } catch (error) {
      if (mine === this.#turn) this.#say(/** @type {Error} */ (error).message)
    }
  }

  /**
   * The figure with the parts and heads that are shown, and no other.
   * @param {FigureLook} look
   * @returns {Figure}
   */
  #figure(look) {
    const { parts } = this.#base,
      shown = Object.fromEntries(
        look.panels.filter((name) => parts[name]).map((name) => [name, parts[name]])
      ),
      { heads } = parts
    return {
      look,
      ...this.#base,
      parts: {
        ...shown,
        picture: parts.picture,
        ...(heads && look.panels.includes('heads')
          ? { heads: { ...heads, maps: chosenHeads(look.heads, heads.maps) } }
          : {})
      }
    }
  }

  #showPicture() {
    const { figure, layout, svg } = this.#now,
      image = /** @type {HTMLImageElement} */ (this.dialog.querySelector('img'))
    this.#forget()
    image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
    image.alt = `${figure.from.picture}: ${shownPanels(figure)
      .map((name) => panels[name].toLowerCase())
      .join(', ')}`
    const { width, height } = this.#pixels,
      said = /** @type {HTMLElement} */ (this.dialog.querySelector('figcaption'))
    said.textContent = say('composer.size', {
      width: figure.look.width,
      height: Math.round((layout.height / 72) * 25.4),
      across: width,
      down: height,
      name: this.#name
    })
    this.#say('')
  }

  get #name() {
    const { figure } = this.#now,
      panels = shownPanels(figure),
      state = fromHash(figure.from.settings, longestSettings),
      rollout = panels.every((name) => ['picture', 'rollout'].includes(name)),
      pooled = state.layer === 'pool' && !rollout
    return fileName({
      picture: figure.from.picture,
      what: panels.join('-'),
      at: {
        ...state,
        rollout: rollout && panels.includes('rollout'),
        query: pooled ? null : state.query,
        last: state.last < 0 ? figure.from.layers - 1 : state.last
      }
    })
  }

  get #pixels() {
    const dpi = Number(this.#field('dpi').value),
      { width, height } = this.#now.layout,
      pixels = (/** @type {number} */ points) => Math.round((points / 72) * dpi)
    return { dpi, width: pixels(width), height: pixels(height) }
  }

  async #png() {
    const { figure, layout } = this.#now,
      { dpi, ...size } = this.#pixels
    if (Math.max(size.width, size.height) > longestSide)
      throw new Error(
        say('composer.tooLarge', { width: size.width, height: size.height, side: longestSide })
      )
    const blob = await pngOfSvg(await figureSvg(figure, layout, size), () => size)
    return withTexts(new Uint8Array(await blob.arrayBuffer()), {
      dpi,
      texts: pngTexts(figure)
    })
  }

  /**
   * @param {BlobPart} content
   * @param {string} ending
   * @param {string} type
   */
  #save(content, ending, type) {
    const name = `${this.#name}.${ending}`
    download(new Blob([content], { type }), name)
    this.#say(say('composer.saved', { name }))
  }

  /**
   * @param {Promise<void>} done
   * @param {string} what
   */
  async #copy(done, what) {
    await done
    this.#say(say('composer.copied', { what }))
  }

  /* The print has the figure alone, on a page of its size: text stays text in the PDF. */
  #print() {
    const { svg, layout } = this.#now,
      root = document.documentElement,
      sheet = new CSSStyleSheet(),
      place = document.body.appendChild(
        Object.assign(document.createElement('div'), { id: 'figure-print' })
      )
    place.append(
      document.importNode(
        new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement,
        true
      )
    )
    sheet.replaceSync(`@page { size: ${layout.width}pt ${layout.height + 1}pt; margin: 0 }`)
    document.adoptedStyleSheets.push(sheet)
    root.classList.add('prints-figure')
    addEventListener(
      'afterprint',
      () => {
        place.remove()
        root.classList.remove('prints-figure')
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet)
      },
      { once: true }
    )
    window.print()
  }
}

/**
 * @param {Page} page
 * @param {Omit<Figure, 'look'>} base
 * @param {FigureLook | null} look
 */
async function show(page, base, look) {
  await laterStyles()
  document.getElementById('figure')?.remove()
  const composer = new Composer(page, base, look)
  composer.dialog.showModal()
  await composer.draw()
}

/**
 * A figure of what the page shows.
 * @param {Page} page
 */
export const openComposer = async (page) => show(page, await figureOf(page), null)

/**
 * A figure that was saved as JSON.
 * @param {Page} page
 * @param {File} file
 */
export async function openFigure(page, file) {
  const { look, ...base } = readFigure(await file.text(), file.name)
  await show(page, base, look)
}
