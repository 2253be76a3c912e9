/* The cell as a document of its own, in a notebook's frame: its data is beside it. */
import { show } from './cell.js'

const of = (id: string) => document.getElementById(id) as HTMLElement
show(of('cell'), JSON.parse(of('data').textContent as string))
