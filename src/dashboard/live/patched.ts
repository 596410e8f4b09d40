// A record after a transition, as far as the transition shows it.
import type { Transition } from '../../api/actor.ts'

interface Known {
  status: string
  phase?: string | null
  revision: number
}

/** As it is if it has seen the transition. */
export function patched<Record extends Known>(record: Record, transition: Transition): Record {
  const { status, phase, revision } = transition
  if (record.revision >= revision) return record
  return { ...record, status, ...('phase' in record && { phase }), revision }
}
