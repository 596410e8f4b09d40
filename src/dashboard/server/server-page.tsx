// A page of the server itself, with the tabs of all of them.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from '../service/tabs.module.css'
import { useShownTab } from '../service/tabs.tsx'
import { Page } from '../shell/page.tsx'

const pages = [
  ['/server', 'Doctor'],
  ['/server/backups', 'Backups'],
  ['/server/places', 'Backup places'],
  ['/server/notifications', 'Notifications'],
  ['/server/git-accounts', 'Git accounts'],
  ['/server/audit', 'Audit'],
] as const

export function ServerPage({ page, children }: { page: string; children: ReactNode }) {
  return (
    <Page title={`${page} · Server`}>
      <h1>Server</h1>
      <nav ref={useShownTab()} className={styles.tabs} aria-label="Pages of the server">
        {pages.map(([to, label]) => (
          <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
            {label}
          </Link>
        ))}
      </nav>
      <div className="stack">{children}</div>
    </Page>
  )
}
