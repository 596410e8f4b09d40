// What a reader chooses for this browser, and on a phone the pages that have no place in the bar.
import { Link } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { useId } from 'react'
import { Menu } from '../controls/menu.tsx'
import { documents, pageEntries } from './pages.ts'
import styles from './rail.module.css'
import { themes, useTheme } from './theme.ts'

const labels = { system: 'System', light: 'Light', dark: 'Dark' }

export function Preferences({ onShortcuts }: { onShortcuts(): void }) {
  const [theme, setTheme] = useTheme()
  const name = useId()
  return (
    <Menu
      className={styles.page}
      label={
        <>
          <Ellipsis size={18} aria-hidden="true" />
          <span className={styles.label}>More</span>
        </>
      }
    >
      {pageEntries
        .filter(({ isRare }) => isRare)
        .map(({ to, label }) => (
          <Link key={to} to={to} className={styles.onPhone} data-closes>
            {label}
          </Link>
        ))}
      {documents.map(({ href, label }) => (
        <a key={href} href={href} className={styles.onPhone}>
          {label}
        </a>
      ))}
      <fieldset className={styles.themes}>
        <legend>Theme</legend>
        {themes.map((one) => (
          <label key={one}>
            <input type="radio" name={name} checked={theme === one} onChange={() => setTheme(one)} />
            {labels[one]}
          </label>
        ))}
      </fieldset>
      <button type="button" data-closes onClick={onShortcuts}>
        Keyboard shortcuts
      </button>
    </Menu>
  )
}
