// The page: it only shows what its worker says.
const worker = new Worker('work.js', { type: 'module' })
worker.onmessage = ({ data: { answer, device, why } }) => {
  document.getElementById('runtime').textContent = `${device} - ${why}`
  document.getElementById('answer').textContent = answer
}
