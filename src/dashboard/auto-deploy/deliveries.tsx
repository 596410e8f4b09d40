// The pushes that providers reported to a service, and what became of each.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import type { Delivery } from '../../api/hook.ts'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { More } from '../controls/more.tsx'
import { useFollow } from '../deploy/follow.ts'
import { Age } from '../look/times.tsx'
import type { Tone } from '../look/tone.ts'
import { Item, Items } from '../server/items.tsx'
import { Read } from '../server/read.tsx'
import { canDeploy } from '../service/state.ts'
import styles from './auto-deploys.module.css'
import { deliveriesQuery } from './queries.ts'
import { DeployLink, Reason, Version } from './words.tsx'

export function Deliveries({ service }: { service: Service }) {
  const { id, name, auto_deploys: now, poll_seconds: poll } = service
  const query = useInfiniteQuery(deliveriesQuery(id))
  return (
    <section className={styles.section}>
      <h2>Deliveries</h2>
      <Read of={query}>
        {({ pages }) => {
          const deliveries = pages.flatMap(({ items }) => items)
          if (deliveries.length > 0)
            return (
              <Items>
                {deliveries.map((delivery) => (
                  <DeliveryItem key={delivery.id} service={service} delivery={delivery} />
                ))}
              </Items>
            )
          return (
            <p className="quiet">
              No provider reported a push yet.{' '}
              {now.status === 'watching' &&
                poll > 0 &&
                `The server looks for one itself every ${poll} seconds. `}
              <Link to="/server/git-accounts">Set up a webhook</Link> to deploy each push at once.
            </p>
          )
        }}
      </Read>
      <More of={query}>Show older</More>
      <Command
        berth={`berth git deliveries ${name}`}
        request={{ method: 'GET', path: `/services/${name}/deliveries` }}
      />
    </section>
  )
}

export const providerNames = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea' }

function DeliveryItem({ service, delivery }: { service: Service; delivery: Delivery }) {
  const { id, provider, event, ref, after, forced, received_at: at, deploy_id: deployId, reason } = delivery
  const follow = useFollow(service.name)
  const branch = (ref ?? '').replace('refs/heads/', '')
  const isDeletion = after === null || /^0+$/.test(after)
  return (
    <Item
      tone={toneFor(delivery)}
      title={
        isDeletion ? (
          `${branch} was deleted`
        ) : (
          <>
            <Version id={after} /> on {branch}
          </>
        )
      }
      facts={
        <>
          {forced ? `forced ${event}` : event} · {providerNames[provider]} · <Age at={at} />
        </>
      }
      actions={
        !isDeletion && (
          <Action
            kind="small"
            run={send<Deploy>('POST', `/services/${service.id}/deliveries/${id}/redeliver`)}
            onAccepted={follow}
            unavailable={canDeploy(service) ? null : 'Resume the service first'}
          >
            Redeliver
          </Action>
        )
      }
    >
      <p>
        {deployId !== null && (
          <>
            Deployed as <DeployLink name={service.name} id={deployId} />.{' '}
          </>
        )}
        {reason === null ? 'Not decided yet.' : <Reason name={service.name} text={reason} />}
      </p>
    </Item>
  )
}

function toneFor({ decided_at: decidedAt, deploy_id: deployId }: Delivery): Tone {
  if (decidedAt === null) return 'working'
  return deployId === null ? 'stopped' : 'healthy'
}
