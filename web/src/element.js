/* <attention-map>, defined with the first import; see element.d.ts. */
import '../attention-map.js'
