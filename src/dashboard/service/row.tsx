// One service in the list: what is under way, else what needs attention, else the version that serves.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { actorQuery } from '../charts/queries.ts'
import { Action } from '../controls/action.tsx'
import { retryOf } from '../deploy/actions.tsx'
import { useFollow } from '../deploy/follow.ts'
import { useNow } from '../live/clock.ts'
import { Mark } from '../look/mark.tsx'
import { Age, duration } from '../look/times.tsx'
import styles from './services.module.css'
import { canDeploy, isUnderWay, stateWord, toneFor } from './state.ts'
import { triggerWord, Version } from './version.tsx'

export function ServiceRow({ service }: { service: Service }) {
  const { name, latest_deploy: deploy } = service
  const isParked = useIsParked(deploy)
  return (
    <tr>
      <th scope="row">
        <Link to="/services/$name" params={{ name }} className={styles.name} data-row={name}>
          <Mark
            tone={isParked && !service.live_deploy_id ? 'parked' : toneFor(service)}
            label={stateWord(service, isParked)}
          />
          <span>{name}</span>
        </Link>
      </th>
      <td>
        <News service={service} isParked={isParked} />
      </td>
      <td className="quiet">
        {deploy && (
          <>
            <Age at={deploy.finished_at ?? deploy.created_at} /> · {triggerWord(deploy)}
          </>
        )}
        {canDeploy(service) && !isUnderWay(deploy) && deploy?.status !== 'failed' && (
          <span className={styles.deploy}>
            <Start name={name} path={`/services/${service.id}/deploys`} body={{}}>
              Deploy
            </Start>
          </span>
        )}
      </td>
    </tr>
  )
}

/** Its record says that it failed; only the actor says that it can go on. */
function useIsParked(deploy: Deploy | null): boolean {
  const mayBe = deploy?.status === 'failed' && deploy.error_code === 'internal_error'
  const { data: actor } = useQuery({ ...actorQuery(deploy?.id ?? ''), enabled: mayBe })
  return mayBe && actor?.parked != null
}

function News({ service, isParked }: { service: Service; isParked: boolean }) {
  const { name, state, live_deploy_id: liveId, latest_deploy: deploy } = service
  if (deploy === null || ['suspended', 'deleting', 'not_deployed'].includes(state)) return stateWord(service)
  const params = { name, id: deploy.id }
  if (isUnderWay(deploy)) {
    return (
      <Link to="/services/$name/deploys/$id" params={params} className={styles.progress}>
        <Progress deploy={deploy} />
      </Link>
    )
  }
  if (deploy.status === 'failed') return <Failure service={service} deploy={deploy} isParked={isParked} />
  if (state === 'degraded') {
    return (
      <span className={styles.trouble}>
        <span className={styles.unhealthy}>{stateWord(service)}</span>
        <Link to="/services/$name" params={{ name }} className={styles.why}>
          Why?
        </Link>
      </span>
    )
  }
  if (deploy.id === liveId)
    return (
      <span className={styles.version}>
        <Version deploy={deploy} />
      </span>
    )
  if (deploy.status !== 'canceled') return stateWord(service)
  return liveId ? 'The latest deploy was canceled; the previous version still serves' : 'Canceled'
}

interface FailureProps {
  service: Service
  deploy: Deploy
  isParked: boolean
}

function Failure({ service, deploy, isParked }: FailureProps) {
  const { name } = service
  const word = isParked ? 'Parked' : 'Failed'
  return (
    <span className={styles.trouble}>
      <span className={styles.failed}>
        {deploy.phase === null ? word : `${word} while ${deploy.phase}`}: {deploy.error}
      </span>
      <Link to="/services/$name/deploys/$id" params={{ name, id: deploy.id }} className={styles.why}>
        Why?
      </Link>
      {canDeploy(service) && !isParked && (
        <Start name={name} {...retryOf(deploy)}>
          Retry
        </Start>
      )}
    </span>
  )
}

interface StartProps {
  name: string
  path: string
  body?: object
  children: string
}

function Start({ name, path, body, children }: StartProps) {
  return (
    <Action kind="small" keys="d" run={send<Deploy>('POST', path, body)} onAccepted={useFollow(name)}>
      {children}
    </Action>
  )
}

function Progress({ deploy }: { deploy: Deploy }) {
  const now = useNow()
  const word = deploy.phase ?? 'waiting for its turn'
  const since = Date.parse(deploy.started_at ?? deploy.created_at)
  return (
    <>
      {word.charAt(0).toUpperCase() + word.slice(1)} · {duration(now - since)} so far
    </>
  )
}
