/* Where the library's files lie: in heed/ beside the page, wherever its scripts were bundled to. */
import { setBase } from '../heed/index.js'

setBase(new URL('heed/', document.baseURI))
