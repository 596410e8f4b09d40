// Whether this page shows what is true now, and what to do if it does not.
import { useNow } from '../live/clock.ts'
import { reconnect, useLive } from '../live/feed.ts'
import { clockTime } from '../look/clock-time.ts'
import { Mark } from '../look/mark.tsx'
import styles from './connection.module.css'
import { signInPath } from './sign-in.ts'

const unreachableAfterMs = 30_000

export function ConnectionPill() {
  const { connection, asOfMs } = useLive()
  const isLost = connection.kind === 'broken' || connection.kind === 'signed-out'
  return (
    <div className={styles.pill} data-kind={connection.kind} role="status">
      {connection.kind === 'broken' && <Broken sinceMs={connection.sinceMs} />}
      {connection.kind === 'signed-out' && (
        <span>
          <Mark tone="stopped" /> Signed out. <a href={signInPath()}>Sign in</a>
        </span>
      )}
      {connection.kind === 'live' && (
        <span className="quiet">
          <Mark tone="healthy" /> <span className={styles.live}>Live</span>
        </span>
      )}
      {isLost && <small className="quiet">As of {clockTime(asOfMs)}</small>}
    </div>
  )
}

function Broken({ sinceMs }: { sinceMs: number }) {
  useNow(1_000)
  const lostMs = Date.now() - sinceMs
  if (lostMs < unreachableAfterMs)
    return (
      <span>
        <Mark tone="working" /> Reconnecting… <span aria-hidden="true">{Math.floor(lostMs / 1000)}s</span>
      </span>
    )
  return (
    <span>
      <Mark tone="failed" /> Unreachable since {clockTime(sinceMs)}{' '}
      <button type="button" data-kind="small" onClick={reconnect}>
        Try now
      </button>
    </span>
  )
}

/** After an upgrade, this page is of the version before. */
export function UpdateBar() {
  const { newVersion } = useLive()
  if (newVersion === null) return null
  return (
    <p className={styles.update} role="status">
      Berth was updated to {newVersion}.{' '}
      <button type="button" data-kind="small" onClick={() => location.reload()}>
        Reload
      </button>
    </p>
  )
}
