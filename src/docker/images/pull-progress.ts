// The progress of a pull in a few lines: the engine sends thousands of small steps, layer by layer.
import { size } from '../../quantities.ts'

/** One step as the engine reports it; `id` is the id of a layer, except in the first step. */
export interface PullStep {
  id?: string
  status?: string
  progressDetail?: { current?: number; total?: number }
}

export interface PullProgress {
  push(step: PullStep): void
  end(): void
}

interface Layer {
  receivedBytes: number
  totalBytes: number
  state: 'coming' | 'pulled' | 'here'
}

const pauseMs = 5000
const mebibyte = 1024 * 1024
const layerStatus =
  /^(Pulling fs layer|Waiting|Downloading|Verifying|Download complete|Extracting|Pull complete)/

export function createPullProgress(
  onLine: (line: string) => void,
  now: () => number = Date.now,
): PullProgress {
  const layers = new Map<string, Layer>()
  let loggedAt = now()

  function push({ id, status = '', progressDetail }: PullStep): void {
    if (id === undefined || !(layerStatus.test(status) || status === 'Already exists')) return
    layers.set(id, advance(layers.get(id), status, progressDetail ?? {}))
    if (now() - loggedAt < pauseMs) return
    loggedAt = now()
    onLine(describe([...layers.values()]))
  }

  return {
    push,
    end: () => onLine(conclude([...layers.values()])),
  }
}

function advance(
  before: Layer | undefined,
  status: string,
  { current = 0, total = 0 }: { current?: number; total?: number },
): Layer {
  const layer: Layer = before ?? { receivedBytes: 0, totalBytes: 0, state: 'coming' }
  if (status === 'Already exists') return { ...layer, state: 'here' }
  if (status === 'Pull complete') return { ...layer, state: 'pulled' }
  if (status === 'Download complete') return { ...layer, receivedBytes: layer.totalBytes }
  return status === 'Downloading' ? { ...layer, receivedBytes: current, totalBytes: total } : layer
}

function describe(layers: Layer[]): string {
  const done = layers.filter(({ state }) => state !== 'coming').length
  const [received, total] = [sum(layers, 'receivedBytes'), sum(layers, 'totalBytes')]
  return `${done} of ${count(layers.length)} are present, ${size(received)} of ${size(total)} received`
}

function conclude(layers: Layer[]): string {
  const pulled = layers.filter(({ state }) => state === 'pulled')
  if (pulled.length === 0) return 'pulled: all its layers were already present'
  const rest = layers.length - pulled.length
  const others = rest === 0 ? '' : `, ${rest} ${rest === 1 ? 'was' : 'were'} already present`
  const bytes = sum(pulled, 'totalBytes')
  // Of very small layers the engine does not always tell the size.
  const amount = bytes < mebibyte / 10 ? '' : ` of ${size(bytes)}`
  return `pulled ${count(pulled.length)}${amount}${others}`
}

function count(layers: number): string {
  return layers === 1 ? '1 layer' : `${layers} layers`
}

function sum(layers: Layer[], which: 'receivedBytes' | 'totalBytes'): number {
  return layers.reduce((bytes, layer) => bytes + layer[which], 0)
}
