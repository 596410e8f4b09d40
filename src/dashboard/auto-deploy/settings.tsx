// Which pushes are deployed, and how often the server looks for them.
import { useState } from 'react'
import type { Service } from '../../api/service.ts'
import { ApiError, send } from '../api/client.ts'
import { Refusal, uncertain } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { toWord } from '../controls/curl.ts'
import { usePress } from '../controls/press.ts'
import { Field, Select, TextField } from '../server/field.tsx'
import panel from '../service/overview.module.css'
import { toSentence } from '../shell/problem.tsx'
import styles from './auto-deploys.module.css'
import { PathTest } from './path-test.tsx'

const aboutPaths =
  'One pattern per line, as in .gitignore, from the top of the repository. A push is deployed if it ' +
  'changes a file that they cover; the last pattern that covers a file decides, and one with ! leaves it ' +
  'out. Without patterns, every push is deployed.'

const aboutTags =
  'Such as v*: the tag with the highest version is deployed, instead of the head of the branch. Empty for ' +
  'the branch.'

interface Typed {
  paths: string
  tags: string
  when: string
  skipCi: string
  poll: string
}

/** As text, for the fields. */
function typedOf(service: Service): Typed {
  const { watch_paths, tag_pattern, deploy_when, skip_ci, poll_seconds } = service
  const [paths, skipCi] = [watch_paths.join('\n'), skip_ci ? 'on' : 'off']
  return { paths, tags: tag_pattern ?? '', when: deploy_when, skipCi, poll: `${poll_seconds}` }
}

const patternsIn = ({ paths }: Typed) => paths.split('\n').flatMap((line) => line.trim() || [])

/** An image has no branch, no tags of a repository and no checks. */
function bodyOf(typed: Typed, isRepository: boolean) {
  const poll_seconds = Number(typed.poll)
  if (!isRepository) return { poll_seconds }
  const [watch_paths, tag_pattern] = [patternsIn(typed), typed.tags.trim()]
  return { watch_paths, tag_pattern, deploy_when: typed.when, skip_ci: typed.skipCi === 'on', poll_seconds }
}

export function AutoDeploySettings({ service }: { service: Service }) {
  // What is typed stays until something else is saved: the service changes with each delivery.
  return <SettingsForm key={JSON.stringify(typedOf(service))} service={service} />
}

function SettingsForm({ service }: { service: Service }) {
  const { id, name, repo_url: repository } = service
  const [typed, setTyped] = useState(() => typedOf(service))
  const put = (field: keyof Typed) => (event: { target: { value: string } }) =>
    setTyped({ ...typed, [field]: event.target.value })
  const patterns = patternsIn(typed)
  const body = bodyOf(typed, repository !== null)
  const { press, isPending, isUncertain, isSuccess, error } = usePress(
    send<Service>('PATCH', `/services/${id}`, body),
  )
  const refused = refusalsOf(error)
  const isSaved = JSON.stringify(typed) === JSON.stringify(typedOf(service))
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
          <>
            <TextField
              label="Watched paths"
              rows={Math.max(3, Math.min(12, patterns.length + 1))}
              value={typed.paths}
              placeholder={'services/api/**\n!**/*.md'}
              error={refused.watch_paths}
              help={aboutPaths}
              onChange={put('paths')}
            />
            <Field
              label="Tags"
              className={styles.number}
              value={typed.tags}
              error={refused.tag_pattern}
              help={aboutTags}
              onChange={put('tags')}
            />
            <Select
              label="A push is deployed"
              value={typed.when}
              options={[
                ['push', 'at once'],
                ['checks', 'once its checks have passed'],
                ['required_checks', 'once its checks have passed, and never without checks'],
              ]}
              onChange={put('when')}
            />
            <Select
              label="[skip ci] in its message"
              value={typed.skipCi}
              options={[
                ['off', 'does not matter'],
                ['on', 'means no deploy'],
              ]}
              onChange={put('skipCi')}
            />
          </>
        )}
        <Field
          label="Seconds between looks"
          type="number"
          min={0}
          max={86_400}
          required
          className={styles.number}
          value={typed.poll}
          error={refused.poll_seconds}
          help={`How often the server looks for news itself${
            repository === null ? '' : ', besides pushes that the provider reports'
          }: from 30, or 0 for never.`}
          onChange={put('poll')}
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
        berth={commandFor(name, typed, repository !== null)}
        request={{ method: 'PATCH', path: `/services/${name}`, body }}
      />
    </section>
  )
}

/** Those that can be wrong. */
const fields = ['watch_paths', 'tag_pattern', 'poll_seconds']

/** By the name of the field. */
function refusalsOf(error: Error | null): Record<string, string | undefined> {
  const errors = error instanceof ApiError ? (error.problem.errors ?? []) : []
  const known = errors.map(({ path, message }) => [path.split(/[.[/]/)[0], toSentence(message)] as const)
  return Object.fromEntries(known.filter(([path]) => path !== undefined && fields.includes(path)))
}

function commandFor(name: string, typed: Typed, isRepository: boolean): string {
  const patterns = patternsIn(typed)
  const paths = (patterns.length > 0 ? patterns : ['']).map((pattern) => `--watch-path ${toWord(pattern)}`)
  const { tags, when, skipCi, poll } = typed
  const ofRepository = [
    ...paths,
    `--tags ${toWord(tags.trim())}`,
    `--deploy-when ${when}`,
    `--skip-ci ${skipCi}`,
  ]
  return ['berth update', name, ...(isRepository ? ofRepository : []), `--poll ${poll}s`].join(' ')
}
