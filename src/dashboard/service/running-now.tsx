// The version that serves, its instances as Docker reports them, and its traffic.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import type { ServiceStatus } from '../../api/status.ts'
import { Loading } from '../controls/loading.tsx'
import { Mark } from '../look/mark.tsx'
import { Age } from '../look/times.tsx'
import type { Tone } from '../look/tone.ts'
import { ProblemNote, toSentence } from '../shell/problem.tsx'
import styles from './overview.module.css'
import { deploysQuery, statusQuery } from './queries.ts'
import { triggerWord, Version } from './version.tsx'

export function RunningNow({ service: { id, name, live_deploy_id: liveId } }: { service: Service }) {
  const { data: status, error, isPending, refetch } = useQuery(statusQuery(id))
  const { data: deploys } = useQuery(deploysQuery(id))
  const live = deploys?.find((deploy) => deploy.id === liveId)
  return (
    <section className={styles.panel}>
      <h2>Running now</h2>
      {live && <LiveVersion name={name} deploy={live} />}
      {error && !status && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {error && status && (
        <p className={styles.trouble}>Docker does not respond. These are the last known instances.</p>
      )}
      {isPending && <Loading rows={2} />}
      {status?.reason && <p className={styles.trouble}>{toSentence(status.reason)}</p>}
      {status?.instances.length === 0 && <p className="quiet">No instances.</p>}
      {status && status.instances.length > 0 && (
        <ul className={styles.list} data-stale={error !== null}>
          {status.instances.map((instance) => (
            <Instance key={instance.container_id} instance={instance} />
          ))}
        </ul>
      )}
      {status?.traffic && <Traffic traffic={status.traffic} />}
    </section>
  )
}

function LiveVersion({ name, deploy }: { name: string; deploy: Deploy }) {
  return (
    <p>
      <Link to="/services/$name/deploys/$id" params={{ name, id: deploy.id }} className={styles.version}>
        <Version deploy={deploy} />
      </Link>{' '}
      <span className="quiet">
        · went live <Age at={deploy.finished_at ?? deploy.created_at} /> · {triggerWord(deploy)}
      </span>
    </p>
  )
}

function Instance({ instance }: { instance: ServiceStatus['instances'][number] }) {
  const { name, state, role, address, memory_bytes: bytes, restart_count: restarts, health } = instance
  const { cpu_percent: cpu, memory_limit_bytes: limit, oom_killed: wasOutOfMemory } = instance
  const facts = [
    role === 'live' ? null : role,
    health === 'healthy' ? null : health,
    wasOutOfMemory ? 'ran out of memory' : null,
    restarts > 0 ? `${restarts} restarts` : null,
    cpu === null ? null : `${Math.round(cpu)}% CPU`,
    bytes === null ? null : `${mib(bytes)}${limit === null ? '' : `/${mib(limit)}`} MB`,
  ]
  return (
    <li className={styles.instance}>
      <Mark tone={toneOfInstance(instance)} label={state} />
      <span>
        <code>{address ?? name}</code>
        {state !== 'running' && ` ${state}`}
      </span>
      <span className="quiet figure">{facts.filter((fact) => fact !== null).join(' · ')}</span>
    </li>
  )
}

function mib(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}

function toneOfInstance({ state, health }: ServiceStatus['instances'][number]): Tone {
  if (state === 'restarting' || health === 'starting') return 'working'
  if (state !== 'running') return 'stopped'
  return health === 'unhealthy' ? 'unhealthy' : 'healthy'
}

function Traffic({ traffic }: { traffic: NonNullable<ServiceStatus['traffic']> }) {
  const { window_seconds: seconds, requests, errors, p95_ms: p95 } = traffic
  const rate = requests / Math.max(1, seconds / 60)
  return (
    <p className="quiet figure">
      {rate > 0 && rate < 10 ? rate.toFixed(1) : Math.round(rate)} requests/min · {errors}{' '}
      {errors === 1 ? 'error' : 'errors'}
      {p95 !== null && ` · p95 ${Math.round(p95)} ms`}
    </p>
  )
}
