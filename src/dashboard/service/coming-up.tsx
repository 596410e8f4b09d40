// What will happen to a service by itself: the next run of a cron job, the renewal of a certificate.
import { useQuery } from '@tanstack/react-query'
import type { Service } from '../../api/service.ts'
import { Mark } from '../look/mark.tsx'
import { Until } from '../look/times.tsx'
import { toneOf } from '../look/tone.ts'
import { toSentence } from '../shell/problem.tsx'
import styles from './overview.module.css'
import { certificatesQuery, scheduleQuery } from './queries.ts'

export function ComingUp({ service }: { service: Service }) {
  const isCron = service.type === 'cron_job'
  const { data: schedule } = useQuery({ ...scheduleQuery(service.id), enabled: isCron })
  const { data: certificates = [] } = useQuery({
    ...certificatesQuery(service.id),
    enabled: service.hosts.length > 0,
  })
  const next = schedule?.next[0]
  if (!next && !schedule?.error && certificates.length === 0) return null
  return (
    <section className={styles.panel}>
      <h2>Coming up</h2>
      <ul className={styles.list}>
        {schedule?.error && (
          <li>
            <Mark tone="failed" /> {toSentence(schedule.error)}
          </li>
        )}
        {next && (
          <li>
            <Mark tone="waiting" /> Next run <Until at={next} />
          </li>
        )}
        {certificates.map(({ id, host, status, error, renews_at: renewsAt }) => (
          <li key={id}>
            <Mark tone={status === 'valid' && error ? 'unhealthy' : toneOf(status)} label={status} />{' '}
            Certificate of {host}{' '}
            <span className="quiet">
              {error ? (
                toSentence(error)
              ) : renewsAt ? (
                <>
                  renews <Until at={renewsAt} />
                </>
              ) : (
                status
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
