// One deploy: its progress, its outcome, its log, its chart, and what it changes.
import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import type { HistoryEntry } from '../../api/actor.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import type { Facts } from '../chart/lines.ts'
import { labelOfState } from '../chart/lines.ts'
import { waitEvent } from '../chart/progress.ts'
import { actorHistoryQuery } from '../charts/queries.ts'
import { useReplayed } from '../charts/replayed.ts'
import { type Tone, toneOf, wordOf } from '../look/tone.ts'
import { serviceQuery } from '../service/queries.ts'
import { Page } from '../shell/page.tsx'
import { Pending } from '../shell/pending.tsx'
import { NotFound, ProblemNote } from '../shell/problem.tsx'
import { Comparison } from './compare.tsx'
import { Differences } from './differences.tsx'
import { Head } from './head.tsx'
import { Outcome } from './outcome.tsx'
import { ParkedPanel, parkedIn } from './parked.tsx'
import { deployQuery, phaseTimesQuery } from './queries.ts'
import { Run } from './run.tsx'
import { Times } from './times.tsx'

export function DeployPage() {
  const { name, id } = useParams({ from: '/services/$name/deploys/$id' })
  const deploy = useQuery(deployQuery(id))
  const service = useQuery(serviceQuery(name))
  if (!deploy.data || !service.data) return <Pending title={`Deploy · ${name}`} of={[deploy, service]} />
  if (service.data.id !== deploy.data.service_id) return <NotFound />
  return <Shown key={id} service={service.data} deploy={deploy.data} />
}

function Shown({ service, deploy }: { service: Service; deploy: Deploy }) {
  const { compare } = useSearch({ from: '/services/$name/deploys/$id' })
  const { data: history, error, refetch } = useQuery(actorHistoryQuery(deploy.id))
  const { data: usual } = useQuery(phaseTimesQuery(service.id))
  const wasRunning = useRef(false)
  wasRunning.current ||= deploy.status === 'running'
  const replayed = useReplayed(history)
  const { isLive, until, past } = replayed
  const isParked = parkedIn(until)
  const now = stateOf(deploy, history)
  const { word, tone } = past ? stateOf(past.entry, until) : now
  const facts = factsOf(service, deploy)
  return (
    <Page title={`${now.word} · ${service.name}`} mark={now.tone}>
      <Head service={service} deploy={deploy} word={word} tone={tone} isPast={!isLive} />
      <Run
        kind="deploy"
        path={`/deploys/${deploy.id}`}
        command={
          deploy.status === 'failed' ? `berth why ${deploy.id}` : `berth logs --deploy ${deploy.id} -f`
        }
        facts={facts}
        replayed={history && replayed}
        times={usual?.phases}
        deadlineAt={isParked ? null : (deploy.deadline_at ?? null)}
        aside={(steps) => (
          <>
            <Differences service={service} deploy={deploy} />
            {usual && <Times steps={steps} times={usual.phases} count={usual.count} />}
          </>
        )}
      >
        {error && !history && <ProblemNote error={error} onRetry={() => void refetch()} />}
        {isLive && isParked && <ParkedPanel id={deploy.id} history={until} />}
        {isLive && !isParked && <Outcome service={service} deploy={deploy} isNews={wasRunning.current} />}
        {compare !== undefined && <Comparison service={service} deploy={deploy} otherId={compare} />}
      </Run>
    </Page>
  )
}

function factsOf(service: Service, { source }: Deploy): Facts {
  return {
    source: source.kind,
    hasPreDeploy: service.pre_deploy_command !== null,
    isOnSchedule: service.type === 'cron_job',
  }
}

type Recorded = Pick<HistoryEntry, 'status' | 'phase'>

function stateOf({ status, phase }: Recorded, history: HistoryEntry[] = []): { word: string; tone: Tone } {
  if (parkedIn(history)) return { word: 'Parked', tone: 'parked' }
  if (history.at(-1)?.event === waitEvent) return { word: 'Waiting for a build slot', tone: 'waiting' }
  const word = status === 'running' && phase !== null ? labelOfState('deploy', phase) : wordOf(status)
  return { word, tone: toneOf(status) }
}
