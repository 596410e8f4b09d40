// When each follower had each line. Only the last complete line of each chunk is examined; the first follower
// also reads the lines for the times at which they were appended.
// A number split by the end of a chunk counts with the next one, slightly too late.

export interface Arrivals {
  take(reader: number, chunk: Buffer, at: number): void
  /** Delays of the lines appended in that time, over all readers. Throws if a reader misses a line. */
  ages(from: number, to: number): { p50Ms: number; p99Ms: number; worstMs: number }
}

interface Reader {
  /** Its last complete line, and the last one that has started. */
  has: number
  began: number
}

interface Arrival {
  after: number
  upTo: number
  at: number
}

const binsPerMs = 10
const longestMs = 60_000

export function openArrivals(count: number): Arrivals {
  const readers = Array.from({ length: count }, (): Reader => ({ has: 0, began: 0 }))
  const arrivals: Arrival[] = []
  const appended = createAppended()

  function take(index: number, chunk: Buffer, at: number): void {
    const reader = readers[index]!
    if (index === 0) appended.read(chunk)
    const ended = lastEnded(chunk, reader.began)
    if (ended > reader.has) {
      // The first chunk shows where this reader started.
      if (reader.has > 0) arrivals.push({ after: reader.has, upTo: ended, at })
      reader.has = ended
    }
    reader.began = Math.max(reader.began, numberAt(chunk, chunk.lastIndexOf('\nid: ') + 1))
  }

  function ages(from: number, to: number) {
    const { first, last } = appended.between(from, to)
    if (readers.some(({ has }) => has < last)) throw new Error('a reader did not get every line')
    const bins = new Uint32Array(longestMs * binsPerMs)
    for (const { after, upTo, at } of arrivals) {
      for (let line = Math.max(after + 1, first); line <= Math.min(upTo, last); line++) {
        bins[Math.max(0, Math.floor((at - appended.at(line)) * binsPerMs))]!++
      }
    }
    const total = count * (last - first + 1)
    if (bins.reduce((sum, lines) => sum + lines) !== total) throw new Error('a line came twice or not at all')
    return { p50Ms: below(bins, total / 2), p99Ms: below(bins, total * 0.99), worstMs: below(bins, total) }
  }
  return { take, ages }
}

/** The number of the last line that is complete in this chunk; 0 for none. */
function lastEnded(chunk: Buffer, began: number): number {
  const end = chunk.lastIndexOf('\n\n')
  if (end < 0) return 0
  const start = chunk.lastIndexOf('\nid: ', end)
  return start < 0 ? began : numberAt(chunk, start + 1)
}

/** 0 if the end of the chunk has split it. */
function numberAt(chunk: Buffer, start: number): number {
  const digits = start <= 0 ? '' : chunk.toString('latin1', start + 'id: '.length, start + 16)
  return Number.parseInt(digits, 10) || 0
}

/** The delay in ms at which this many of the counted lines have arrived. */
function below(bins: Uint32Array, wanted: number): number {
  let seen = 0
  const bin = bins.findIndex((lines) => {
    seen += lines
    return seen >= wanted
  })
  return (bin + 1) / binsPerMs
}

/** When each line was appended, from its text. */
function createAppended() {
  const moments = new Map<number, number>()
  let rest = ''
  return {
    read(chunk: Buffer): void {
      const text = rest + chunk.toString('latin1')
      const end = text.lastIndexOf('\n\n') + 1
      for (const [, id, at] of text.slice(0, end).matchAll(/id: (\d+)\n[^\n]*\n[^\n]*"line":"([\d.]+) /g)) {
        moments.set(Number(id), Number(at))
      }
      rest = text.slice(end)
    },
    at: (line: number): number => moments.get(line)!,
    between(from: number, to: number): { first: number; last: number } {
      const lines = [...moments].filter(([, at]) => at >= from && at < to).map(([line]) => line)
      const [first, last] = [Math.min(...lines), Math.max(...lines)]
      if (lines.length !== last - first + 1) throw new Error('the numbers of the lines have gaps')
      return { first, last }
    },
  }
}
