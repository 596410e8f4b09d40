// All actors of the server: a tile for each kind, and a list with the parked ones first.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { Actor } from '../../api/actor.ts'
import type { MachineSummary } from '../../api/machine.ts'
import { layoutQuery } from '../chart/layouts.ts'
import { Choice } from '../controls/choice.tsx'
import { Command } from '../controls/command.tsx'
import { More } from '../controls/more.tsx'
import { Mark } from '../look/mark.tsx'
import { Page } from '../shell/page.tsx'
import { ProblemNote } from '../shell/problem.tsx'
import { ActorTable } from './actor-table.tsx'
import styles from './charts.module.css'
import { useActorChanges } from './live.ts'
import { actorsQuery, machinesQuery } from './queries.ts'
import { Thumbnail } from './thumbnail.tsx'

export interface ChartsSearch {
  kind?: string
  q?: string
  parked?: boolean
}

export function ChartsPage() {
  const search = useSearch({ from: '/charts' })
  const query = useInfiniteQuery(actorsQuery(search))
  const { data, error, refetch, hasNextPage } = query
  const actors = data?.pages.flatMap(({ items }) => items)
  const { data: machines } = useQuery(machinesQuery)
  useActorChanges()
  const parked = actors?.filter((actor) => actor.parked).length ?? 0
  const shown = actors?.filter((actor) => matches(actor, search.q ?? ''))
  return (
    <Page title="Charts">
      <div className="stack">
        <h1>Charts</h1>
        <p className="quiet">
          Everything that this server does is done by an actor, and every actor is in a state of its chart.
        </p>
        {parked > 0 && !search.parked && (
          <p>
            <Mark tone="parked" />{' '}
            <Link to="/charts" search={{ parked: true }}>
              {parked === 1 ? '1 actor is parked' : `${parked} actors are parked`}
            </Link>{' '}
            after an error in the server.
          </p>
        )}
        {machines && (
          <ul className={styles.tiles}>
            {machines.map((machine) => (
              <Tile key={machine.kind} machine={machine} />
            ))}
          </ul>
        )}
        <Filters
          search={search}
          kinds={machines?.map(({ kind }) => kind) ?? []}
          count={shown && `${shown.length}${hasNextPage ? '+' : ''}`}
        />
        {error && !actors && <ProblemNote error={error} onRetry={() => void refetch()} />}
        {shown && <ActorTable actors={shown} empty={emptyWords(search, hasNextPage)} />}
        <More of={query}>Show more</More>
        <Command berth="berth actors --watch" request={{ method: 'GET', path: '/actors' }} />
      </div>
    </Page>
  )
}

function emptyWords(search: ChartsSearch, hasMore: boolean): string {
  if (Object.keys(search).length === 0) return 'No actor is active.'
  return hasMore ? 'None of those read so far fits the filter.' : 'No actor fits the filter.'
}

function matches({ id, kind, service_name: name, status, state }: Actor, q: string): boolean {
  return [id, kind, name, status, state].some((text) => text?.toLowerCase().includes(q.toLowerCase()))
}

function Tile({ machine: { kind, actors } }: { machine: MachineSummary }) {
  const { data: layout } = useQuery(layoutQuery(kind))
  const counts = Object.entries(actors).filter(([, count]) => count > 0)
  return (
    <li>
      <Link to="/charts/$kind" params={{ kind }} className={styles.tile}>
        <strong>{kind}</strong>
        <span className={styles.picture}>{layout && <Thumbnail layout={layout} counts={actors} />}</span>
        <span className={styles.counts}>
          {counts.length === 0 && 'None'}
          {counts.map(([state, count]) => (
            <span key={state}>
              {count} {state.split('.').at(-1)}
            </span>
          ))}
        </span>
      </Link>
    </li>
  )
}

interface FiltersProps {
  search: ChartsSearch
  kinds: string[]
  count: string | undefined
}

function Filters({ search, kinds, count }: FiltersProps) {
  const navigate = useNavigate({ from: '/charts' })
  const set = (change: { [Name in keyof ChartsSearch]: ChartsSearch[Name] | undefined }) => {
    const { kind, q, parked } = { ...search, ...change }
    const next = { ...(kind && { kind }), ...(q && { q }), ...(parked && { parked }) }
    void navigate({ search: next, replace: true, resetScroll: false })
  }
  return (
    <form className={styles.filters} onSubmit={(event) => event.preventDefault()}>
      <h2>Actors {count !== undefined && <span className="quiet">{count}</span>}</h2>
      <Choice
        label="Kind"
        all="All kinds"
        value={search.kind}
        options={kinds.map((kind) => [kind])}
        onChoose={(kind) => set({ kind })}
      />
      <label>
        <input
          type="checkbox"
          checked={search.parked ?? false}
          onChange={({ target }) => set({ parked: target.checked || undefined })}
        />{' '}
        Parked
      </label>
      <input
        type="search"
        aria-label="Filter by name, state or id"
        placeholder="Filter"
        defaultValue={search.q}
        onChange={({ target }) => set({ q: target.value || undefined })}
      />
    </form>
  )
}
