// The pages of one service.
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import type { Service } from '../../api/service.ts'
import { Page } from '../shell/page.tsx'
import { Pending } from '../shell/pending.tsx'
import { Head } from './head.tsx'
import { serviceQuery } from './queries.ts'
import styles from './tabs.module.css'

const pages = [
  ['/services/$name', 'Overview'],
  ['/services/$name/deploys', 'Deploys'],
  ['/services/$name/logs', 'Logs'],
  ['/services/$name/jobs', 'Jobs'],
  ['/services/$name/auto-deploys', 'Auto-deploys'],
] as const

export function Tabs({ name }: { name: string }) {
  return (
    <nav ref={useShownTab()} className={styles.tabs} aria-label={`Pages of ${name}`}>
      {pages.map(([to, label]) => (
        <Link key={to} to={to} params={{ name }} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </Link>
      ))}
    </nav>
  )
}

/** A phone does not show all tabs at once. */
export function useShownTab() {
  const tabs = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    tabs.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [])
  return tabs
}

interface ServicePageProps {
  page: string
  children(service: Service): ReactNode
}

/** A page of a service: its name, its state, its tabs. */
export function ServicePage({ page, children }: ServicePageProps) {
  const { name = '' } = useParams({ strict: false })
  const query = useQuery(serviceQuery(name))
  const { data: service } = query
  if (!service) return <Pending title={`${page} · ${name}`} of={[query]} />
  return (
    <Page title={`${page} · ${name}`}>
      <Head service={service} />
      <Tabs name={name} />
      {children(service)}
    </Page>
  )
}
