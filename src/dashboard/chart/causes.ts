// Why an actor moved, in words.
import { eventWords } from './words.ts'

const ownWords: Record<string, string> = {
  created: 'Requested',
  parked: 'Parked after an error',
  retried: 'Tried again',
  discarded: 'Discarded',
}

/** The ends of waits, and of steps whose names are not words. A test requires one for each wait. */
export const endWords: Record<string, string> = {
  awaitAnswer: 'The server answered',
  awaitBackupTime: 'A backup is due',
  awaitChecks: 'The checks, the source or the settings changed',
  awaitExpiry: 'It expired',
  awaitInput: 'The client is connected',
  awaitInstant: 'A run is due, or its plan changed',
  awaitNews: 'The deploy has news',
  awaitPlan: 'Its settings changed',
  awaitRenewal: 'A renewal is due',
  awaitResume: 'Its plan changed',
  awaitRetry: 'The pause is over',
  awaitTurn: 'Its turn came',
  followRun: 'The command ended',
  keepDatastore: 'The server ended',
  keepInstances: 'It was replaced or stopped',
  keepRoutes: 'The proxy ended',
  keepWatch: 'A check is due',
  runPreDeploy: 'The pre-deploy command succeeded',
  sleepUntil: 'The pause is over',
  watchSource: 'The source or the settings changed',
}

/** `fetchSource.done` → `Fetching source succeeded`. */
export function causeWords(event: string): string {
  const [, slot, outcome] = /^(\w+)\.(done|failed)$/.exec(event) ?? []
  if (slot === undefined) return ownWords[event] ?? capital(eventWords[event] ?? event)
  const known = endWords[slot]
  if (known && outcome === 'done') return known
  const [verb = '', ...rest] = slot.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ')
  return capital([gerund(verb), ...rest, outcome === 'failed' ? 'failed' : 'succeeded'].join(' '))
}

function gerund(verb: string): string {
  if (verb.endsWith('e')) return `${verb.slice(0, -1)}ing`
  return /^(run|stop|begin)$/.test(verb) ? `${verb}${verb.at(-1)}ing` : `${verb}ing`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The innermost states: `wanted.life.available wanted.limits.settled` → `available · settled`. */
export function stateWords(state: string): string {
  return state
    .split(' ')
    .map((path) => path.split('.').at(-1))
    .join(' · ')
}

/** Where a transition led from and to; of several regions only those that it changed. */
export function moveWords(from: string | null, to: string): { from: string; to: string } {
  if (from === null) return { from: '', to: stateWords(to) }
  const [before, after] = [from.split(' '), to.split(' ')]
  const changed = after.flatMap((path, index) => (path === before[index] ? [] : [index]))
  if (before.length !== after.length || changed.length === 0)
    return { from: stateWords(from), to: stateWords(to) }
  const pick = (paths: string[]) => stateWords(changed.map((index) => paths[index]).join(' '))
  return { from: pick(before), to: pick(after) }
}
