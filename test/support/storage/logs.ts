// Opens logs that are closed after the test, and reads them like a follower.
// A failed write fails the test unless the test handles it.
import type { TestContext } from 'node:test'
import { type LogLine, type LogOptions, type Logs, openLogs } from '../../../storage/log/logs.ts'

export interface NumberedLine extends LogLine {
  number: number
}

export function openTestLogs(t: TestContext, directory: string, options: LogOptions = {}): Logs {
  const onError = (error: unknown) => {
    throw error
  }
  const logs = openLogs(directory, { onError, ...options })
  t.after(() => logs.close())
  return logs
}

/** All lines after `number` that are available now. */
export async function readLog(logs: Logs, id: string, after = 0): Promise<NumberedLine[]> {
  const lines: NumberedLine[] = []
  let at = after
  for (let batch = await logs.batchAfter(id, at); batch; batch = await logs.batchAfter(id, at)) {
    const { first } = batch
    lines.push(...batch.lines.map((line, index) => ({ number: first + index, ...line })))
    at = first + batch.lines.length - 1
  }
  return lines
}

/** Follows the log to its end and returns all lines. */
export async function followLog(logs: Logs, id: string, after = 0): Promise<NumberedLine[]> {
  const lines = await readLog(logs, id, after)
  while (!logs.isEnded(id)) {
    await nextChange(logs, id)
    lines.push(...(await readLog(logs, id, lines.at(-1)?.number ?? after)))
  }
  return lines
}

export async function nextChange(logs: Logs, id: string): Promise<void> {
  let stop = () => {}
  await new Promise<void>((resolve) => {
    stop = logs.watch(id, resolve)
  })
  stop()
}
