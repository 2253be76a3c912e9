// A map and the classes of a picture as React components: npm install, then npx vite build.
import { demoModel } from 'heed/demo'
import { AttentionMap, useLook } from 'heed/react'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

const picture = new URL('picture.png', document.baseURI)

function Classes() {
  const { pending, result, error } = useLook(picture, { model: demoModel })
  if (pending) return <p id="answer">loading</p>
  return <p id="answer">{error ? error.message : result.top(1)[0].label}</p>
}

function Page() {
  const [query, setQuery] = useState([2, 10])
  return (
    <>
      <AttentionMap
        src={picture.href}
        layer={3}
        head={0}
        query={query}
        onPick={({ row, column }) => setQuery([row, column])}
      />
      <p id="query">{query.join(', ')}</p>
      <Classes />
    </>
  )
}

createRoot(document.getElementById('root')).render(<Page />)
