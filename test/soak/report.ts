// The printed results: a line per swap, and a table of figures.
import type { Violation } from '../crash/ledger.ts'
import type { Swap } from './evidence.ts'
import type { Figures, Latency } from './figures.ts'

export interface Outcome {
  seed: number
  drainSeconds: number
  figures: Figures
  swaps: Swap[]
  violations: Violation[]
  durationMs: number
}

export function swapLine({ number, kind, service, words, askedAt, liveAt, doneAt }: Swap): string {
  const took = `live ${seconds(liveAt - askedAt)}, drained ${seconds(doneAt - askedAt)}`
  return `swap ${String(number).padStart(2)}  ${kind.padEnd(8)} ${service.padEnd(5)} ${took}  ${words}`
}

export function table({ seed, drainSeconds, figures, violations, durationMs }: Outcome): string {
  const { latency, sender, slow, swaps, longestSwap, streams } = figures
  const rows: [string, string | number][] = [
    ['seed', seed],
    ['swaps', `${swaps.total}, ${swaps.neighbour} of the neighbour: ${list(swaps.byKind)}`],
    [
      'longest swap',
      `${seconds(longestSwap.toDrainedMs)} to drained (${longestSwap.words}), ` +
        `${seconds(longestSwap.toLiveMs)} to live`,
    ],
    ['drain limit', `${drainSeconds} s`],
    ['instances that served', figures.instances],
    ['requests', figures.requests],
    ['failed', figures.failed],
    ['connections', list(figures.connections)],
    ['latency', describe(latency.all)],
    ['  between swaps', describe(latency.between)],
    ['  during swaps', describe(latency.during)],
    ['  at the switch', describe(latency.atSwitch)],
    ['sender delay', `p99 ${sender.p99Ms.toFixed(1)} ms, max ${sender.maxMs.toFixed(1)} ms`],
    ['slow requests', `${slow.requests}, longest ${seconds(slow.longestMs)}`],
    ['streams', `${streams.opened} opened, ${streams.messages} messages`],
    ['  drained', list(streams.endings) || 'none'],
    ['violations', violations.length],
    ['duration', seconds(durationMs)],
  ]
  return rows.map(([name, value]) => `${name.padEnd(24)}${value}`).join('\n')
}

function describe({ requests, p50Ms, p99Ms, maxMs }: Latency): string {
  const parts = Object.entries({ p50: p50Ms, p99: p99Ms, max: maxMs })
  return `${parts.map(([name, value]) => `${name} ${value.toFixed(1)} ms`).join(', ')} (${requests})`
}

function list(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
