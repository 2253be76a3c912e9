/* The composer: a dialog that puts a figure for print together and saves it. Panels are computed
 * when they are first asked for. A figure from a file has its own numbers and asks the page for
 * nothing but colours. */
import { html, render } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import { element } from '../../shared/elements.js'
import { laterStyles } from '../later_styles.js'
import { download } from '../save/download_file.js'
import { fileName } from '../save/file_names.js'
import { pngOfSvg } from '../save/svg_raster.js'
import { fromHash, longestSettings } from '../state/address.js'
import { figureOf, figurePart, whyNot } from './figure_content.js'
import { readFigure, writeFigure } from './figure_file.js'
import { layoutFigure, titleIn } from './figure_layout.js'
import { chosenHeads, fonts, panels, sheet, shownPanels, widths } from './figure_parts.js'
import { withTexts } from './figure_png.js'
import { descriptionOf, figureSvg, pngTexts } from './figure_svg.js'
import { say } from '../../languages/say.js'
import type { Field, Of } from '../../shared/types.js'
import type { Figure, FigureLayout, FigureLook, FigurePanel, Page } from '../types.js'

const usual: FigureLook = {
  panels: ['picture', 'map', 'heads'],
  width: widths.usual[0],
  font: 'sans',
  dark: false,
  letters: true,
  heads: 'all',
  over: false
}
const resolutions = [150, 300, 600],
  longestSide = 16384 // pixels of a canvas

const options = (all: [value: string | number, text: string][], chosen?: string | number) =>
  all.map(
    ([value, text]) => html`<option value=${value} .selected=${value === chosen}>${text}</option>`
  )

class Composer {
  dialog = document.createElement('dialog')
  #base: Omit<Figure, 'look'>
  /** What of it can be asked of the page; null: it is from a file. */
  #page
  /** for colours and errors */
  #colours: Page
  /** that it begins with; fields have the one that is shown */
  #look: FigureLook
  #order: FigurePanel[]
  #turn = 0
  #shown: { figure: Figure; layout: FigureLayout; svg: string } | null = null
  #picture: unknown = html`<img alt=""><figcaption class="hint"></figcaption>`
  #said = ''

  /** @param look of a file */
  constructor(page: Page, base: Omit<Figure, 'look'>, look: FigureLook | null) {
    this.#base = base
    this.#page = look ? null : page
    this.#colours = page
    this.#look = look ?? usual
    this.#order = [...new Set([...this.#look.panels, ...(Object.keys(panels) as FigurePanel[])])]
    this.dialog.id = 'figure'
    this.dialog.setAttribute('aria-labelledby', 'figure-heading')
    this.dialog.addEventListener('close', () => {
      this.#forget()
      this.dialog.remove()
    })
    document.body.append(this.dialog)
    this.#render()
  }

