// Whether the last process of the daemon ended itself, and why. A process that must end writes that to a file
// first. An end by a signal, the kernel or a power failure leaves no file.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface OwnEnd {
  /** The same for every reader of the same file. */
  id: string
  reason: OwnEndReason
}

export type OwnEndReason = keyof typeof endings

export const endings = {
  event_loop_blocked: 'the event loop was blocked',
  heap_exhausted: 'the JavaScript heap was exhausted',
  uncaught_error: 'an error was not handled',
} as const

const fileName = 'own-end'
/** Node itself writes it. */
const heapReportName = 'own-end-heap.json'

export const ownEndFile = (dataDir: string): string => resolve(dataDir, fileName)

/** Synchronous, because the process ends directly afterwards. A failure changes nothing about that. */
export function recordOwnEnd(dataDir: string, reason: OwnEndReason): void {
  try {
    writeFileSync(ownEndFile(dataDir), reason)
  } catch {}
}

/** V8 ends a process without memory before any code could run. Node writes a report first. */
export function reportHeapExhaustion(dataDir: string): void {
  const { report } = process
  report.directory = resolve(dataDir)
  report.filename = heapReportName
  report.compact = true
  report.reportOnFatalError = true
}

/** Null if the last process was ended by something else. */
export function readOwnEnd(dataDir: string): OwnEnd | null {
  const heapReport = statSync(join(dataDir, heapReportName), { throwIfNoEntry: false })
  if (heapReport) return { id: String(heapReport.mtimeMs), reason: 'heap_exhausted' }
  const file = statSync(ownEndFile(dataDir), { throwIfNoEntry: false })
  if (!file) return null
  const text = readFileSync(ownEndFile(dataDir), 'utf8')
  const reason = text in endings ? (text as OwnEndReason) : 'event_loop_blocked'
  return { id: String(file.mtimeMs), reason }
}

export function forgetOwnEnd(dataDir: string): void {
  for (const name of [fileName, heapReportName]) rmSync(join(dataDir, name), { force: true })
}
