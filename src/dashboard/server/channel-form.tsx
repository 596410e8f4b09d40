// A new channel: what its kind needs.
import { useState } from 'react'
import type { Channel } from '../../api/notification.ts'
import { send } from '../api/client.ts'
import { Field, Select } from './field.tsx'
import { type Fields, Form } from './form.tsx'

const kinds: [Channel['kind'], string][] = [
  ['webhook', 'Webhook'],
  ['smtp', 'E-mail'],
  ['slack', 'Slack'],
  ['discord', 'Discord'],
  ['ntfy', 'ntfy'],
]

interface ChannelFormProps {
  onAdded(channel: Channel): void
  onClose(): void
}

export function ChannelForm({ onAdded, onClose }: ChannelFormProps) {
  const [kind, setKind] = useState<Channel['kind']>('webhook')
  const add = (fields: Fields) => send<Channel>('POST', '/notification-channels', toBody(fields))
  return (
    <Form title="Add a channel" submit="Add" request={add} onAccepted={onAdded} onClose={onClose}>
      <Field label="Name" name="name" required data-first />
      <Select
        label="Kind"
        name="kind"
        options={kinds}
        value={kind}
        onChange={({ target }) => setKind(target.value as Channel['kind'])}
      />
      <KindFields kind={kind} />
      <Select
        label="Messages"
        name="min_severity"
        defaultValue="warning"
        options={[
          ['problem', 'Problems only'],
          ['warning', 'Warnings and problems'],
          ['info', 'All'],
        ]}
      />
    </Form>
  )
}

function KindFields({ kind }: { kind: Channel['kind'] }) {
  switch (kind) {
    case 'smtp':
      return (
        <>
          <Field label="Mail server" name="host" required />
          <Field label="Port" name="port" type="number" placeholder="587" />
          <Field label="User" name="username" />
          <Field label="Password" name="secret" type="password" autoComplete="new-password" />
          <Field label="From" name="from" type="email" required />
          <Field label="To" name="to" required help="Addresses with commas between them." />
        </>
      )
    case 'ntfy':
      return (
        <>
          <Field label="Server" name="url" type="url" placeholder="https://ntfy.sh" required />
          <Field label="Topic" name="topic" required />
          <Field label="Access token" name="secret" type="password" autoComplete="new-password" />
        </>
      )
    case 'webhook':
      return <Field label="Address" name="url" type="url" required help="Signed; the secret is shown once." />
    default:
      return <Field label="Incoming webhook" name="url" type="password" required help="It is a secret." />
  }
}

function toBody({ port, to, ...rest }: Fields) {
  return {
    ...rest,
    ...(port && { port: Number(port) }),
    ...(to && { to: to.split(/[\s,]+/).filter((address) => address !== '') }),
  }
}
