// What differs between two deploys: commit, image, settings, and variables by key. Values are not shown.
import type { DeployDiff, RollbackObstacle } from '../../api/deploy-diff.ts'
import { Code } from '../controls/command.tsx'
import { toSentence } from '../shell/problem.tsx'
import styles from './changes.module.css'

export function Changes({ diff: { complete, commit, image, settings, env } }: { diff: DeployDiff }) {
  const variables = [
    ...env.added.map((key) => ({ sign: '+', word: 'added', key })),
    ...env.changed.map((key) => ({ sign: '~', word: 'changed', key })),
    ...env.removed.map((key) => ({ sign: '−', word: 'removed', key })),
  ]
  const isSame = !commit && !image && settings.length === 0 && variables.length === 0
  if (isSame && complete) return <p className="quiet">No changes: same source, settings and variables.</p>
  return (
    <ul className={styles.changes}>
      {!complete && (
        <li className="quiet">Its settings and variables are no longer stored, so they are not compared.</li>
      )}
      {commit && (
        <li>
          <span>Commit</span>
          <Commits commit={commit} />
        </li>
      )}
      {image && (
        <li>
          <span>Image</span>
          <FromTo from={image.from} to={image.to} />
        </li>
      )}
      {settings.map(({ field, from, to }) => (
        <li key={field}>
          <span>{field}</span>
          <FromTo from={from} to={to} />
        </li>
      ))}
      {variables.map(({ sign, word, key }) => (
        <li key={key} data-sign={sign}>
          <span aria-hidden="true">{sign}</span>
          <code>{key}</code>
          <span className="hidden">{word}</span>
        </li>
      ))}
    </ul>
  )
}

function Commits({ commit: { from, to, compare_url: url } }: { commit: NonNullable<DeployDiff['commit']> }) {
  const text = `${from?.slice(0, 7) ?? '…'} → ${to?.slice(0, 7) ?? '…'}`
  if (url === null) return <code>{text}</code>
  return (
    <a href={url} target="_blank" rel="noreferrer">
      <code>{text}</code>
    </a>
  )
}

function FromTo({ from, to }: { from: unknown; to: unknown }) {
  return (
    <code>
      {shown(from)} → {shown(to)}
    </code>
  )
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return '(none)'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Why a rollback would be refused, and what to do instead. */
export function ObstacleNote({ obstacle: { reason, hint } }: { obstacle: RollbackObstacle }) {
  // It is written to follow the name of the deploy.
  const sentence = toSentence(/^(is|was) /.test(reason) ? `it ${reason}` : reason)
  const isCommand = hint?.startsWith('berth ')
  return (
    <div role="alert" className={styles.obstacle}>
      <p>You can't roll back to it. {sentence}</p>
      {hint && (isCommand ? <Code text={hint} /> : <p>{toSentence(hint)}</p>)}
    </div>
  )
}
