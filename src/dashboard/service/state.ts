// The state of a service in a word and a mark: what serves, and what is under way.
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { type Tone, toneOf, wordOf } from '../look/tone.ts'

type State = Pick<Service, 'state' | 'live_deploy_id' | 'latest_deploy'>

const words: Record<string, string> = {
  not_deployed: 'Not deployed yet',
  deploying: 'First deploy in progress',
  degraded: 'Degraded: instances are missing or keep crashing',
  deleting: 'Being deleted',
}

export function isUnderWay(deploy: Pick<Deploy, 'status'> | null): boolean {
  return deploy?.status === 'queued' || deploy?.status === 'running'
}

export function canDeploy({ state }: Pick<Service, 'state'>): boolean {
  return state !== 'deleting' && state !== 'suspended'
}

export function stateWord(service: State, isParked = false): string {
  const { state, live_deploy_id: liveId, latest_deploy: latest } = service
  if (state === 'deploying' && liveId) return 'Live, a deploy is in progress'
  if (state === 'live' && latest?.status === 'failed')
    return `Live, the latest deploy ${isParked ? 'is parked' : 'failed'}`
  if (isParked && !liveId) return 'Parked'
  return words[state] ?? wordOf(state)
}

/** A failed deploy of a service that serves is a warning. */
export function toneFor({ state, latest_deploy: latest }: State): Tone {
  if (state === 'deploying') return 'working'
  return state === 'live' && latest?.status === 'failed' ? 'unhealthy' : toneOf(state)
}
