// Requests a page continuously while a new version is deployed, and counts failures.
import { setTimeout as delay } from 'node:timers/promises'
import { visit } from './page.ts'
import { reasonOf } from './trouble.ts'

export interface Visits {
  /** The number of responses by version. */
  byVersion: Map<string, number>
  failed: number
  /** The reason of the first failure. */
  reason: string | null
}

export interface Visitor {
  /** Resolves when that version has responded this many times. */
  hasSeen(version: string, times: number): Promise<void>
  /** Ends the visits and waits for pending ones. */
  leave(): Promise<Visits>
}

const pauseMs = 10

export function sendVisitor(url: string): Visitor {
  const visits: Promise<void>[] = []
  const seen: Visits = { byVersion: new Map(), failed: 0, reason: null }
  let isLeaving = false

  async function look(): Promise<void> {
    try {
      const { version } = await visit(url)
      seen.byVersion.set(version, (seen.byVersion.get(version) ?? 0) + 1)
    } catch (error) {
      seen.failed += 1
      seen.reason ??= reasonOf(error)
    }
  }

  async function walk(): Promise<void> {
    for (; !isLeaving; await delay(pauseMs)) visits.push(look())
  }

  void walk()
  return {
    async hasSeen(version, times) {
      while ((seen.byVersion.get(version) ?? 0) < times && seen.failed === 0) await delay(pauseMs)
    },
    async leave() {
      isLeaving = true
      await Promise.all(visits)
      return seen
    },
  }
}
