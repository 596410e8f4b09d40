// The pages of one service.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Service } from '../../api/service.ts'
import { Page } from '../shell/page.tsx'
import { Head } from './head.tsx'
import styles from './tabs.module.css'

const pages = [
  ['/services/$name', 'Overview'],
  ['/services/$name/deploys', 'Deploys'],
  ['/services/$name/logs', 'Logs'],
  ['/services/$name/jobs', 'Jobs'],
] as const

export function Tabs({ name }: { name: string }) {
  return (
    <nav className={styles.tabs} aria-label={`Pages of ${name}`}>
      {pages.map(([to, label]) => (
        <Link key={to} to={to} params={{ name }} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </Link>
      ))}
    </nav>
  )
}

/** A page of a service: its name, its state, its tabs. */
export function ServicePage({
  service,
  page,
  children,
}: {
  service: Service
  page: string
  children: ReactNode
}) {
  const { name } = service
  return (
    <Page title={`${page} · ${name}`}>
      <Head service={service} />
      <Tabs name={name} />
      {children}
    </Page>
  )
}
