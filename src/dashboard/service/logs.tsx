// What the instances of a service write, and the requests to it, live.
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { Service } from '../../api/service.ts'
import { Command } from '../controls/command.tsx'
import type { LogSearch } from '../log/filter.ts'
import { LogViewer } from '../log/viewer.tsx'
import type { LogPlace } from './log-place.ts'
import styles from './logs.module.css'
import { ServicePage } from './tabs.tsx'

export function ServiceLogs() {
  return (
    <ServicePage page="Logs">
      {(service) =>
        service.type === 'cron_job' ? (
          <p>
            A cron job has a log for each of its{' '}
            <Link to="/services/$name/jobs" params={{ name: service.name }}>
              runs
            </Link>
            .
          </p>
        ) : (
          <Logs service={service} />
        )
      }
    </ServicePage>
  )
}

function Logs({ service: { id, name } }: { service: Service }) {
  const place = useSearch({ from: '/services/$name/logs' })
  const navigate = useNavigate()
  const isAccess = place.kind === 'access'
  const path = `/services/${id}`
  const go = (search: LogPlace, rest: { hash?: true; replace?: true } = {}) =>
    void navigate({ to: '/services/$name/logs', params: { name }, search, resetScroll: false, ...rest })
  const show = (search: LogSearch) =>
    go({ ...(isAccess && { kind: 'access' }), ...toPlace(search) }, { hash: true, replace: true })
  return (
    <>
      <div className={styles.kinds}>
        <button type="button" aria-pressed={!isAccess} onClick={() => go({})}>
          Output
        </button>
        <button type="button" aria-pressed={isAccess} onClick={() => go({ kind: 'access' })}>
          Requests
        </button>
      </div>
      <LogViewer
        key={`${id} ${place.kind}`}
        path={path}
        kind={isAccess ? 'access' : 'runtime'}
        search={toSearch(place)}
        onSearch={show}
      />
      <p className={styles.more}>
        <Command
          berth={`berth logs ${name} -f${isAccess ? ' --access' : ''}`}
          request={{ method: 'GET', path: `${path}/logs${isAccess ? '?access=true' : ''}` }}
        />
      </p>
    </>
  )
}

function toSearch({ q = '', stream = '', instance, status }: LogPlace): LogSearch {
  return { query: q, stream, instance: `${instance ?? ''}`, status: `${status ?? ''}` }
}

function toPlace({ query, stream, instance, status }: LogSearch): LogPlace {
  return {
    ...(query !== '' && { q: query }),
    ...(stream !== '' && { stream }),
    ...(instance !== '' && { instance: Number(instance) }),
    ...(status !== '' && { status: Number(status) }),
  }
}
