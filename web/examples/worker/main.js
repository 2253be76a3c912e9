// The page: it only shows what its worker says.
const worker = new Worker('work.js', { type: 'module' })
worker.onmessage = ({ data: { answer, device, why } }) => {
  document.querySelector('#runtime').textContent = `${device} - ${why}`
  document.querySelector('#answer').textContent = answer
}
