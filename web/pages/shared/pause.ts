/* Work that takes long lets the page go on: a pause where 20 ms have passed since the last. */
let began = 0
export async function pause() {
  if (performance.now() - began < 20) return
  await new Promise((done) => setTimeout(done))
  began = performance.now()
}
