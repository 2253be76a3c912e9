/* Where an engine's sessions run: on the GPU while it can be used, else in WebAssembly, and why. A device
 * that is lost is opened once more. */
import { HeedError } from './error.js'
import { DeviceLost, Gpu, NoGpu } from './gpu.js'
import type { EngineOptions, ModuleHost, OpenModel, OpenSession } from '../types/library.js'

/** Losses after which no device is opened. */
const mostLosses = 2

export class GpuSide {
  #options: EngineOptions
  #host: ModuleHost
  #version: string
  #losses = 0
  gpu: Gpu | undefined
  /** Why there is no GPU. */
  why: string | undefined
  /** In the mode 'auto': why one model's size runs where it does, by both. */
  choices = new Map<string, { isGpu: boolean; why: string }>()

  private constructor(options: EngineOptions, host: ModuleHost, version: string) {
    this.#options = options
    this.#host = host
    this.#version = version
  }

  /** @param host as module.ts has it, for the module of `gpu` */
  static async open(options: EngineOptions, host: ModuleHost, version: string) {
    const side = new GpuSide(options, host, version)
    await side.#open()
    return side
  }

  get isMeasured() {
    return this.#options.device === 'auto'
  }

  async #open() {
    try {
      this.gpu = await Gpu.open(this.#options, this.#host, this.#version)
      this.why = undefined
    } catch (error) {
      if (!(error instanceof NoGpu)) throw error
      this.gpu = undefined
      this.why = error.message
    }
  }

  /** The device, opened again where it was lost; undefined: `why` says why there is none. */
  async current() {
    if (!this.gpu?.device.lost) return this.gpu
    const why = this.gpu.device.lost
    this.gpu.close()
    this.gpu = undefined
    this.why = `the device was lost (found "${why}")`
    if (++this.#losses < mostLosses) await this.#open()
    return this.gpu
  }

  /** Why this model cannot run there. */
  refuses({ graph, text, info }: OpenModel, isForeign: boolean) {
    if (graph) return 'ONNX graphs run there'
    if (text) return 'text towers run there'
    if (info.frames) return 'models of videos run there'
    if (info.stages) return 'models with stages run there'
    if (isForeign) return 'weights of PyTorch and ONNX are read there'
    return undefined
  }

  close() {
    this.gpu?.close()
    this.gpu = undefined
    this.why = 'the runtime is closed'
  }
}

/** Whether the session is gone with its device, so that it is to be made anew. */
export const isLost = (error: unknown, { gpu }: Pick<OpenSession, 'gpu'>) =>
  gpu !== undefined && (error instanceof DeviceLost || gpu.device.lost !== undefined)

/** Why a session that could not be made on the GPU is made in WebAssembly; throws what is no reason. */
export function reasonOf(error: unknown): string {
  if (error instanceof HeedError && ['CANCELLED', 'IO'].includes(error.status)) throw error
  return (error as Error).message
}
