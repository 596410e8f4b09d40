// Reads the requests that the edge tells of, from each of its processes.
// Mind: after a reload the old one still finishes requests, and only it tells of them.
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { EdgeRounds } from './edge.ts'

export interface AccessReader {
  /** This process serves now; the one before it is read until it ends. */
  follow(process: number): void
  /** Resolves when nothing is read any more. */
  close(): Promise<void>
}

const pauseMs = 200

export function createAccessReader(rounds: EdgeRounds, logger: Logger): AccessReader {
  const closing = new AbortController()
  const readings = new Set<Promise<void>>()
  let current: number | null = null

  /** Again after a break, as long as this is the process that serves. */
  async function read(process: number, from: Promise<string | null>): Promise<void> {
    const { signal } = closing
    let last = await from
    while (!signal.aborted) {
      try {
        for await (const id of rounds.readAccess(last, signal)) last = id
      } catch (error) {
        if (codeOf(error) !== 'edge_unavailable') logger.warn({ err: error }, 'requests could not be read')
      }
      if (process !== current) return
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  return {
    follow(process) {
      if (process === current) return
      const isFirst = current === null
      current = process
      const from = isFirst ? rounds.newestRequest() : Promise.resolve(null)
      const reading = read(process, from).catch((error: unknown) =>
        logger.warn({ err: error }, 'requests are not read any more'),
      )
      readings.add(reading)
      void reading.finally(() => readings.delete(reading))
    },
    async close() {
      closing.abort()
      await Promise.all(readings)
    },
  }
}
