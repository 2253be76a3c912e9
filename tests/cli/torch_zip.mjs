// Weights of a .safetensors file as files of PyTorch: the zip of torch.save, and what training scripts wrap around the weights.

import { gzipSync } from 'node:zlib'

/* As zlib writes it behind a gzip: zlib.crc32, which Node 18 has not. */
const crc32 = (bytes) => gzipSync(bytes, { level: 0 }).subarray(-8).readUInt32LE()

const storages = {
  F32: 'FloatStorage',
  F16: 'HalfStorage',
  BF16: 'BFloat16Storage',
  F64: 'DoubleStorage',
  I64: 'LongStorage',
  I32: 'IntStorage'
}
const bytesOf = { F32: 4, F16: 2, BF16: 2, F64: 8, I64: 8, I32: 4 }

/** Tensors of a .safetensors file: name, dtype, shape, bytes. */
export function tensorsOf(file) {
  const length = Number(file.readBigUInt64LE(0))
  const header = JSON.parse(file.subarray(8, 8 + length).toString())
  return Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(
      ([
        name,
        {
          dtype,
          shape,
          data_offsets: [from, to]
        }
      ]) => ({ name, dtype, shape, bytes: file.subarray(8 + length + from, 8 + length + to) })
    )
}

/** The tensors' names changed. */
export const renamed = (tensors, rule) =>
  tensors.map((tensor) => ({ ...tensor, name: rule(tensor.name) }))

const text = (value) => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([Buffer.from('X'), length, bytes])
}

const whole = (value) => {
  const bytes = Buffer.alloc(5)
  bytes.write('J')
  bytes.writeInt32LE(value, 1)
  return bytes
}

const tuple = (parts) => Buffer.concat([Buffer.from('('), ...parts, Buffer.from('t')])
const raw = (bytes) => Buffer.from(bytes, 'latin1')

/** A value as opcodes: tensors are {dtype, shape, bytes}; maps, texts, whole numbers and null are themselves. */
function pickled(value, data) {
  if (value === null) return raw('N')
  if (typeof value === 'string') return text(value)
  if (typeof value === 'number') return whole(value)
  if (value instanceof Map)
    return Buffer.concat([
      raw('}('),
      ...[...value].flatMap(([key, item]) => [text(key), pickled(item, data)]),
      raw('u')
    ])
  const count = value.shape.reduce((product, side) => product * side, 1)
  const strides = value.shape.map((_, axis) =>
    value.shape.slice(axis + 1).reduce((product, side) => product * side, 1)
  )
  const storage = tuple([
    text('storage'),
    raw(`ctorch\n${storages[value.dtype]}\n`),
    text(String(data.length)),
    text('cpu'),
    whole(count)
  ])
  data.push(value.bytes.subarray(0, count * bytesOf[value.dtype]))
  const args = [
    Buffer.concat([storage, raw('Q')]),
    whole(0),
    tuple(value.shape.map(whole)),
    tuple(strides.map(whole)),
    raw('\x89'),
    raw('ccollections\nOrderedDict\n)R')
  ]
  return Buffer.concat([raw('ctorch._utils\n_rebuild_tensor_v2\n'), tuple(args), raw('R')])
}

/** A zip of these entries, stored as they are. */
function zip(entries) {
  const locals = []
  const directory = []
  let at = 0
  for (const [name, bytes] of entries) {
    const sums = Buffer.alloc(12)
    sums.writeUInt32LE(crc32(bytes), 0)
    sums.writeUInt32LE(bytes.length, 4)
    sums.writeUInt32LE(bytes.length, 8)
    const lengths = Buffer.alloc(4)
    lengths.writeUInt16LE(Buffer.byteLength(name), 0)
    const place = Buffer.alloc(4)
    place.writeUInt32LE(at)
    const local = Buffer.concat([
      raw('PK\x03\x04\x14\0\0\0\0\0\0\0\0\0'),
      sums,
      lengths,
      Buffer.from(name),
      bytes
    ])
    directory.push(
      Buffer.concat([
        raw('PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0'),
        sums,
        lengths,
        Buffer.alloc(10),
        place,
        Buffer.from(name)
      ])
    )
    locals.push(local)
    at += local.length
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, ...directory, end])
}

/** What torch.save writes of a value; a state dict is a Map of tensors. */
export function torchZip(value) {
  const data = []
  const pickle = Buffer.concat([raw('\x80\x02'), pickled(value, data), raw('.')])
  return zip([
    ['archive/data.pkl', pickle],
    ['archive/byteorder', Buffer.from('little')],
    ...data.map((bytes, i) => [`archive/data/${i}`, bytes]),
    ['archive/version', Buffer.from('3\n')]
  ])
}

export const stateDict = (tensors) => new Map(tensors.map((tensor) => [tensor.name, tensor]))
