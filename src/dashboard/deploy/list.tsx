// All deploys of a service, by day.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { Code } from '../controls/command.tsx'
import { Mark } from '../look/mark.tsx'
import { requesterOf } from '../look/requester.ts'
import { Age, duration } from '../look/times.tsx'
import { toneOf, wordOf } from '../look/tone.ts'
import { isUnderWay } from '../service/state.ts'
import { ServicePage } from '../service/tabs.tsx'
import { triggerWord, Version } from '../service/version.tsx'
import { toSentence } from '../shell/problem.tsx'
import styles from './days.module.css'
import { Days } from './days.tsx'
import { deployQuery, pagesQuery } from './queries.ts'

export function DeployList() {
  return <ServicePage page="Deploys">{(service) => <Deploys service={service} />}</ServicePage>
}

function Deploys({ service: { id, name } }: { service: Service }) {
  const pages = useInfiniteQuery(pagesQuery<Deploy>(id, 'deploys'))
  return (
    <Days
      pages={pages}
      empty={<NoDeploys name={name} />}
      row={(deploy) => <Row name={name} deploy={deploy} />}
    />
  )
}

function NoDeploys({ name }: { name: string }) {
  return (
    <div className={styles.empty}>
      <p>{name} has not been deployed yet. From the folder of its source:</p>
      <Code text={`berth up ${name}`} />
    </div>
  )
}

function Row({ name, deploy: listed }: { name: string; deploy: Deploy }) {
  // The list is read again when the status changes; a running deploy also shows its phase.
  const { data: deploy = listed } = useQuery({ ...deployQuery(listed.id), enabled: isUnderWay(listed) })
  const { id, status, created_at: at, finished_at: finishedAt, by } = deploy
  const requester = requesterOf(by)
  const tookMs = finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(at)
  return (
    <Link to="/services/$name/deploys/$id" params={{ name, id }} className={styles.row}>
      <Mark tone={toneOf(status)} label={wordOf(status)} />
      <span className={styles.what}>
        <Version deploy={deploy} />
      </span>
      <span className={styles.when}>
        <Age at={at} />
      </span>
      <span className={styles.news} data-status={status}>
        {newsOf(deploy)} · {triggerWord(deploy)}
        {requester && ` by ${requester}`}
        {tookMs !== null && ` · took ${duration(tookMs)}`}
      </span>
    </Link>
  )
}

function newsOf({ status, phase, error }: Deploy): string {
  if (status === 'failed') return toSentence(`failed while ${phase ?? 'queued'}: ${error}`).replace(/\.$/, '')
  return wordOf(status === 'running' && phase !== null ? phase : status)
}
