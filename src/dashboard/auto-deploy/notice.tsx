// What keeps automatic deploys from going on, above the page of their service.
import { Link } from '@tanstack/react-router'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import styles from '../service/overview.module.css'
import { isSsh } from './repository.ts'
import { DeployLink, newsOf, Reason, Since } from './words.tsx'

export function AutoDeployNotice({ service }: { service: Service }) {
  const { id, name, repo_url: repository, auto_deploys: now } = service
  if (now.paused_by !== null)
    return (
      <div className={styles.notice} role="status">
        <span className={styles.said}>
          {newsOf(service)} are not deployed: the next one would bring back what the rollback{' '}
          <DeployLink name={name} id={now.paused_by} /> took back.{' '}
          <span className="quiet">Resuming deploys the newest version, if it is another one by then.</span>
        </span>
        <Action kind="main" run={send<Service>('PATCH', `/services/${id}`, { auto_deploy: true })}>
          Resume
        </Action>
      </div>
    )
  if (now.status !== 'failing') return null
  return (
    <div className={styles.notice} data-tone="unhealthy">
      <span className={styles.said}>
        Automatic deploys fail
        <Since at={now.since} />. <Reason name={name} text={now.reason!} />{' '}
        <span className="quiet">What serves stays, and the server tries again by itself.</span>
      </span>
      {repository !== null && isSsh(repository) && (
        <Link to="/services/$name/auto-deploys" params={{ name }} hash="deploy-key">
          Deploy key
        </Link>
      )}
      {repository !== null && <Link to="/server/git-accounts">Git accounts</Link>}
    </div>
  )
}
