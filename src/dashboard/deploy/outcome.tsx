// How a deploy ended: its address and the way back, or why it failed and the next step.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { Code } from '../controls/command.tsx'
import { shortId } from '../look/short-id.ts'
import { toSentence } from '../shell/problem.tsx'
import { Retry } from './actions.tsx'
import styles from './deploy.module.css'
import { diffQuery, formerQuery } from './queries.ts'
import { RollbackButton } from './rollback.tsx'
import { WhyPanel } from './why.tsx'

interface OutcomeProps {
  service: Service
  deploy: Deploy
  /** It ended while this page was open. */
  isNews: boolean
}

export function Outcome(props: OutcomeProps) {
  const { service, deploy } = props
  if (deploy.status === 'failed') return <Failure {...props} />
  if (deploy.status === 'canceled') return <Canceled service={service} deploy={deploy} />
  if (deploy.id !== service.live_deploy_id) return null
  return (
    <div className={styles.outcome}>
      <Address service={service} />
      <Undo service={service} deploy={deploy} />
      <Warnings service={service} deploy={deploy} />
    </div>
  )
}

function Failure({ service, deploy, isNews }: OutcomeProps) {
  const { phase, id } = deploy
  const { data: former } = useQuery(formerQuery(service.id, service.live_deploy_id))
  const target = former?.[0]
  const isAboutKey = deploy.error_code === 'host_key_changed' || deploy.error_details?.reason === 'deploy_key'
  return (
    <WhyPanel
      title={`Failed while ${phase ?? 'queued'}`}
      path={`/deploys/${id}`}
      record={deploy}
      isNews={isNews}
    >
      <Retry service={service} deploy={deploy} kind="main" />
      {target && (
        <RollbackButton name={service.name} target={target} liveId={service.live_deploy_id}>
          Roll back to {shortId(target.id)}
        </RollbackButton>
      )}
      {isAboutKey && (
        <Link to="/services/$name/auto-deploys" params={{ name: service.name }} hash="deploy-key">
          Deploy key
        </Link>
      )}
    </WhyPanel>
  )
}

function Canceled({ service: { name }, deploy }: Pick<OutcomeProps, 'service' | 'deploy'>) {
  const newer = deploy.error_details?.deploy_id
  return (
    <p className={styles.outcome}>
      {toSentence(deploy.error ?? 'canceled')}{' '}
      {newer && (
        <Link to="/services/$name/deploys/$id" params={{ name, id: String(newer) }}>
          Follow {shortId(String(newer))}
        </Link>
      )}
    </p>
  )
}

function Address({ service }: Pick<OutcomeProps, 'service'>) {
  const { url, internal_host: host, internal_port: port } = service
  if (url !== null) {
    return (
      <p>
        Live at{' '}
        <a href={url} target="_blank" rel="noreferrer">
          {url}
        </a>
      </p>
    )
  }
  if (host === null) return <p>It is running.</p>
  return (
    <p>
      Other services reach it at{' '}
      <code>
        {host}:{port}
      </code>
      .
    </p>
  )
}

/** For as long as a rollback is possible. */
function Undo({ service, deploy }: Pick<OutcomeProps, 'service' | 'deploy'>) {
  const { data: former } = useQuery(formerQuery(service.id, service.live_deploy_id))
  const target = former?.find(({ id }) => id < deploy.id)
  const diff = useQuery({ ...diffQuery(target?.id ?? '', deploy.id), enabled: target !== undefined })
  if (!target || diff.data?.obstacle !== null) return null
  return (
    <RollbackButton name={service.name} target={target} liveId={deploy.id}>
      Undo: roll back to {shortId(target.id)}
    </RollbackButton>
  )
}

function Warnings({ service: { name }, deploy: { warnings } }: Pick<OutcomeProps, 'service' | 'deploy'>) {
  return warnings?.map(({ code, path, ...rest }) => (
    <section key={code + path + rest.reason} className={styles.warning}>
      <Warning code={code} path={path} {...rest} />
      <Code text={`berth update ${name} ${code === 'page_fails' ? '--health-path' : '--disk'} ${path}`} />
    </section>
  ))
}

function Warning({ code, path, status, reason }: NonNullable<OutcomeProps['deploy']['warnings']>[number]) {
  if (code === 'page_fails')
    return (
      <p>
        <code>{path}</code> answered {status}, and only the port was checked. With a health path, a version
        that fails does not replace the one that serves:
      </p>
    )
  if (code === 'data_without_disk')
    return (
      <p>
        {reason}. Without a disk there, it is lost with each deploy and restart. To keep it (with one
        instance, and short gaps at deploys):
      </p>
    )
  return (
    <p>
      The image keeps data in <code>{path}</code>, where the service has no disk: each new instance begins
      with the data of the image. To keep it (with one instance, and short gaps at deploys):
    </p>
  )
}
