// Which pushes are deployed, and how often the server looks for them.
import { useState } from 'react'
import type { Service } from '../../api/service.ts'
import { ApiError, send } from '../api/client.ts'
import { Refusal, uncertain } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { toWord } from '../controls/curl.ts'
import { usePress } from '../controls/press.ts'
import { Field, TextField } from '../server/field.tsx'
import panel from '../service/overview.module.css'
import { toSentence } from '../shell/problem.tsx'
import styles from './auto-deploys.module.css'
import { PathTest } from './path-test.tsx'

const aboutPaths =
  'One pattern per line, as in .gitignore, from the top of the repository. A push is deployed if it ' +
  'changes a file that they cover; the last pattern that covers a file decides, and one with ! leaves it ' +
  'out. Without patterns, every push is deployed.'

export function AutoDeploySettings({ service }: { service: Service }) {
  const { watch_paths: paths, poll_seconds: poll } = service
  // What is typed stays until something else is saved: the service changes with each delivery.
  return <SettingsForm key={`${poll}\n${paths.join('\n')}`} service={service} />
}

function SettingsForm({ service }: { service: Service }) {
  const { id, name, repo_url: repository } = service
  const [typed, setTyped] = useState(service.watch_paths.join('\n'))
  const [poll, setPoll] = useState(`${service.poll_seconds}`)
  const patterns = typed.split('\n').flatMap((line) => line.trim() || [])
  const body = { watch_paths: patterns, poll_seconds: Number(poll) }
  const { press, isPending, isUncertain, isSuccess, error } = usePress(
    send<Service>('PATCH', `/services/${id}`, body),
  )
  const refused = refusalsOf(error)
  const isSaved = typed === service.watch_paths.join('\n') && Number(poll) === service.poll_seconds
  return (
    <section className={panel.panel}>
      <h2>Settings</h2>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isPending) press()
        }}
      >
        {repository !== null && (
          <TextField
            label="Watched paths"
            rows={Math.max(3, Math.min(12, patterns.length + 1))}
            value={typed}
            placeholder={'services/api/**\n!**/*.md'}
            error={refused.watch_paths}
            help={aboutPaths}
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
        <Field
          label="Seconds between looks"
          type="number"
          min={0}
          max={86_400}
          required
          className={styles.number}
          value={poll}
          error={refused.poll_seconds}
          help={`How often the server looks for news itself${
            repository === null ? '' : ', besides pushes that the provider reports'
          }: from 30, or 0 for never.`}
          onChange={({ target }) => setPoll(target.value)}
        />
        <p className={styles.actions}>
          <button type="submit" data-kind="main" aria-disabled={isPending} aria-busy={isPending}>
            {isPending ? 'Requesting…' : 'Save'}
          </button>
          {isUncertain && <span role="status">{uncertain}</span>}
          {isSuccess && isSaved && (
            <span role="status" className="quiet">
              Saved.
            </span>
          )}
          {error && Object.keys(refused).length === 0 && <Refusal error={error} />}
        </p>
      </form>
      {repository !== null && <PathTest serviceId={id} patterns={patterns} />}
      <Command
        berth={commandFor(name, patterns, poll)}
        request={{ method: 'PATCH', path: `/services/${name}`, body }}
      />
    </section>
  )
}

/** By the name of the field. */
function refusalsOf(error: Error | null): Record<string, string | undefined> {
  const errors = error instanceof ApiError ? (error.problem.errors ?? []) : []
  const known = errors.map(({ path, message }) => [path.split(/[.[/]/)[0], toSentence(message)] as const)
  return Object.fromEntries(known.filter(([path]) => path === 'watch_paths' || path === 'poll_seconds'))
}

function commandFor(name: string, patterns: string[], poll: string): string {
  const flags = (patterns.length > 0 ? patterns : ['']).map((pattern) => `--watch-path ${toWord(pattern)}`)
  return ['berth update', name, ...flags, `--poll ${poll}s`].join(' ')
}
