// What is around every page: the pages of the server, and whether this page is live.
import { Link, Outlet } from '@tanstack/react-router'
import { useNow } from '../live/clock.ts'
import { useConnection } from '../live/feed.ts'
import styles from './frame.module.css'

export function Frame() {
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#page">
        Skip to the page
      </a>
      <nav className={styles.rail} aria-label="Pages">
        <Link to="/services" className={styles.brand}>
          <img src="/berth.svg" alt="" width="24" height="24" />
          <span>Berth</span>
        </Link>
        <Link to="/services" className={styles.page}>
          Services
        </Link>
        <span className={styles.rest}>
          <a className={styles.page} href="/docs">
            Manual
          </a>
          <a className={styles.page} href="/account">
            Account
          </a>
        </span>
      </nav>
      <main id="page" className={styles.main}>
        <ConnectionPill />
        <Outlet />
      </main>
    </div>
  )
}

function ConnectionPill() {
  const connection = useConnection()
  if (connection.kind === 'connecting' || connection.kind === 'live') return null
  if (connection.kind === 'signed-out') {
    const next = encodeURIComponent(location.pathname + location.search)
    return (
      <p className={styles.pill} role="status">
        Signed out. <a href={`/login?next=${next}`}>Sign in</a>
      </p>
    )
  }
  return (
    <p className={styles.pill} role="status">
      Reconnecting…{' '}
      <span aria-hidden="true">
        <Wait until={connection.retryAt} />
      </span>
    </p>
  )
}

function Wait({ until }: { until: number }) {
  useNow()
  return <span>{Math.max(0, Math.ceil((until - Date.now()) / 1000))}s</span>
}
