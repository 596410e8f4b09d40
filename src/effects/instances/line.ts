// What happened to an instance, as a line of its service's log and as fields for programs. Pure.
import { constants } from 'node:os'
import { duration } from '../../quantities.ts'

export interface InstanceEvent {
  /** `stopped` instead of `exited` if Berth ended it. */
  type: 'started' | 'exited' | 'stopped' | 'removed'
  exit_code: number | null
  /** The main process was killed at the memory limit. */
  out_of_memory: boolean
  /** Whether Docker or Berth restarts it. */
  restarts: boolean
  /** Docker's delay; null if it is unknown or Berth restarts the instance. */
  restarts_in_ms: number | null
}

const noDetails = { exit_code: null, out_of_memory: false, restarts: false, restarts_in_ms: null }

export const started: InstanceEvent = { type: 'started', ...noDetails }
export const removed: InstanceEvent = { type: 'removed', ...noDetails }

/** `instance 2 exited with code 137 (out of memory); it restarts in 2s` */
export function formatEvent(index: number, event: InstanceEvent): string {
  const subject = `instance ${index + 1}`
  if (event.type === 'started') return `${subject} started`
  if (event.type === 'removed') return `${subject} was removed from Docker`
  const verb = event.type === 'stopped' ? 'was stopped, and exited' : 'exited'
  return `${subject} ${verb} with code ${event.exit_code ?? 'unknown'}${exitText(event)}${restartText(event)}`
}

function exitText({ exit_code, out_of_memory }: InstanceEvent): string {
  if (out_of_memory) return ' (out of memory)'
  const signal = Object.entries(constants.signals).find(([, number]) => number === (exit_code ?? 0) - 128)
  return signal ? ` (${signal[0]})` : ''
}

function restartText({ restarts, restarts_in_ms }: InstanceEvent): string {
  if (!restarts) return ''
  return restarts_in_ms === null ? '; it restarts' : `; it restarts in ${duration(restarts_in_ms)}`
}
