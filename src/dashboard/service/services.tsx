// All services of the server, live.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import type { Service } from '../../api/service.ts'
import { Choice } from '../controls/choice.tsx'
import { Command } from '../controls/command.tsx'
import { Loading } from '../controls/loading.tsx'
import { focusRow, useRowKeys } from '../controls/rows.ts'
import { TableHead } from '../controls/table-head.tsx'
import { wordOf } from '../look/tone.ts'
import { Page } from '../shell/page.tsx'
import { ProblemNote } from '../shell/problem.tsx'
import { useShortcut } from '../shell/shortcuts.ts'
import { NewService, NoServices } from './new-service.tsx'
import { servicesQuery } from './queries.ts'
import { ServiceRow } from './row.tsx'
import styles from './services.module.css'

export function Services() {
  const { data: services, error, refetch } = useQuery(servicesQuery)
  return (
    <Page title="Services">
      {error && !services ? (
        <ProblemNote error={error} onRetry={() => void refetch()} />
      ) : (
        <List services={services} />
      )}
    </Page>
  )
}

function List({ services }: { services: Service[] | undefined }) {
  const { q, state, set } = useFilter()
  const field = useRef<HTMLInputElement>(null)
  useShortcut('/', 'Filter', () => field.current?.focus())
  useShortcut('d', 'Deploy the chosen service', deployChosen)
  useRowKeys()
  const shown = services?.filter(
    (one) => one.name.includes(q.toLowerCase()) && (state === undefined || one.state === state),
  )
  return (
    <>
      <header className={styles.head}>
        <h1>Services {services && <span className="quiet">{services.length}</span>}</h1>
        <input
          ref={field}
          type="search"
          aria-label="Filter by name"
          placeholder="Filter"
          value={q}
          onChange={({ target }) => set({ q: target.value, state })}
          onKeyDown={({ key }) => key === 'Enter' && focusRow(1)}
        />
        <StateFilter services={services ?? []} state={state} onChange={(next) => set({ q, state: next })} />
        <NewService />
      </header>
      {!services && <Loading rows={5} />}
      {services?.length === 0 && <NoServices />}
      {shown && shown.length > 0 && <Table services={shown} />}
      {services?.length !== 0 && shown?.length === 0 && (
        <p className={styles.none}>
          No match among {services!.length} services.{' '}
          <button type="button" data-kind="small" onClick={() => set({ q: '', state: undefined })}>
            Show all
          </button>
        </p>
      )}
      <Command berth="berth services" request={{ method: 'GET', path: '/services' }} />
    </>
  )
}

function deployChosen(): void {
  const row = document.activeElement?.closest('tr')
  row?.querySelector<HTMLElement>('[data-keys="d"]')?.click()
}

interface Filter {
  q: string
  state: string | undefined
}

/** In the address. What is typed is shown at once; the address follows. */
function useFilter() {
  const search = useSearch({ from: '/services' })
  const [filter, setFilter] = useState<Filter>({ q: search.q ?? '', state: search.state })
  const navigate = useNavigate({ from: '/services' })
  const set = ({ q, state }: Filter) => {
    setFilter({ q, state })
    void navigate({ search: { ...(q && { q }), ...(state && { state }) }, replace: true })
  }
  return { ...filter, set }
}

interface StateFilterProps {
  services: Service[]
  state: string | undefined
  onChange(state: string | undefined): void
}

/** Only the states that there are. */
function StateFilter({ services, state, onChange }: StateFilterProps) {
  const states = new Set(services.map((service) => service.state as string))
  if (state) states.add(state)
  const count = (one: string) => services.filter((service) => service.state === one).length
  return (
    <Choice
      label="Filter by state"
      all="All states"
      value={state}
      options={[...states].map((one) => [one, `${wordOf(one)} (${count(one)})`])}
      onChoose={(next) => onChange(next || undefined)}
    />
  )
}

function Table({ services }: { services: Service[] }) {
  return (
    <table className={styles.table}>
      <TableHead names={['Service', 'Version', 'Deployed']} />
      <tbody>
        {services.map((service) => (
          <ServiceRow key={service.id} service={service} />
        ))}
      </tbody>
    </table>
  )
}
