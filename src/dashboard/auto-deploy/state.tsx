// Whether what is new in the source of a service is deployed, and what was decided about the newest head.
import { Link } from '@tanstack/react-router'
import type { AutoDeploys } from '../../api/auto-deploys.ts'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Mark } from '../look/mark.tsx'
import { Age } from '../look/times.tsx'
import { toneOf } from '../look/tone.ts'
import { toSentence } from '../shell/problem.tsx'
import styles from './auto-deploys.module.css'
import { canChange, DeployLink, newsOf, Reason, Since, Version } from './words.tsx'

export function AutoDeployState({ service }: { service: Service }) {
  const { status, decision } = service.auto_deploys
  return (
    <div className={styles.state}>
      <p>
        <Mark tone={toneOf(status)} /> <State service={service} />
      </p>
      {decision && (
        <p className="quiet">
          <Decision name={service.name} decision={decision} />
        </p>
      )}
    </div>
  )
}

function State({ service }: { service: Service }) {
  const { name, auto_deploys: now, auto_deploy: isWanted } = service
  const news = newsOf(service)
  switch (now.status) {
    case 'watching':
      return `${news} are deployed.`
    case 'failing':
      return (
        <>
          Failing
          <Since at={now.since} />. {news} are not seen.
        </>
      )
    case 'paused':
      if (now.paused_by === null) return 'Paused until the service is resumed.'
      return (
        <>
          Paused by the rollback <DeployLink name={name} id={now.paused_by} />.
        </>
      )
    default:
      return isWanted ? toSentence(now.reason ?? 'off') : `Off. ${news} are not deployed.`
  }
}

interface DecisionProps {
  name: string
  decision: NonNullable<AutoDeploys['decision']>
}

function Decision({ name, decision: { head, at, deploy_id: id, reason } }: DecisionProps) {
  return (
    <>
      {id === null ? (
        <>
          Not deployed: <Version id={head} />
        </>
      ) : (
        <Link to="/services/$name/deploys/$id" params={{ name, id }}>
          Deployed <Version id={head} />
        </Link>
      )}{' '}
      <Age at={at} />. <Reason name={name} text={reason} />
    </>
  )
}

/** On or off; after a rollback the notice above the page has the button. */
export function AutoDeploySwitch({ service }: { service: Service }) {
  const { id, auto_deploy: isOn, auto_deploys: now } = service
  if (!canChange(service) || now.paused_by !== null) return null
  return (
    <Action key={`${isOn}`} run={send<Service>('PATCH', `/services/${id}`, { auto_deploy: !isOn })}>
      {isOn ? 'Turn off' : 'Turn on'}
    </Action>
  )
}

/** The actor that watches the source. */
export function ActorLink({ service: { auto_deploys: now } }: { service: Service }) {
  if (now.actor_id === null) return null
  return (
    <Link to="/charts/$kind/$id" params={{ kind: 'auto-deploy', id: now.actor_id }}>
      Chart
    </Link>
  )
}
