// Follows the logs of deploys and job runs across restarts of the daemon, and records the lines.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ledger } from './ledger.ts'
import type { Victim } from './victim.ts'

interface Seen {
  /** The id of the deploy or job run. */
  id: string
  /** Line n is at index n - 1. */
  lines: string[]
  /** The log has ended. */
  isEnded: boolean
  /** The daemon no longer knows it. */
  isGone: boolean
}

export type Followers = ReturnType<typeof openFollowers>

export function openFollowers(victim: Victim, ledger: Ledger) {
  const all: Seen[] = []
  const controller = new AbortController()
  const { signal } = controller

  async function follow(seen: Seen): Promise<void> {
    while (!signal.aborted) {
      await readOn(seen).catch((error: Error) => {
        seen.isGone = /: 404 /.test(error.message)
      })
      if (seen.isEnded || seen.isGone) return
      ledger.figures.reconnects++
      await sleep(30)
    }
  }

  async function readOn(seen: Seen): Promise<void> {
    const api = await victim.whenUp()
    const path = `/${seen.id.startsWith('job-') ? 'jobs' : 'deploys'}/${seen.id}/logs?follow=true`
    for await (const { id, event, data } of api.events(path, { signal, lastEventId: seen.lines.length })) {
      seen.isEnded = event === 'end'
      if (seen.isEnded) return
      if (Number(id) !== seen.lines.length + 1) {
        const text = `${seen.id}: line ${id} came after line ${seen.lines.length}`
        ledger.addViolation('followers see every line once', text, [data])
      }
      seen.lines.push(data)
    }
  }

  return {
    all,
    follow(id: string): void {
      const seen = { id, lines: [], isEnded: false, isGone: false }
      all.push(seen)
      void follow(seen)
    },
    close: () => controller.abort(),
  }
}
