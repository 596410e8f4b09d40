// One deploy: its progress, its log, its chart, and why it failed.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import { send } from '../api/client.ts'
import { Chart } from '../chart/chart.tsx'
import { progressOf } from '../chart/progress.ts'
import { Strip } from '../chart/strip.tsx'
import { Action } from '../controls/action.tsx'
import { LogViewer } from '../log/viewer.tsx'
import { Mark, toneOf } from '../look/mark.tsx'
import { Age } from '../look/times.tsx'
import { serviceQuery } from '../service/queries.ts'
import { triggerWord, Version } from '../service/version.tsx'
import { NotFound, ProblemNote, toSentence } from '../shell/problem.tsx'
import styles from './deploy.module.css'
import { deployQuery, historyQuery } from './queries.ts'
import { WhyPanel } from './why.tsx'

const statusWords: Record<Deploy['status'], string> = {
  queued: 'Queued',
  running: 'Running',
  live: 'Live',
  deactivated: 'Replaced by a newer deploy',
  failed: 'Failed',
  canceled: 'Canceled',
}

export function DeployPage() {
  const { name, id } = useParams({ from: '/services/$name/deploys/$id' })
  const { data: deploy, error, refetch } = useQuery(deployQuery(id))
  const { data: history } = useQuery(historyQuery(id))
  const { data: service } = useQuery(serviceQuery(name))
  if (error && !deploy) return <ProblemNote error={error} onRetry={() => void refetch()} />
  if (!deploy) return null
  if (service && service.id !== deploy.service_id) return <NotFound />
  const facts = {
    source: deploy.source.kind,
    hasPreDeploy: service != null && service.pre_deploy_command !== null,
    isOnSchedule: service?.type === 'cron_job',
  }
  return (
    <div key={id}>
      <Head name={name} deploy={deploy} />
      {history && <Strip steps={progressOf('deploy', facts, history)!} />}
      {deploy.status === 'failed' && <WhyPanel deploy={deploy} />}
      {deploy.status === 'canceled' && <p className="quiet">{toSentence(deploy.error ?? 'canceled')}</p>}
      <div className={styles.columns}>
        <LogViewer path={`/deploys/${encodeURIComponent(id)}`} />
        {history && <Chart kind="deploy" history={history} />}
      </div>
    </div>
  )
}

function Head({ name, deploy }: { name: string; deploy: Deploy }) {
  const { id, status, created_at: at } = deploy
  return (
    <header className={styles.head}>
      <p className={styles.path}>
        <Link to="/services/$name" params={{ name }}>
          {name}
        </Link>{' '}
        / deploy
      </p>
      <h1>
        <Mark tone={toneOf(status)} /> {statusWords[status]}
      </h1>
      <p>
        <Version deploy={deploy} />
      </p>
      <p className="quiet">
        {triggerWord(deploy)} <Age at={at} /> · <code>{id}</code>
      </p>
      <p className={styles.actions}>
        <Actions name={name} deploy={deploy} />
      </p>
    </header>
  )
}

function Actions({ name, deploy: { id, service_id, status } }: { name: string; deploy: Deploy }) {
  const navigate = useNavigate()
  const follow = (next: Deploy) =>
    void navigate({ to: '/services/$name/deploys/$id', params: { name, id: next.id } })
  if (status === 'queued' || status === 'running') {
    return (
      <Action key="cancel" run={send<Deploy>('POST', `/deploys/${id}/cancel`)}>
        Cancel deploy
      </Action>
    )
  }
  if (status === 'deactivated') {
    const run = send<Deploy>('POST', `/services/${service_id}/rollback`, { deploy_id: id })
    return (
      <Action key="rollback" run={run} onAccepted={follow}>
        Roll back to this deploy
      </Action>
    )
  }
  const run = send<Deploy>('POST', `/services/${service_id}/deploys`, {})
  return (
    <Action key="deploy" run={run} onAccepted={follow}>
      Deploy the newest version
    </Action>
  )
}
