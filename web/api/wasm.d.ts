/* A module's address, where a bundler or loader gives one for it. */
declare const address: string
export default address
