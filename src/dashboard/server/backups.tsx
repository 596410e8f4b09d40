// Backups of the whole server: what there is, and one more.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ServerBackup } from '../../api/server-backup.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { requesterOf } from '../look/requester.ts'
import { Age } from '../look/times.tsx'
import { toneOf, wordOf } from '../look/tone.ts'
import { toSentence } from '../shell/problem.tsx'
import { Item, Items } from './items.tsx'
import { serverBackupsQuery } from './queries.ts'
import { Read } from './read.tsx'
import styles from './server.module.css'
import { ServerPage } from './server-page.tsx'

export function ServerBackupsPage() {
  const query = useQuery(serverBackupsQuery)
  const [wanted, setWanted] = useState({ datastores: false, disks: false })
  const isRunning = query.data?.some(({ status }) => status === 'running') ?? false
  return (
    <ServerPage page="Backups">
      <div className={styles.head}>
        <div>
          One encrypted file with everything that this server needs to continue on another machine.{' '}
          <span className="quiet">
            Of datastores and disks it has the backups that are in the folder of the server. Not in it:
            images, and backups in buckets. Only the recovery key opens it.
          </span>
          <p className={styles.fresh}>
            Back up first:
            {(['datastores', 'disks'] as const).map((what) => (
              <label key={what}>
                <input
                  type="checkbox"
                  checked={wanted[what]}
                  onChange={({ target }) => setWanted({ ...wanted, [what]: target.checked })}
                />
                {what}
              </label>
            ))}
          </p>
        </div>
        <Action
          kind="main"
          run={send<ServerBackup>('POST', '/server-backups', wanted)}
          unavailable={isRunning ? 'One is being made' : null}
        >
          Back up now
        </Action>
      </div>
      <Read of={query}>
        {(backups) =>
          backups.length === 0 ? (
            <p className="quiet">No backups yet.</p>
          ) : (
            <Items>
              {backups.map((backup) => (
                <Backup key={backup.id} backup={backup} />
              ))}
            </Items>
          )
        }
      </Read>
      <Command berth="berth server-backups" request={{ method: 'GET', path: '/server-backups' }} />
    </ServerPage>
  )
}

function Backup({ backup }: { backup: ServerBackup }) {
  const { id, status, phase, trigger, created_at: at, size_bytes: bytes, file, error, hint, by } = backup
  const requester = requesterOf(by)
  const fresh = backup.data.filter((part) => part.error === null)
  const missing = backup.data.filter((part) => part.error !== null)
  const facts = [
    bytes !== null && sizeOf(bytes),
    trigger === 'schedule' ? 'scheduled' : requester && `by ${requester}`,
    backup.key_fingerprint && `key ${backup.key_fingerprint}`,
    fresh.length > 0 && `with ${fresh.map(nameOf).join(', ')}`,
  ]
  const isStored = status === 'stored'
  return (
    <Item
      tone={toneOf(status)}
      title={
        <>
          {wordOf(phase ?? status)} <Age at={at} />
        </>
      }
      facts={facts.filter(Boolean).join(' · ')}
      actions={
        isStored && (
          <a href={`/api/v1/server-backups/${id}/content`} download>
            Download
          </a>
        )
      }
    >
      {isStored && <code>{file}</code>}
      {error && <p>{toSentence(error)}</p>}
      {missing.map((part) => (
        <p key={`${part.kind} ${part.name}`}>
          Not in it: {nameOf(part)}: {part.error}
        </p>
      ))}
      {error && hint && <p>{toSentence(hint)}</p>}
      {!isStored && (
        <Link to="/charts/$kind/$id" params={{ kind: 'server-backup', id }}>
          Chart
        </Link>
      )}
    </Item>
  )
}

function nameOf({ kind, name }: ServerBackup['data'][number]): string {
  return `${kind} ${name}`
}

function sizeOf(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2
  return mebibytes < 1 ? `${Math.ceil(bytes / 1024)} KiB` : `${mebibytes.toFixed(mebibytes < 10 ? 1 : 0)} MiB`
}
