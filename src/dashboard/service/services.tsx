// All services of the server, live.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { useNow } from '../live/clock.ts'
import { Mark } from '../look/mark.tsx'
import { Age, duration } from '../look/times.tsx'
import { ProblemNote } from '../shell/problem.tsx'
import { servicesQuery } from './queries.ts'
import styles from './services.module.css'
import { isUnderWay, stateWord, toneFor } from './state.ts'
import { triggerWord, Version } from './version.tsx'

export function Services() {
  const [q, setQ] = useState(useSearch({ from: '/services' }).q ?? '')
  const navigate = useNavigate({ from: '/services' })
  const { data: services, error, refetch } = useQuery(servicesQuery)
  const filter = (text: string) => {
    setQ(text)
    void navigate({ search: text === '' ? {} : { q: text }, replace: true })
  }
  if (error && !services) return <ProblemNote error={error} onRetry={() => void refetch()} />
  const shown = services?.filter(({ name }) => name.includes(q.toLowerCase()))
  return (
    <>
      <header className={styles.head}>
        <h1>Services {services && <span className="quiet">{services.length}</span>}</h1>
        <input
          type="search"
          aria-label="Filter by name"
          placeholder="Filter"
          value={q}
          onChange={({ target }) => filter(target.value)}
        />
      </header>
      {services?.length === 0 && <NoServices />}
      {shown && services!.length > 0 && (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Service</th>
              <th scope="col">Version</th>
              <th scope="col">Deployed</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((service) => (
              <Row key={service.id} service={service} />
            ))}
          </tbody>
        </table>
      )}
      {shown?.length === 0 && q !== '' && <p className="quiet">No service is called like {q}.</p>}
    </>
  )
}

function NoServices() {
  return (
    <section className={styles.empty}>
      <p>Nothing is deployed yet. In the folder of an application:</p>
      <pre>
        berth login {location.origin}
        {'\n'}berth up
      </pre>
    </section>
  )
}

function Row({ service }: { service: Service }) {
  const { name, latest_deploy: deploy } = service
  return (
    <tr>
      <th scope="row">
        <Link to="/services/$name" params={{ name }} className={styles.name}>
          <Mark tone={toneFor(service)} label={stateWord(service)} />
          <span>{name}</span>
        </Link>
      </th>
      <td>
        <News service={service} />
      </td>
      <td className="quiet">
        {deploy && (
          <>
            <Age at={deploy.finished_at ?? deploy.created_at} /> · {triggerWord(deploy)}
          </>
        )}
      </td>
    </tr>
  )
}

/** What is under way, else what needs attention, else the version that serves. */
function News({ service }: { service: Service }) {
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
  if (deploy.status === 'failed') {
    return (
      <Link to="/services/$name/deploys/$id" params={params} className={styles.failed}>
        {deploy.phase === null ? 'Failed' : `Failed while ${deploy.phase}`}: {deploy.error}
      </Link>
    )
  }
  if (state === 'degraded') return stateWord(service)
  if (deploy.id === liveId) return <Version deploy={deploy} />
  if (deploy.status !== 'canceled') return stateWord(service)
  return liveId ? 'The newest deploy was canceled; the one before it serves' : 'Canceled'
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
