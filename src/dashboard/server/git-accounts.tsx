// Accounts at git providers: what they are used for, and whether they report pushes.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment, useState } from 'react'
import type { GitConnection } from '../../api/git-connection.ts'
import { Command } from '../controls/command.tsx'
import { Age } from '../look/times.tsx'
import { toneOf, wordOf } from '../look/tone.ts'
import { toSentence } from '../shell/problem.tsx'
import { Item, Items } from './items.tsx'
import { gitConnectionsQuery } from './queries.ts'
import { Read } from './read.tsx'
import { Removal } from './removal.tsx'
import styles from './server.module.css'
import { ServerPage } from './server-page.tsx'
import { WebhookDialog } from './webhook.tsx'

export function GitAccountsPage() {
  const query = useQuery(gitConnectionsQuery)
  return (
    <ServerPage page="Git accounts">
      <div className={styles.head}>
        <p>
          The server reads private repositories with these accounts, and their webhooks report pushes.{' '}
          <span className="quiet">Public repositories need no account.</span>
        </p>
        <a href="/git/start">Connect an account</a>
      </div>
      <Read of={query}>
        {(connections) =>
          connections.length === 0 ? (
            <p className="quiet">
              No account is connected. Pushes to repositories are found all the same: the server looks for
              them every few minutes.
            </p>
          ) : (
            <Items>
              {connections.map((connection) => (
                <Account key={connection.id} connection={connection} />
              ))}
            </Items>
          )
        }
      </Read>
      <Command berth="berth git" request={{ method: 'GET', path: '/git/connections' }} />
    </ServerPage>
  )
}

const authWords = { github_app: 'app', oauth: 'OAuth', token: 'access token' }

function Account({ connection }: { connection: GitConnection }) {
  const { id, account, auth, base_url: address, status, phase, services, error, updated_at: at } = connection
  const [isOpen, setOpen] = useState(false)
  const name = account ?? new URL(address).host
  const path = `/git/connections/${id}`
  const isUsable = status === 'connected'
  return (
    <Item
      tone={toneOf(status)}
      title={account ? `${account} at ${new URL(address).host}` : name}
      facts={
        <>
          {wordOf(connection.invalid_reason ?? (status === 'pending' && phase ? phase : status))} ·{' '}
          {authWords[auth]} · {status === 'pending' ? 'started' : 'authorized'} <Age at={at} />
        </>
      }
      actions={
        <>
          {!isUsable && auth !== 'token' && (
            <a href={`/git/start?${new URLSearchParams({ connection_id: id })}`}>
              {status === 'pending' ? 'Continue' : 'Authorize again'}
            </a>
          )}
          {account !== null && (
            <button type="button" data-kind="small" onClick={() => setOpen(true)}>
              Webhook…
            </button>
          )}
          <Removal label="Delete" name={name} path={path} berth={`berth git rm ${id}`}>
            What the account authorized stays at the provider until you remove it there.
          </Removal>
        </>
      }
    >
      {services.length > 0 && (
        <p>
          Reads{' '}
          {services.map((service, index) => (
            <Fragment key={service}>
              {index > 0 && ', '}
              <Link to="/services/$name" params={{ name: service }}>
                {service}
              </Link>
            </Fragment>
          ))}
        </p>
      )}
      {error && <p>{toSentence(error)}</p>}
      {isOpen && <WebhookDialog connection={connection} onClose={() => setOpen(false)} />}
    </Item>
  )
}
