// Reads the requests that the edge reports, from each of its processes.
// After a reload or an upgrade the old process still finishes requests, and only it reports them.
import { sleep } from '../../async/sleep.ts'
import type { AccessMark } from '../../edge/access-events.ts'
import type { EdgeFiles } from '../../edge/files.ts'
import { codeOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { EdgeRounds } from './haproxy-edge.ts'

export interface AccessReader {
  /** Sets the process that serves now. The one before it and the retired ones are read until they end. */
  follow(process: string, files: EdgeFiles, retired: readonly EdgeFiles[]): void
  /** Resolves when all readers have ended. */
  close(): Promise<void>
}

const retryPauseMs = 200

export function createAccessReader(rounds: EdgeRounds, logger: Logger): AccessReader {
  const closing = new AbortController()
  const readings = new Set<Promise<void>>()
  const generations = new Set<number>()
  let current: string | null = null
  let newest: Promise<AccessMark | null> | null = null

  /** Retries after a failure, as long as `isWanted`. */
  async function read(files: EdgeFiles, from: Promise<AccessMark | null>, isWanted: () => boolean) {
    const { signal } = closing
    let last = await from
    while (!signal.aborted) {
      try {
        for await (const mark of rounds.readAccess(files, last, signal)) last = mark
      } catch (error) {
        if (codeOf(error) !== 'edge_unavailable') logger.warn({ err: error }, 'requests could not be read')
      }
      if (!isWanted()) return
      await sleep(retryPauseMs, signal).catch(() => undefined)
    }
  }

  function begin(files: EdgeFiles, from: Promise<AccessMark | null>, isWanted: () => boolean): void {
    generations.add(files.generation)
    const reading = read(files, from, isWanted).catch((error: unknown) =>
      logger.warn({ err: error }, 'reading requests from HAProxy failed'),
    )
    readings.add(reading)
    void reading.finally(() => readings.delete(reading))
  }

  return {
    follow(process, files, retired) {
      for (const one of retired.filter(({ generation }) => !generations.has(generation))) {
        newest ??= rounds.newestRequest()
        begin(one, newest, () => false)
      }
      if (process === current) return
      const isFirst = current === null
      current = process
      newest ??= rounds.newestRequest()
      begin(files, isFirst ? newest : Promise.resolve(null), () => process === current)
    },
    async close() {
      closing.abort()
      await Promise.all(readings)
    },
  }
}
