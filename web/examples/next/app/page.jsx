'use client'
// A map and the classes of public/picture.png: npm install, then npx next dev. The server renders the
// frame of the page alone; heed starts in the browser.
import { demoModel } from 'heed/demo'
import { AttentionMap, useLook } from 'heed/react'

const picture = '/picture.png'

export default function Page() {
  const { pending, result, error } = useLook(picture, { model: demoModel })
  return (
    <main>
      <AttentionMap src={picture} layer={3} head={0} query={[2, 10]} />
      <p id="answer">{pending ? 'loading' : error ? error.message : result.top(1)[0].label}</p>
    </main>
  )
}
