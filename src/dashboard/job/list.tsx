// The job runs of a service, by day.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { JobRun } from '../../api/job.ts'
import type { Service } from '../../api/service.ts'
import { Code } from '../controls/command.tsx'
import styles from '../deploy/days.module.css'
import { Days } from '../deploy/days.tsx'
import { pagesQuery } from '../deploy/queries.ts'
import { Mark } from '../look/mark.tsx'
import { requesterOf } from '../look/requester.ts'
import { Age, duration } from '../look/times.tsx'
import { toneOf, wordOf } from '../look/tone.ts'
import { ServicePage } from '../service/tabs.tsx'
import { RunCommand, triggerOf } from './command.tsx'

export function JobList() {
  return <ServicePage page="Jobs">{(service) => <Jobs service={service} />}</ServicePage>
}

function Jobs({ service }: { service: Service }) {
  const { id, name } = service
  const pages = useInfiniteQuery(pagesQuery<JobRun>(id, 'jobs'))
  return (
    <>
      <HowToRun service={service} />
      <Days
        pages={pages}
        empty={<p className="quiet">Nothing has run yet.</p>}
        row={(run) => <Row name={name} run={run} />}
      />
    </>
  )
}

function HowToRun({ service: { name, type } }: { service: Service }) {
  if (type === 'static_site') return null
  const text = type === 'cron_job' ? `berth run ${name}` : `berth run ${name} -- COMMAND`
  return (
    <div className={styles.bar}>
      <details>
        <summary>Run a job</summary>
        <Code text={text} />
      </details>
    </div>
  )
}

function Row({ name, run }: { name: string; run: JobRun }) {
  const { id, status, exit_code: exitCode, created_at: at, started_at: startedAt, finished_at: endedAt } = run
  const requester = run.trigger === 'schedule' ? '' : requesterOf(run.by)
  const tookMs = startedAt && endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : null
  const facts = [
    exitCode === null || exitCode === 0 ? (run.error ?? wordOf(status)) : `Exited with code ${exitCode}`,
    `${triggerOf(run)}${requester && ` by ${requester}`}`,
    tookMs === null ? null : `took ${duration(tookMs)}`,
  ]
  return (
    <Link to="/services/$name/jobs/$id" params={{ name, id }} className={styles.row}>
      <Mark tone={toneOf(status)} label={wordOf(status)} />
      <span className={styles.what}>
        <RunCommand {...run} />
      </span>
      <span className={styles.when}>
        <Age at={at} />
      </span>
      <span className={styles.news} data-status={status}>
        {facts.filter((fact) => fact !== null).join(' · ')}
      </span>
    </Link>
  )
}
