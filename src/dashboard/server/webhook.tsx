// The webhook of an account: what to enter at the provider, where, and whether something came.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { GitConnection } from '../../api/git-connection.ts'
import type { GitHook } from '../../api/hook.ts'
import type { Service } from '../../api/service.ts'
import { Code, Command } from '../controls/command.tsx'
import { Copy } from '../controls/copy.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { Mark } from '../look/mark.tsx'
import { Age } from '../look/times.tsx'
import { servicesQuery } from '../service/queries.ts'
import { toSentence } from '../shell/problem.tsx'
import { gitHookQuery, otherDeliveriesQuery } from './queries.ts'
import { Read } from './read.tsx'
import styles from './webhook.module.css'

/** What the provider calls its fields, and where its page is below that of a repository. */
const forms = {
  github: {
    path: 'settings/hooks/new',
    steps: 'Settings, Webhooks, Add webhook',
    address: 'Payload URL',
    contentType: 'Content type',
    secret: 'Secret',
    pushes: 'Just the push event',
    chosen: 'Let me select individual events',
    owner: 'organization',
  },
  gitlab: {
    path: '-/hooks',
    steps: 'Settings, Webhooks, Add new webhook',
    address: 'URL',
    contentType: null,
    secret: 'Secret token',
    pushes: null,
    chosen: null,
    owner: 'group',
  },
  gitea: {
    path: 'settings/hooks/gitea/new',
    steps: 'Settings, Webhooks, Add Webhook, Gitea',
    address: 'Target URL',
    contentType: 'POST Content Type',
    secret: 'Secret',
    pushes: 'Push Events',
    chosen: 'Custom Events…',
    owner: 'organization',
  },
}

interface WebhookDialogProps {
  connection: GitConnection
  onClose(): void
}

export function WebhookDialog({ connection, onClose }: WebhookDialogProps) {
  const { id, account } = connection
  const query = useQuery(gitHookQuery(id))
  return (
    <Dialog title={`The webhook of ${account}`} closeLabel="Close" onClose={onClose}>
      <Read of={query}>
        {(hook) => (
          <>
            <Setup connection={connection} hook={hook} />
            {hook.url !== null && <Received connectionId={id} />}
          </>
        )}
      </Read>
      <Command
        berth={`berth git hook ${id}`}
        request={{ method: 'GET', path: `/git/connections/${id}/hook` }}
      />
    </Dialog>
  )
}

function Setup({ connection, hook }: { connection: GitConnection; hook: GitHook }) {
  if (hook.registered) return <p>The app of {connection.account} sends its pushes: nothing is left to do.</p>
  if (hook.url !== null) return <Steps connection={connection} hook={hook} url={hook.url} />
  return (
    <>
      <p>
        No provider can reach this server, because it has no <code>--dashboard-host</code>. Pushes are
        deployed all the same: the server looks for them every 5 minutes, or as often as the settings of a
        service say.
      </p>
      <p className="quiet">
        With a host of its own, the server takes deliveries there, and deploys a push at once:
      </p>
      <Code text="berthd --dashboard-host berth.example.com" />
    </>
  )
}

function Steps({ connection, hook, url }: { connection: GitConnection; hook: GitHook; url: string }) {
  const form = forms[connection.provider]
  return (
    <ol className={styles.steps}>
      <li>
        Open the page of webhooks of each repository, or of the {form.owner}: {form.steps}.
        <Pages connection={connection} />
      </li>
      <li>
        {form.address}:
        <Code text={url} />
      </li>
      {form.contentType && (
        <li>
          {form.contentType}: <code>{hook.content_type}</code>
        </li>
      )}
      <li>
        {form.secret}: <Secret text={hook.secret} />
      </li>
      <li>
        Events: <Events connection={connection} hook={hook} />
      </li>
    </ol>
  )
}

/** Those of pushes, and those of checks if a service waits for them. */
function Events({ connection, hook }: { connection: GitConnection; hook: GitHook }) {
  const { pushes, chosen } = forms[connection.provider]
  const waiting = useServices(connection).filter(({ deploy_when: when }) => when !== 'push')
  const { events, check_events: checks } = hook
  const all = `${chosen === null ? '' : `${chosen}, with `}${[...events, ...checks].join(', ')}`
  if (waiting.length === 0)
    return (
      <>
        {pushes ?? events.join(', ')}
        <p className="quiet">If pushes of a service wait for checks: {all}</p>
      </>
    )
  return (
    <>
      {all}
      <p className="quiet">
        {checks.join(', ')} because of {waiting.map(({ name }) => name).join(', ')}, where a push waits for
        its checks.
      </p>
    </>
  )
}

/** Of the repositories that services have. */
function Pages({ connection }: { connection: GitConnection }) {
  const services = useServices(connection)
  const pages = new Set(services.flatMap(({ repo_url }) => pageOf(repo_url, connection.base_url) ?? []))
  return (
    <ul>
      {[...pages].map((page) => (
        <li key={page}>
          <a href={`${page}/${forms[connection.provider].path}`} target="_blank" rel="noreferrer">
            {page.replace(/^https?:\/\//, '')} ↗
          </a>
        </li>
      ))}
    </ul>
  )
}

/** Those that are read with the account. */
function useServices({ services }: GitConnection): Service[] {
  const { data: all = [] } = useQuery(servicesQuery)
  return all.filter(({ name }) => services.includes(name))
}

/** The page of a repository at its provider; null if its address has none. */
function pageOf(repository: string | null, baseUrl: string): string | null {
  const [, path] =
    /^(?:https?:\/\/[^/]+\/|ssh:\/\/[^/]+\/|[^/:]+:)(.+?)(?:\.git)?\/?$/.exec(repository ?? '') ?? []
  return path && /^https?:\/\//.test(baseUrl) ? `${baseUrl.replace(/\/$/, '')}/${path}` : null
}

function Secret({ text }: { text: string }) {
  const [isShown, setShown] = useState(false)
  if (isShown) return <Code text={text} />
  return (
    <span className={styles.secret}>
      <button type="button" data-kind="small" onClick={() => setShown(true)}>
        Show secret
      </button>
      <Copy text={text} label="Copy secret" />
    </span>
  )
}

const shownCount = 5

/** Such as the ping of a new webhook, or what another secret signed. Pushes to a service are on its page. */
function Received({ connectionId }: { connectionId: string }) {
  const { data: deliveries = [] } = useQuery(otherDeliveriesQuery(connectionId))
  if (deliveries.length === 0) return null
  return (
    <section>
      <h3>Deliveries that no service acts on</h3>
      <ul className={styles.received}>
        {deliveries.slice(0, shownCount).map(({ id, repository, reason, received_at: at }) => (
          <li key={id}>
            <Mark tone="stopped" />
            <span>
              {toSentence(reason ?? '')}{' '}
              <span className="quiet">
                {repository && `${repository} · `}
                <Age at={at} />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
