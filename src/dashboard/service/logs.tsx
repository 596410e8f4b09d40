// What the instances of a service write, live.
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Command } from '../controls/command.tsx'
import { LogViewer } from '../log/viewer.tsx'
import { Pending } from '../shell/pending.tsx'
import { serviceQuery } from './queries.ts'
import { ServicePage } from './tabs.tsx'

export function ServiceLogs() {
  const { name } = useParams({ from: '/services/$name/logs' })
  const { data: service, error, refetch } = useQuery(serviceQuery(name))
  if (!service) return <Pending title={`Logs · ${name}`} error={error} onRetry={() => void refetch()} />
  const path = `/services/${service.id}/logs`
  return (
    <ServicePage service={service} page="Logs">
      {service.type === 'cron_job' ? (
        <p>
          A cron job has a log for each of its{' '}
          <Link to="/services/$name/jobs" params={{ name }}>
            runs
          </Link>
          .
        </p>
      ) : (
        <>
          <LogViewer path={`/services/${service.id}`} kind="runtime" />
          <p>
            <Command berth={`berth logs ${name} -f`} request={{ method: 'GET', path }} />
          </p>
        </>
      )}
    </ServicePage>
  )
}
