/** A PNG as data URL, in files that may say anything; its only group is the base64. */
export const pngUrl = /^data:image\/png;base64,([A-Za-z0-9+/=]+)$/
