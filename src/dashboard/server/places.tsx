// The places where backups are kept, and whether they work.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { BackupPlace, BackupPlaceTest } from '../../api/backup-place.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { toSentence } from '../shell/problem.tsx'
import { Field } from './field.tsx'
import { type Fields, Form } from './form.tsx'
import { Item, Items } from './items.tsx'
import { placesQuery } from './queries.ts'
import { Read } from './read.tsx'
import { Removal } from './removal.tsx'
import styles from './server.module.css'
import { ServerPage } from './server-page.tsx'

export function PlacesPage() {
  const query = useQuery(placesQuery)
  const [isAdding, setAdding] = useState(false)
  const close = () => setAdding(false)
  return (
    <ServerPage page="Backup places">
      <div className={styles.head}>
        <p>
          Backups of datastores and disks go to the folder of the server, or to S3-compatible buckets.{' '}
          <span className="quiet">A folder on the same disk is lost with it.</span>
        </p>
        <button type="button" data-kind="main" onClick={() => setAdding(true)}>
          Add bucket…
        </button>
      </div>
      <Read of={query}>
        {(places) => (
          <Items>
            {places.map((place) => (
              <Place key={place.name} place={place} />
            ))}
          </Items>
        )}
      </Read>
      <Command berth="berth backup-places" request={{ method: 'GET', path: '/backup-places' }} />
      {isAdding && (
        <Form title="Add a bucket" submit="Add" request={toRequest} onAccepted={close} onClose={close}>
          <Field
            label="Name"
            name="name"
            required
            data-first
            help="That of a known place replaces its key."
          />
          <Field label="Endpoint" name="endpoint" type="url" required placeholder="https://s3.example.com" />
          <Field label="Bucket" name="bucket" required help="It must exist." />
          <Field label="Prefix" name="prefix" help="Begins the names of all objects." />
          <Field label="Region" name="region" placeholder="us-east-1" />
          <label>
            <input type="checkbox" name="path_style" /> The bucket is in the path of addresses
          </label>
          <Field label="Access key id" name="access_key_id" required />
          <Field
            label="Secret access key"
            name="secret_access_key"
            type="password"
            autoComplete="new-password"
            required
          />
        </Form>
      )}
    </ServerPage>
  )
}

function toRequest({ name = '', path_style: pathStyle, ...body }: Fields) {
  const path = `/backup-places/${encodeURIComponent(name)}`
  return send<BackupPlace>('PUT', path, { ...body, path_style: pathStyle === 'on' })
}

function Place({
  place: { name, kind, is_default: isDefault, location, endpoint, region },
}: {
  place: BackupPlace
}) {
  const path = `/backup-places/${encodeURIComponent(name)}`
  return (
    <Item
      tone={isDefault ? 'healthy' : 'waiting'}
      title={isDefault ? `${name}, the default` : name}
      facts={[endpoint, region].filter(Boolean).join(' · ')}
      actions={
        <>
          <Action kind="small" run={send<BackupPlaceTest>('POST', `${path}/test`)} accepted={outcomeOf}>
            Test
          </Action>
          {!isDefault && (
            <Action kind="small" run={send<BackupPlace>('POST', `${path}/default`)}>
              Make default
            </Action>
          )}
          {kind === 's3' && (
            <Removal label="Remove" name={name} path={path} berth={`berth backup-places rm ${name}`}>
              The bucket and its objects stay.
            </Removal>
          )}
        </>
      }
    >
      <code>{location}</code>
    </Item>
  )
}

function outcomeOf({ is_ok: isOk, steps }: BackupPlaceTest): string {
  const failed = steps.find(({ error }) => error !== null)
  if (isOk || !failed) return 'It works.'
  return `${toSentence(`${failed.step}: ${failed.error}`)} ${failed.hint ? toSentence(failed.hint) : ''}`
}