  #field(name: string) {
    return this.dialog.querySelector(`[name=${name}]`) as Field
  }

  /* Panels stand in the order of their lines: first that of the look, then a press of ↑ by another. */
  #line = (name: FigurePanel, at: number) => {
    const text = panels[name],
      why = this.#whyNot(name)
    const earlier = ({ target }: Of<HTMLElement>) => {
      if (!at) return
      this.#order.splice(at - 1, 2, name, this.#order[at - 1])
      this.#render()
      target.focus()
      this.draw()
    }
    return html`<div class="panel-line"><label class="check"><input type="checkbox" name="panel" value=${name} ?disabled=${why} .checked=${!why && this.#look.panels.includes(name)}> ${text}</label><button type="button" name="earlier" aria-label=${say('composer.earlierOf', { panel: text })} title=${say('composer.earlier')} @click=${earlier}>↑</button><input name="title" data-panel=${name} maxlength="400" aria-label=${say('composer.titleOf', { panel: text })} placeholder=${this.#titleShown(name)} .value=${this.#look.titles?.[name] ?? ''} ?hidden=${why}><p class="hint" ?hidden=${!why}>${why}</p></div>`
  }

  /** The title that a panel has by itself; '' where it is not drawn yet. */
  #titleShown(name: FigurePanel) {
    const figure = this.#shown?.figure
    return figure?.parts[name]
      ? titleIn({ ...figure, look: { ...figure.look, titles: {} } }, name)
      : ''
  }

  #button(name: string, text: string, act: () => unknown) {
    return html`<button type="button" name=${name} @click=${async () => {
      try {
        await act()
      } catch (error) {
        this.#say((error as Error).message)
      }
    }}>${text}</button>`
  }

  #buttons() {
    const png = async () => new Blob([await this.#png()], { type: 'image/png' })
    return [
      this.#button('svg', say('composer.saveSvg'), () =>
        this.#save(this.#now.svg, 'svg', 'image/svg+xml')
      ),
      this.#button('png', say('composer.savePng'), async () =>
        this.#save(await this.#png(), 'png', 'image/png')
      ),
      this.#button('copy-svg', say('composer.copySvg'), () =>
        this.#copy(navigator.clipboard.writeText(this.#now.svg), 'SVG')
      ),
      this.#button('copy-png', say('composer.copyPng'), () =>
        this.#copy(navigator.clipboard.write([new ClipboardItem({ 'image/png': png() })]), 'PNG')
      ),
      this.#button('print', say('composer.print'), () => this.#print()),
      this.#button('caption', say('composer.copyCaption'), () =>
        this.#copy(
          navigator.clipboard.writeText(descriptionOf(this.#now.figure)),
          say('composer.caption')
        )
      ),
      this.#button('json', say('composer.saveJson'), () =>
        this.#save(writeFigure(this.#now.figure), 'json', 'application/json')
      ),
      this.#button('close', say('dialog.close'), () => this.dialog.close())
    ]
  }

  #render() {
    const { heads, width, font, dark, letters, over } = this.#look
    render(
      html`<h2 id="figure-heading">${say('composer.title')}</h2>
  <form class="composer" novalidate @input=${() => this.draw()} @submit=${(event: Event) => event.preventDefault()}>
    <div class="composer-fields">
      <fieldset><legend>${say('composer.panels')}</legend>${repeat(this.#order, (name) => name, this.#line)}</fieldset>
      <label>${say('view.heads')} <input name="heads" maxlength="400" spellcheck="false" autocomplete="off" aria-describedby="figure-heads-hint" .value=${heads}></label>
      <p class="hint" id="figure-heads-hint">${say('composer.headsHint')}</p>
      <div class="fields">
        <label>${say('composer.width')} <input type="number" name="width" min=${widths.least} max=${widths.most} step="1" list="figure-widths" .value=${String(width)}></label>
        <datalist id="figure-widths">${options(widths.usual.map((width) => [width, String(width)]))}</datalist>
        <label>${say('composer.font')} <select name="font">${options(
          Object.entries(fonts).map(([name, [text]]) => [name, text]),
          font
        )}</select></label>
        <label>${say('composer.ground')} <select name="dark">${options(
          [
            ['', say('composer.light')],
            ['1', say('composer.dark')]
          ],
          dark ? '1' : ''
        )}</select></label>
        <label>PNG <select name="dpi">${options(
          resolutions.map((dpi) => [dpi, `${dpi} DPI`]),
          300
        )}</select></label>
      </div>
      <label class="check"><input type="checkbox" name="letters" .checked=${letters}> ${say('composer.letters')}</label>
      <label class="check"><input type="checkbox" name="over" .checked=${over}> ${say('composer.over')}</label>
      <div class="even two">${this.#buttons()}</div>
      <p class="hint">${say('composer.jsonHint')}</p>
    </div>
    <figure>${this.#picture}</figure>
  </form>
  <p class="strong" role="status">${this.#said}</p>`,
      this.dialog
    )
  }

  #whyNot(name: FigurePanel) {
    if (this.#page) return whyNot[name](this.#page)
    return this.#base.parts[name] ? '' : say('composer.noPanel')
  }

  get #now() {
    if (!this.#shown) throw new Error(say('composer.noFigure'))
    return this.#shown
  }

  #say(text: string) {
    this.#said = text
    this.#render()
  }

  /** The address of the picture that is shown is given back. */
  #forget() {
    const image = this.dialog.querySelector('img') as HTMLImageElement
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
      panels: [...(this.dialog.querySelectorAll('[name=panel]') as NodeListOf<HTMLInputElement>)]
        .filter(({ checked }) => checked)
        .map(({ value }) => value) as FigurePanel[],
      width,
      font: this.#field('font').value as FigureLook['font'],
      dark: this.#field('dark').value === '1',
      letters: this.#field('letters').checked,
      heads: this.#field('heads').value,
      over: this.#field('over').checked,
      titles: Object.fromEntries(
        [...(this.dialog.querySelectorAll('[name=title]') as NodeListOf<HTMLInputElement>)]
          .filter(({ value }) => value.trim())
          .map(({ dataset, value }) => [dataset.panel, value.trim()])
      )
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
          (this.#base.parts as any)[name] = await figurePart(this.#page, name)
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
      if (mine === this.#turn) this.#say((error as Error).message)
    }
  }

  /** The figure with the parts and heads that are shown, and no other. */
  #figure(look: FigureLook): Figure {
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
    const { figure, svg } = this.#now,
      { width, height } = this.#pixels,
      names = shownPanels(figure).map((name) => panels[name].toLowerCase())
    this.#forget()
    const high = Math.round((this.#now.layout.height / 72) * 25.4)
    const size = say('composer.size', {
      width: figure.look.width,
      height: high,
      across: width,
      down: height,
      name: this.#name
    })
    this.#picture = html`<img src=${URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))} alt=${`${figure.from.picture}: ${names.join(', ')}`}><figcaption class="hint">${size}${high > sheet.height || figure.look.width > sheet.width ? html`<p class="strong" id="figure-large">${say('composer.largerThanPage', { width: figure.look.width, height: high, pageWidth: sheet.width, pageHeight: sheet.height })}</p>` : ''}</figcaption>`
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
      pixels = (points: number) => Math.round((points / 72) * dpi)
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

  #save(content: BlobPart, ending: string, type: string) {
    const name = `${this.#name}.${ending}`
    download(new Blob([content], { type }), name)
    this.#say(say('composer.saved', { name }))
  }

  async #copy(done: Promise<void>, what: string) {
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

async function show(page: Page, base: Omit<Figure, 'look'>, look: FigureLook | null) {
  await laterStyles()
  element('figure')?.remove()
  const composer = new Composer(page, base, look)
  composer.dialog.showModal()
  await composer.draw()
}

/** A figure of what the page shows. */
export const openComposer = async (page: Page) => show(page, await figureOf(page), null)

/** A figure that was saved as JSON. */
export async function openFigure(page: Page, file: File) {
  const { look, ...base } = readFigure(await file.text(), file.name)
  await show(page, base, look)
}
