/* Where a page's models run: in WebAssembly, or on the GPU where somebody asks for it. `?software-adapter`
 * in a page's address also takes a GPU that is software, for tests. */
import type { RuntimeOptions } from 'heed'

export type Device = 'wasm' | 'webgpu'

/** What createRuntime is given. */
export const onDevice = (device: Device): RuntimeOptions =>
  device === 'wasm'
    ? {}
    : { device, softwareAdapter: new URLSearchParams(location.search).has('software-adapter') }
