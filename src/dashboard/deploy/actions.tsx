// What can be done with a deploy in its present state.
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { shortId } from '../look/short-id.ts'
import { useFollow } from './follow.ts'
import { RollbackButton } from './rollback.tsx'

interface ActionsProps {
  service: Service
  deploy: Deploy
}

export function Actions({ service, deploy }: ActionsProps) {
  const { id, status } = deploy
  const follow = useFollow(service.name)
  const isRefused = service.state === 'suspended' || service.state === 'deleting'
  if (status === 'queued' || status === 'running') {
    return (
      <Action key="cancel" run={send<Deploy>('POST', `/deploys/${id}/cancel`)} accepted={() => 'Canceling…'}>
        Cancel deploy
      </Action>
    )
  }
  if (isRefused) return null
  if (status === 'deactivated') {
    return (
      <RollbackButton name={service.name} target={deploy} liveId={service.live_deploy_id}>
        Roll back to this deploy
      </RollbackButton>
    )
  }
  if (status === 'live') {
    return (
      <Action key="restart" run={send<Deploy>('POST', `/services/${service.id}/restart`)} onAccepted={follow}>
        Restart
      </Action>
    )
  }
  // Why a deploy failed comes with its own button.
  return status === 'failed' ? null : <Retry service={service} deploy={deploy} />
}

/** Requests the same again: the same commit, the same image for a restart or a rollback. */
export function Retry({ service, deploy, kind }: ActionsProps & { kind?: 'main' }) {
  const { path, body } = retryOf(deploy)
  return (
    <Action
      key="retry"
      kind={kind ?? 'plain'}
      run={send<Deploy>('POST', path, body)}
      accepted={({ id }) => `Queued as ${shortId(id)}`}
      onAccepted={useFollow(service.name)}
    >
      Retry
    </Action>
  )
}

export function retryOf({ service_id, trigger, source }: Deploy): { path: string; body?: object } {
  const path = `/services/${service_id}`
  if (trigger === 'restart') return { path: `${path}/restart` }
  if (source.kind === 'reuse') return { path: `${path}/rollback`, body: { deploy_id: source.deploy_id } }
  return { path: `${path}/deploys`, body: source.commit === null ? {} : { commit: source.commit } }
}
