/* Elements of the page. */

/** The element of an id, which the page has: types/elements.d.ts lists them. */
export const element = <Id extends string>(id: Id): ElementOf<Id> => document.getElementById(id)
