// Whether a push that changes a path would be deployed, with the patterns as they are typed.
import { useState } from 'react'
import type { WatchedPath } from '../../api/auto-deploys.ts'
import { send } from '../api/client.ts'
import { Refusal } from '../controls/action.tsx'
import { usePress } from '../controls/press.ts'
import { Mark } from '../look/mark.tsx'
import { Field } from '../server/field.tsx'
import styles from './auto-deploys.module.css'

export function PathTest({ serviceId, patterns }: { serviceId: string; patterns: string[] }) {
  const [path, setPath] = useState('')
  const asked = JSON.stringify([path, patterns])
  const [tested, setTested] = useState({ asked: '', found: [] as WatchedPath[] })
  const body = { paths: [path], watch_paths: patterns }
  const { press, isPending, error } = usePress(
    send<WatchedPath[]>('POST', `/services/${serviceId}/watch-paths/test`, body),
    (found) => setTested({ asked, found }),
  )
  const [found] = tested.asked === asked ? tested.found : []
  return (
    <form
      className={styles.test}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPending) press()
      }}
    >
      <Field
        label="Test a path"
        value={path}
        placeholder="services/api/main.ts"
        maxLength={1024}
        required
        onChange={({ target }) => setPath(target.value)}
      />
      <button type="submit" aria-disabled={isPending} aria-busy={isPending}>
        Test
      </button>
      <p role="status">{found && <Outcome found={found} />}</p>
      {error && <Refusal error={error} />}
    </form>
  )
}

function Outcome({ found: { watched, pattern } }: { found: WatchedPath }) {
  return (
    <>
      <Mark tone={watched ? 'healthy' : 'stopped'} /> {watched ? 'Watched' : 'Not watched'}:{' '}
      {pattern !== null ? (
        <>
          <code>{pattern}</code> decides.
        </>
      ) : watched ? (
        'without patterns, everything is.'
      ) : (
        'no pattern covers it.'
      )}
    </>
  )
}
