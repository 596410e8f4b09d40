// Where messages to people go, and what became of the newest ones.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Channel, Delivery } from '../../api/notification.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Code, Command } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { More } from '../controls/more.tsx'
import { Age } from '../look/times.tsx'
import { toneOf, wordOf } from '../look/tone.ts'
import { toSentence } from '../shell/problem.tsx'
import { ChannelForm } from './channel-form.tsx'
import { Item, Items } from './items.tsx'
import { channelsQuery, deliveriesQuery } from './queries.ts'
import { Read } from './read.tsx'
import { Removal } from './removal.tsx'
import styles from './server.module.css'
import { ServerPage } from './server-page.tsx'

export function NotificationsPage() {
  const channels = useQuery(channelsQuery)
  const deliveries = useInfiniteQuery(deliveriesQuery)
  const [isAdding, setAdding] = useState(false)
  const [added, setAdded] = useState<Channel | null>(null)
  return (
    <ServerPage page="Notifications">
      <div className={styles.head}>
        <p>
          Alerts become messages, which go to people through channels.{' '}
          <span className="quiet">A message that cannot be delivered is tried again for about a day.</span>
        </p>
        <button type="button" data-kind="main" onClick={() => setAdding(true)}>
          Add channel…
        </button>
      </div>
      <Read of={channels}>
        {(list) =>
          list.length === 0 ? (
            <div>
              <p className="quiet">
                There are no channels, so alerts send no messages. In a terminal, add one with
              </p>
              <Code text="berth notify add webhook ops --url https://ops.example.com/berth" />
            </div>
          ) : (
            <Items>
              {list.map((channel) => (
                <ChannelItem key={channel.id} channel={channel} />
              ))}
            </Items>
          )
        }
      </Read>
      <Read of={deliveries}>
        {({ pages }) => <Deliveries deliveries={pages.flatMap(({ items }) => items)} />}
      </Read>
      <More of={deliveries}>Show older</More>
      <Command berth="berth notify" request={{ method: 'GET', path: '/notification-channels' }} />
      {isAdding && (
        <ChannelForm
          onClose={() => setAdding(false)}
          onAdded={(channel) => {
            setAdding(false)
            setAdded(channel)
          }}
        />
      )}
      {added?.kind === 'webhook' && <SecretDialog channel={added} onClose={() => setAdded(null)} />}
    </ServerPage>
  )
}

function SecretDialog({ channel, onClose }: { channel: Channel; onClose(): void }) {
  return (
    <Dialog title={`The secret of ${channel.name}`} closeLabel="Close" onClose={onClose}>
      <p>Its receiver checks the signature of each message with it. It is not shown again.</p>
      <Code text={channel.secret ?? ''} />
    </Dialog>
  )
}

function ChannelItem({ channel }: { channel: Channel }) {
  const { id, name, kind, enabled, min_severity: from, services, codes, last_delivery: last } = channel
  const path = `/notification-channels/${id}`
  const target = channel.url ?? channel.to?.join(', ') ?? channel.host
  const facts = [
    kind,
    channel.topic ? `${target}, ${channel.topic}` : target,
    from === 'info' ? 'all severities' : `${from}s${from === 'warning' ? ' and problems' : ''}`,
    services && `about ${services.join(', ')}`,
    codes?.join(', '),
  ]
  return (
    <Item
      tone={enabled ? (last ? toneOf(last.status) : 'waiting') : 'stopped'}
      title={enabled ? name : `${name}, disabled`}
      facts={facts.filter(Boolean).join(' · ')}
      actions={
        <>
          <Action kind="small" run={send<Delivery>('POST', `${path}/test`)} accepted={outcomeOf}>
            Test
          </Action>
          <Action kind="small" run={send<Channel>('PATCH', path, { enabled: !enabled })}>
            {enabled ? 'Disable' : 'Enable'}
          </Action>
          <Removal label="Delete" name={name} path={path} berth={`berth notify rm ${name}`}>
            Its messages that wait are canceled.
          </Removal>
        </>
      }
    >
      {last && (
        <p>
          {wordOf(last.status)} <Age at={last.at} />
          {last.error && `: ${last.error}`}
        </p>
      )}
    </Item>
  )
}

function outcomeOf({ status, error }: Delivery): string {
  return error ? toSentence(error) : `${wordOf(status)}.`
}

function Deliveries({ deliveries }: { deliveries: Delivery[] }) {
  if (deliveries.length === 0) return null
  return (
    <section className={styles.section}>
      <h2>Messages</h2>
      <Items>
        {deliveries.map(({ id, status, title, channel, created_at: at, attempts, error, messages }) => (
          <Item
            key={id}
            tone={toneOf(status)}
            title={title}
            facts={
              <>
                {wordOf(status)} · {channel} · <Age at={at} />
                {attempts.length > 1 && ` · ${attempts.length} attempts`}
                {messages > 1 && ` · stands for ${messages}`}
              </>
            }
          >
            {error && <p>{toSentence(error)}</p>}
          </Item>
        ))}
      </Items>
    </section>
  )
}
