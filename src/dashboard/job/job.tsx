// One job run: its progress, its outcome, its log and its chart.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useRef } from 'react'
import type { HistoryEntry } from '../../api/actor.ts'
import type { JobRun } from '../../api/job.ts'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { actorHistoryQuery } from '../charts/queries.ts'
import { useReplayed } from '../charts/replayed.ts'
import { Action } from '../controls/action.tsx'
import styles from '../deploy/deploy.module.css'
import { ParkedPanel, parkedIn } from '../deploy/parked.tsx'
import { Run } from '../deploy/run.tsx'
import { RunHead } from '../deploy/run-head.tsx'
import { WhyPanel } from '../deploy/why.tsx'
import { requesterOf } from '../look/requester.ts'
import { shortId } from '../look/short-id.ts'
import { Age } from '../look/times.tsx'
import { type Tone, toneOf, wordOf } from '../look/tone.ts'
import { serviceQuery } from '../service/queries.ts'
import { Page } from '../shell/page.tsx'
import { Pending } from '../shell/pending.tsx'
import { NotFound, ProblemNote, toSentence } from '../shell/problem.tsx'
import { RunCommand, triggerOf } from './command.tsx'
import { jobQuery } from './queries.ts'

export function JobPage() {
  const { name, id } = useParams({ from: '/services/$name/jobs/$id' })
  const run = useQuery(jobQuery(id))
  const service = useQuery(serviceQuery(name))
  if (!run.data || !service.data) return <Pending title={`Run · ${name}`} of={[run, service]} />
  if (service.data.id !== run.data.service_id) return <NotFound />
  return <Shown key={id} service={service.data} run={run.data} />
}

function Shown({ service, run }: { service: Service; run: JobRun }) {
  const { id, status } = run
  const { data: history, error, refetch } = useQuery(actorHistoryQuery(id))
  const wasRunning = useRef(false)
  wasRunning.current ||= status === 'running'
  const replayed = useReplayed(history)
  const { isLive, until, past } = replayed
  const isParked = parkedIn(until)
  const now = stateOf(status, history)
  const { word, tone } = past ? stateOf(past.entry.status, until) : now
  return (
    <Page title={`${now.word} · job of ${service.name}`} mark={now.tone}>
      <Head service={service} run={run} word={word} tone={tone} isPast={!isLive} />
      <Run
        kind="job-run"
        path={`/jobs/${id}`}
        command={status === 'failed' ? `berth why ${id}` : `berth logs --job ${id} -f`}
        facts={{}}
        replayed={history && replayed}
        deadlineAt={isParked ? null : (run.deadline_at ?? null)}
      >
        {error && !history && <ProblemNote error={error} onRetry={() => void refetch()} />}
        {isLive && isParked && <ParkedPanel id={id} history={until} />}
        {isLive && !isParked && status === 'failed' && (
          <WhyPanel title="The run failed" path={`/jobs/${id}`} record={run} isNews={wasRunning.current}>
            <Again service={service} run={run} />
          </WhyPanel>
        )}
        {isLive && status === 'canceled' && (
          <p className={styles.outcome}>{toSentence(run.error ?? 'canceled')}</p>
        )}
      </Run>
    </Page>
  )
}

function stateOf(status: string, history: HistoryEntry[] = []): { word: string; tone: Tone } {
  const shown = parkedIn(history) ? 'parked' : status
  return { word: shown === 'pending' ? 'Waiting' : wordOf(shown), tone: toneOf(shown) }
}

interface HeadProps {
  service: Service
  run: JobRun
  word: string
  tone: Tone
  isPast: boolean
}

function Head({ service, run, word, tone, isPast }: HeadProps) {
  const { name } = service
  const { id, status, exit_code: exitCode, deploy_id: deployId } = run
  const requester = run.trigger === 'schedule' ? '' : requesterOf(run.by)
  return (
    <RunHead
      service={name}
      list="jobs"
      id={id}
      word={word}
      tone={tone}
      actions={
        isPast ? null : status === 'pending' || status === 'running' ? (
          <Action run={send<JobRun>('POST', `/jobs/${id}/cancel`)} accepted={() => 'Canceling…'}>
            Cancel run
          </Action>
        ) : (
          status !== 'failed' && <Again service={service} run={run} />
        )
      }
    >
      <p>
        <RunCommand {...run} />
        <span className="quiet">
          {' · '}
          {triggerOf(run)} <Age at={run.created_at} />
          {requester && ` by ${requester}`}
          {exitCode !== null && !isPast && ` · exit code ${exitCode}`}
          {deployId !== null && (
            <>
              {' · runs the version of '}
              <Link to="/services/$name/deploys/$id" params={{ name, id: deployId }}>
                {shortId(deployId)}
              </Link>
            </>
          )}
        </span>
      </p>
    </RunHead>
  )
}

function Again({ service: { id, name }, run }: Pick<HeadProps, 'service' | 'run'>) {
  const { command, timeout_seconds: timeout } = run
  const navigate = useNavigate()
  const body = { ...(command !== null && { command }), timeout_seconds: timeout }
  return (
    <Action
      run={send<JobRun>('POST', `/services/${id}/jobs`, body)}
      onAccepted={(run) => void navigate({ to: '/services/$name/jobs/$id', params: { name, id: run.id } })}
    >
      Run again
    </Action>
  )
}
