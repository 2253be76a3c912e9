/* <attention-map> for pages of other sites, by its published address: heed/element of the package
 * that lies beside this. */
export * from './heed/element.js'
