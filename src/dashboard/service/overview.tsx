// One service: what runs now, and its recent deploys.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import type { ServiceStatus } from '../../api/status.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Mark, type Tone, toneOf } from '../look/mark.tsx'
import { Age } from '../look/times.tsx'
import { ProblemNote, toSentence } from '../shell/problem.tsx'
import styles from './overview.module.css'
import { deploysQuery, serviceQuery, statusQuery } from './queries.ts'
import { stateWord, toneFor } from './state.ts'
import { triggerWord, Version } from './version.tsx'

export function Overview() {
  const { name } = useParams({ from: '/services/$name' })
  const { data: service, error, refetch } = useQuery(serviceQuery(name))
  if (error && !service) return <ProblemNote error={error} onRetry={() => void refetch()} />
  if (!service) return null
  return (
    <>
      <Head service={service} />
      <div className={styles.columns}>
        <Instances service={service} />
        <Deploys service={service} />
      </div>
    </>
  )
}

function Head({ service }: { service: Service }) {
  const { name, state, url } = service
  const canRun = state !== 'deleting' && state !== 'suspended'
  const navigate = useNavigate()
  const path = `/services/${encodeURIComponent(name)}`
  const follow = ({ id }: Deploy) =>
    void navigate({ to: '/services/$name/deploys/$id', params: { name, id } })
  return (
    <header className={styles.head}>
      <h1>{name}</h1>
      <p>
        <Mark tone={toneFor(service)} /> {stateWord(service)}
        {url && (
          <>
            {' · '}
            <a href={url} target="_blank" rel="noreferrer">
              {url.replace(/^https?:\/\//, '')}
            </a>
          </>
        )}
      </p>
      <p className={styles.actions}>
        {canRun && (
          <Action kind="main" run={send<Deploy>('POST', `${path}/deploys`, {})} onAccepted={follow}>
            Deploy
          </Action>
        )}
        {canRun && service.live_deploy_id !== null && (
          <Action run={send<Deploy>('POST', `${path}/restart`)} onAccepted={follow}>
            Restart
          </Action>
        )}
      </p>
    </header>
  )
}

function Instances({ service: { id } }: { service: Service }) {
  const { data: status, error, isPending } = useQuery(statusQuery(id))
  return (
    <section className={styles.panel}>
      <h2>Running now</h2>
      {error && <ProblemNote error={error} />}
      {isPending && <p className="quiet">Measuring…</p>}
      {status?.reason && <p>{toSentence(status.reason)}</p>}
      {status?.instances.length === 0 && <p className="quiet">Nothing runs.</p>}
      <ul className={styles.list}>
        {status?.instances.map((instance) => (
          <Instance key={instance.container_id} instance={instance} />
        ))}
      </ul>
    </section>
  )
}

function Instance({ instance }: { instance: ServiceStatus['instances'][number] }) {
  const { name, state, role, address, memory_bytes: bytes, restart_count: restarts, health } = instance
  const facts = [
    address,
    role === 'live' ? null : role,
    health === 'healthy' ? null : health,
    instance.oom_killed ? 'was out of memory' : null,
    bytes === null ? null : `${Math.round(bytes / 1024 / 1024)} MB`,
    restarts > 0 ? `${restarts} restarts` : null,
  ]
  return (
    <li>
      <Mark tone={toneOfInstance(instance)} /> <code>{name}</code>
      <span className="quiet"> {[state, ...facts].filter((fact) => fact !== null).join(' · ')}</span>
    </li>
  )
}

function toneOfInstance({ state, health }: ServiceStatus['instances'][number]): Tone {
  if (state === 'restarting' || health === 'starting') return 'working'
  if (state !== 'running') return 'stopped'
  return health === 'unhealthy' ? 'unhealthy' : 'healthy'
}

function Deploys({ service: { id, name } }: { service: Service }) {
  const { data: deploys } = useQuery(deploysQuery(id))
  return (
    <section className={styles.panel}>
      <h2>Deploys</h2>
      {deploys?.length === 0 && <p className="quiet">None yet.</p>}
      <ul className={styles.list}>
        {deploys?.map((deploy) => (
          <li key={deploy.id}>
            <Link to="/services/$name/deploys/$id" params={{ name, id: deploy.id }} className={styles.deploy}>
              <Mark tone={toneOf(deploy.status)} label={deploy.status} />
              <span>
                <Version deploy={deploy} />
              </span>
              <span className="quiet">
                {triggerWord(deploy)} <Age at={deploy.finished_at ?? deploy.created_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
