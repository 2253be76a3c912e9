/* Elements of the page, and new ones. */

/** The element of an id, which the page has: types/elements.d.ts lists them. */
export const element = <Id extends string>(id: Id): ElementOf<Id> => document.getElementById(id)

/** A new element with properties and children. */
export function made<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: object = {},
  ...children: (Node | string)[]
) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}
