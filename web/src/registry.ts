/* The models that look() and <attention-map> have open: one runtime for each device, and each model once, with
 * one session, whoever names it. They stay open until release(). */
import { HeedError, refuseParts } from './error.js'
import { hubAddress } from './hub.js'
import { inNode } from './host.js'
import { createRuntime } from './index.js'
import { isURL } from './realm.js'
import type { LoadModelOptions, Model, ModelSource, Runtime, Session, SessionInfo } from 'heed'

/* Up to this many bytes of maps a session has them all; a larger model computes rows on demand. */
const keptMost = 160e6

/** A session of a model. `all`: it has all maps of its last run; `runs`: how many there were. */
export interface Opened {
  model: Model
  session: Session
  shape: SessionInfo
  all: boolean
  runs: number
  busy: Promise<unknown>
}
/** 'software': the GPU, where that is software as well. */
export type Device = 'wasm' | 'webgpu' | 'software'

const runtimes = new Map<Device, Promise<Runtime>>(),
  opened = new Map<Device, Map<unknown, Promise<Opened>>>()

/** The promise of map.get(key), made by make() where there is none; one that failed is not kept. */
function once<Key, Made>(
  map: Map<Key, Promise<Made>>,
  key: Key,
  make: () => Promise<Made>
): Promise<Made> {
  const found = map.get(key) ?? make()
  map.set(key, found)
  found.catch(() => {
    if (map.get(key) === found) map.delete(key)
  })
  return found
}

export const runtimeOn = (device: Device) =>
  once(runtimes, device, () =>
    createRuntime(device === 'software' ? { device: 'webgpu', softwareAdapter: true } : { device })
  )

/** What a model goes by: of an address all of it, however it was written. */
function keyOf(source: ModelSource | Model) {
  if (isURL(source)) return source.href
  if (typeof source !== 'string' || inNode || !globalThis.document) return source
  return URL.canParse?.(source, document.baseURI) ? new URL(source, document.baseURI).href : source
}

async function open(
  source: ModelSource | Model,
  device: Device,
  { onProgress, signal, ...load }: LoadModelOptions
) {
  const call = { onProgress, signal }
  const model =
    typeof (source as Model)?.createSession === 'function'
      ? (source as Model)
      : await (await runtimeOn(device)).loadModel(source as ModelSource, { ...load, ...call })
  refuseParts('look', model.info)
  const { layers, heads, prefixTokens, runHeight, runWidth, patch } = model.info,
    tokens = prefixTokens + Math.floor(runHeight / patch) * Math.floor(runWidth / patch),
    all = 4 * layers * heads * tokens ** 2 <= keptMost,
    session = model.createSession({ taps: all ? 'all' : 'rows', ...call })
  return { model, session, shape: await session.ready, all, runs: 0, busy: Promise.resolve() }
}

/** A model that is named again is not loaded again. */
export function openOnce(
  named: ModelSource | Model,
  { hub, ...how }: LoadModelOptions = {},
  device: Device = 'wasm'
): Promise<Opened> {
  const source = hub ? hubAddress(named, hub) : named,
    key = keyOf(source)
  const models = opened.get(device) ?? new Map<unknown, Promise<Opened>>()
  opened.set(device, models)
  return once(models, typeof key === 'string' ? `${key} ${how.file ?? ''}` : key, () =>
    open(source, device, how)
  )
}

/** Those who share a session take turns: it has the maps of its last run. */
export function inTurn<Result>(of: Opened, work: () => Promise<Result>): Promise<Result> {
  const turn = of.busy.then(work)
  of.busy = turn.catch(() => {})
  return turn
}

export const outOfDate = () =>
  new HeedError(
    'INVALID_ARGUMENT',
    'map: the model has seen another picture since (found a later run, expected to read this map before it)'
  )

/** Closes the runtimes and the models that look() and elements have opened. */
export async function release() {
  const last = [...runtimes.values()]
  runtimes.clear()
  opened.clear()
  await Promise.allSettled(last.map(async (runtime) => (await runtime).close()))
}
