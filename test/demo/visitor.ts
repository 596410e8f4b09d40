// Somebody who keeps asking for the page of one version, to see whether a deploy of another is felt.
import { setTimeout as delay } from 'node:timers/promises'
import { visit } from './page.ts'
import { reasonOf } from './trouble.ts'

export interface Visits {
  answered: number
  failed: number
  /** Why the first one failed that did. */
  reason: string | null
}

export interface Visitor {
  /** So far, those that were as they should be. */
  answers(): number
  /** Ends the visits, and counts those that began before `until` (RFC 3339). */
  leave(until?: string): Promise<Visits>
}

const pauseMs = 10

/** An answer of another version counts as failed. */
export function sendVisitor(url: string, version: string): Visitor {
  const visits: { beganAt: number; failure: Promise<string | null> }[] = []
  let answers = 0
  let isLeaving = false

  async function walk(): Promise<void> {
    while (!isLeaving) {
      const visit = { beganAt: Date.now(), failure: failureOf(url, version) }
      visits.push(visit)
      if ((await visit.failure) === null) answers++
      await delay(pauseMs)
    }
  }

  void walk()
  return {
    answers: () => answers,
    async leave(until) {
      isLeaving = true
      const endAt = until === undefined ? Date.now() : Date.parse(until)
      const counted = visits.filter(({ beganAt }) => beganAt < endAt)
      const outcomes = await Promise.all(counted.map(({ failure }) => failure))
      const failures = outcomes.filter((failure) => failure !== null)
      return {
        answered: outcomes.length - failures.length,
        failed: failures.length,
        reason: failures[0] ?? null,
      }
    },
  }
}

async function failureOf(url: string, version: string): Promise<string | null> {
  try {
    const page = await visit(url)
    return page.version === version ? null : `the page said ${page.version} instead of ${version}`
  } catch (error) {
    return reasonOf(error)
  }
}
