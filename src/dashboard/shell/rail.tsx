// The pages of the server: at the left, as icons on a narrow screen, and at the bottom on a phone.
import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { AlertBadge } from '../alert/badge.tsx'
import { ConnectionPill } from './connection.tsx'
import { documents, pageEntries } from './pages.ts'
import { Preferences } from './preferences.tsx'
import styles from './rail.module.css'

const iconSize = 18

export function Rail({ onSearch, onShortcuts }: { onSearch(): void; onShortcuts(): void }) {
  return (
    <nav className={styles.rail} aria-label="Pages">
      <Link to="/services" className={styles.brand} aria-label="Berth">
        <img src="/berth.svg" alt="" width="24" height="24" />
        <span className={styles.label}>Berth</span>
      </Link>
      <button type="button" className={styles.search} title="Search" onClick={onSearch}>
        <Search size={iconSize} aria-hidden="true" />
        <span className={styles.label}>Search</span>
        <kbd className={styles.keys}>{searchKeys}</kbd>
      </button>
      {pageEntries.map(({ to, label, icon: Icon, isRare }) => (
        <Link
          key={label}
          to={to}
          className={isRare ? `${styles.page} ${styles.document}` : styles.page}
          title={label}
        >
          <Icon size={iconSize} aria-hidden="true" />
          <span className={styles.label}>{label}</span>
          {to === '/alerts' && <AlertBadge />}
        </Link>
      ))}
      <span className={styles.rest}>
        <ConnectionPill />
        {documents.map(({ href, label, icon: Icon }) => (
          <a key={href} href={href} className={`${styles.page} ${styles.document}`} title={label}>
            <Icon size={iconSize} aria-hidden="true" />
            <span className={styles.label}>{label}</span>
          </a>
        ))}
        <Preferences onShortcuts={onShortcuts} />
      </span>
    </nav>
  )
}

export const searchKeys = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K'
