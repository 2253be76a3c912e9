/* What the converter from SPIR-V to WGSL reads and writes. */

/** A piece of WGSL: text, or what is known once the constants are. */
export type Part =
  | string
  /** The value of a constant, as a literal. */
  | { constant: number }
  /** One of two texts, by a constant. */
  | { when: number; yes: Text; no: Text }
  /** A variable of the function; inside an unrolled loop its counter is a number. */
  | { local: number }
  /** A variable of the module. */
  | { global: number }
  /** A value that the device gives each invocation. */
  | { builtin: string }
  /** The parameters of the dispatch: 32 words. */
  | { params: true }
  | { call: number; args: Text[] }
  /** A language feature that the text around it needs. */
  | { enable: string }
export type Text = Part[]

export type Statement =
  | Text
  | { when: number; yes: Statement[]; no: Statement[] }
  | { if: Text; yes: Statement[]; no: Statement[] }
  | { loop: Statement[]; tail: Statement[]; count?: Count }
  | { select: Text; cases: { values: string[]; body: Statement[] }[]; other: Statement[] }
  | { end: 'return' | 'break' | 'continue'; value?: Text }

/** A loop over constants: its counter, the two ends, and how large its body is. */
export interface Count {
  local: number
  from: number
  to: number
  inclusive: boolean
  size: number
  body: Statement[]
}

export type Scalar = 'u32' | 'i32' | 'f32' | 'bool'

/** A constant that stays open until a pipeline is made. */
export type Constant =
  | { type: Scalar; spec: number; value: number | boolean }
  | { type: Scalar; value: number | boolean }
  | { type: Scalar; op: number; of: number[] }

export interface TemplateFunction {
  params: Text[]
  returns: Text | null
  locals: Text[]
  body: Statement[]
}

export type Global =
  | { space: 'private' | 'workgroup'; type: Text }
  | { slot: number; writes: boolean; type: Text }

/** WGSL of a module, with its specialisation constants open. */
export interface Template {
  constants: Constant[]
  globals: Global[]
  functions: TemplateFunction[]
  entry: number
  /** The constant with the workgroup's width. */
  width: number
}

/** A pipeline's text. */
export interface Filled {
  code: string
  /** Storage buffers of group 0, in the order of their bindings: the kernel's slot, and whether it writes. */
  buffers: { slot: number; writes: boolean }[]
  /** Whether group 1 has the parameters, a uniform buffer of 128 bytes at a dynamic offset. */
  params: boolean
  /** The features of the device that the text enables. */
  features: string[]
}

export type Type =
  | { kind: 'void' | 'bool' | 'u32' | 'i32' | 'f32' | 'f16' | 'function' }
  | { kind: 'vector'; of: number; count: number }
  | { kind: 'array'; of: number; count: number }
  | { kind: 'runtime'; of: number }
  | { kind: 'struct'; of: number[] }
  | { kind: 'pointer'; storage: number; of: number }
  | { kind: 'texels'; of: number }

export type Value =
  | { kind: 'constant'; type: number; bits: number; spec: boolean }
  | { kind: 'composite'; type: number; of: number[] }
  | { kind: 'operation'; type: number; op: number; of: number[] }
  | { kind: 'null'; type: number }
  | { kind: 'variable'; type: number; storage: number }
  | { kind: 'parameter'; type: number }

export interface Instruction {
  op: number
  /** Of the result, where the instruction has one; else 0. */
  type: number
  id: number
  /** What follows: ids and numbers. */
  words: number[]
}

export interface Block {
  id: number
  code: Instruction[]
}

export interface SpirvFunction {
  id: number
  returns: number
  params: { id: number; type: number }[]
  blocks: Map<number, Block>
  first: number
}

export interface Spirv {
  types: Map<number, Type>
  values: Map<number, Value>
  /** Numbers of specialisation constants. */
  specs: Map<number, number>
  bindings: Map<number, number>
  builtins: Map<number, number>
  /** Byte offsets of a structure's members, and those that are only read. */
  offsets: Map<number, number[]>
  readonly: Set<number>
  globals: number[]
  functions: SpirvFunction[]
  entry: number
}

/* ------------------------------------------------------------------------------------------------
 * what runs pipelines */

/** A dispatch that C lists (heed_gpu_words). Slots without a buffer have number -1. */
export interface Dispatch {
  shader: string
  constants: number[]
  push: number[]
  groups: [number, number, number]
  /** Millions of operations. */
  work: number
  slots: { buffer: number; offset: number; bytes: number; written: boolean }[]
}

export interface DeviceOptions {
  templateOf(shader: string): Template | Promise<Template>
  /** Of fill. */
  unroll?: number
  /** Whether the device is looked after only when something is submitted. */
  polls?: boolean
}

export interface Pipeline {
  pipeline: GPUComputePipeline
  layout: GPUBindGroupLayout
  buffers: Filled['buffers']
}

/** Bytes of a buffer. */
export interface Wanted {
  buffer: number
  offset: number
  bytes: number
}
