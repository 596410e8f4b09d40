// What is wrong now, and what was.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Alert } from '../../api/alert.ts'
import { send } from '../api/client.ts'
import { listQuery } from '../api/list.ts'
import { Action } from '../controls/action.tsx'
import { Code, Command } from '../controls/command.tsx'
import { More } from '../controls/more.tsx'
import { Age } from '../look/times.tsx'
import type { Tone } from '../look/tone.ts'
import { wordOf } from '../look/tone.ts'
import { Item, Items } from '../server/items.tsx'
import { Page } from '../shell/page.tsx'
import { Pending } from '../shell/pending.tsx'
import { toSentence } from '../shell/problem.tsx'
import styles from './alerts.module.css'
import { openAlertsQuery } from './queries.ts'

const endedFilter = { state: 'recovered', limit: '20' }
const endedAlertsQuery = listQuery<Alert>(['alerts', 'ended'], '/alerts', endedFilter)

export function AlertsPage() {
  const open = useQuery(openAlertsQuery)
  const ended = useInfiniteQuery(endedAlertsQuery)
  if (!open.data || !ended.data) return <Pending title="Alerts" of={[open, ended]} />
  const past = ended.data.pages.flatMap(({ items }) => items)
  const worst = open.data.some(({ severity }) => severity === 'problem') ? 'failed' : 'unhealthy'
  return (
    <Page title="Alerts" {...(open.data.length > 0 && { mark: worst })}>
      <div className="stack">
        <h1>Alerts</h1>
        <section className={styles.section}>
          <h2>
            Open <span className="quiet">{open.data.length}</span>
          </h2>
          {open.data.length === 0 ? (
            <p className="quiet">Nothing is wrong.</p>
          ) : (
            <Items>
              {open.data.map((alert) => (
                <OpenAlert key={alert.id} alert={alert} />
              ))}
            </Items>
          )}
        </section>
        {past.length > 0 && (
          <section className={styles.section}>
            <h2>Over</h2>
            <Items>
              {past.map((alert) => (
                <EndedAlert key={alert.id} alert={alert} />
              ))}
            </Items>
            <More of={ended}>Show older</More>
          </section>
        )}
        <Command berth="berth alerts -f" request={{ method: 'GET', path: '/alerts' }} />
      </div>
    </Page>
  )
}

const toneOf: Record<Alert['severity'], Tone> = { problem: 'failed', warning: 'unhealthy', info: 'waiting' }

function OpenAlert({ alert }: { alert: Alert }) {
  const { id, severity, status, title, body, command, count, created_at: since, last_at: last } = alert
  const lines = body.split('\n').filter((line) => line !== '')
  return (
    <Item
      tone={toneOf[severity]}
      title={title}
      facts={
        <>
          {wordOf(severity)} · since <Age at={since} />
          {count > 1 && (
            <>
              {' · '}
              {count.toLocaleString()} times, last <Age at={last} />
            </>
          )}
          {status === 'acknowledged' && ` · acknowledged by ${alert.acknowledged_by ?? 'a user'}`}
        </>
      }
      actions={
        status === 'raised' && (
          <Action kind="small" run={send<Alert>('POST', `/alerts/${id}/acknowledge`)}>
            Acknowledge
          </Action>
        )
      }
    >
      {lines.map((line, index) => (
        <p key={index}>{toSentence(line)}</p>
      ))}
      {command && <Code text={command} />}
      <span className={styles.links}>
        <About alert={alert} />
        <ChartLink id={id} />
      </span>
    </Item>
  )
}

function EndedAlert({ alert: { id, title, count, created_at: since, recovered_at: end } }: { alert: Alert }) {
  return (
    <Item
      tone="healthy"
      title={title}
      facts={
        <>
          Over since <Age at={end ?? since} />
          {count > 1 && ` · ${count.toLocaleString()} times`}
        </>
      }
      actions={<ChartLink id={id} />}
    />
  )
}

/** The page that shows more of it, if there is one. */
function About({ alert: { rule, subject } }: { alert: Alert }) {
  const { kind, name } = subject
  const link =
    kind === 'service'
      ? { to: '/services/$name', params: { name } }
      : rule === 'actor_parked'
        ? { to: '/charts', search: { parked: true } }
        : null
  return link && <Link {...link}>{name}</Link>
}

function ChartLink({ id }: { id: string }) {
  return (
    <Link to="/charts/$kind/$id" params={{ kind: 'alert', id }}>
      Chart
    </Link>
  )
}
