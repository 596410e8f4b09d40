// Every transition of every actor, in words, live. Repetitions are counted.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { causeWords, stateWords } from '../chart/causes.ts'
import { toRepeats } from '../chart/repeats.ts'
import { machinesQuery } from '../charts/queries.ts'
import { Choice } from '../controls/choice.tsx'
import { Command } from '../controls/command.tsx'
import { More } from '../controls/more.tsx'
import { byDay } from '../look/by-day.ts'
import { timeOfDay } from '../look/clock-time.ts'
import { Mark } from '../look/mark.tsx'
import { requesterOf } from '../look/requester.ts'
import { shortId } from '../look/short-id.ts'
import { toneOf } from '../look/tone.ts'
import { servicesQuery } from '../service/queries.ts'
import { Page } from '../shell/page.tsx'
import { ProblemNote } from '../shell/problem.tsx'
import styles from './activity.module.css'
import { useNews } from './news.ts'
import { type ActivityFilter, activityQuery, type Entry } from './queries.ts'

export function ActivityPage() {
  const filter = useSearch({ from: '/activity' })
  const query = useInfiniteQuery(activityQuery(filter))
  const { data, error, refetch, hasNextPage } = query
  useNews(filter)
  const entries = data?.pages.flatMap(({ items }) => items)
  const flags = [filter.service, filter.kind && `--kind ${filter.kind}`].filter(Boolean)
  return (
    <Page title="Activity">
      <div className="stack">
        <Head filter={filter} />
        {error && !data && <ProblemNote error={error} onRetry={() => void refetch()} />}
        {entries?.length === 0 && !hasNextPage && (
          <p className="quiet">{flags.length === 0 ? 'Nothing happened yet.' : 'Nothing fits the filter.'}</p>
        )}
        {entries && <Days entries={entries} />}
        <More of={query}>Show older</More>
        <Command
          berth={['berth activity', ...flags].join(' ')}
          request={{ method: 'GET', path: `/activity?${new URLSearchParams({ ...filter })}` }}
        />
      </div>
    </Page>
  )
}

function Head({ filter }: { filter: ActivityFilter }) {
  const navigate = useNavigate({ from: '/activity' })
  const { data: machines = [] } = useQuery(machinesQuery)
  const { data: services = [] } = useQuery(servicesQuery)
  const choose = (name: keyof ActivityFilter, value: string) => {
    const { [name]: _, ...rest } = filter
    void navigate({ search: value === '' ? rest : { ...rest, [name]: value }, replace: true })
  }
  const choiceOf = (name: keyof ActivityFilter, label: string, all: string, values: string[]) => {
    // One that does not exist any more may be in the address.
    const known = new Set(filter[name] ? [...values, filter[name]] : values)
    const options = [...known].map((value): [string] => [value])
    const props = { label, all, options, value: filter[name] }
    return <Choice {...props} onChoose={(value) => choose(name, value)} />
  }
  const kinds = machines.map(({ kind }) => kind)
  const names = services.map(({ name }) => name)
  return (
    <header className={styles.head}>
      <h1>Activity</h1>
      {choiceOf('kind', 'Kind', 'All kinds', kinds)}
      {choiceOf('service', 'Service', 'All services', names)}
    </header>
  )
}

function Days({ entries }: { entries: Entry[] }) {
  return byDay(entries, ({ at }) => at).map(([day, ofDay]) => (
    <section key={day}>
      <h2 className={styles.day}>{day}</h2>
      <ol className={styles.list}>
        {toRepeats(ofDay, ({ actor_id, event, state }) => `${actor_id} ${event} ${state}`).flatMap(
          ({ items, length, count }) =>
            items
              .slice(0, length)
              .map((entry, index) => (
                <Line
                  key={`${entry.actor_id} ${entry.revision}`}
                  entry={entry}
                  count={index === 0 ? count : 1}
                />
              )),
        )}
      </ol>
    </section>
  ))
}

function Line({ entry, count }: { entry: Entry; count: number }) {
  const { kind, actor_id: id, service_name: name, event, state, status, at, by, revision } = entry
  const requester = requesterOf(by)
  return (
    <li>
      <Link to="/charts/$kind/$id" params={{ kind, id }} search={{ at: revision }} className={styles.line}>
        <time dateTime={at}>{timeOfDay(Date.parse(at))}</time>
        <Mark tone={toneOf(state === 'parked' ? 'parked' : status)} />
        <span className={styles.what}>
          <strong>{name ?? (id === kind ? 'The server' : shortId(id))}</strong>{' '}
          <span className="quiet">{kind}</span> {stateWords(state)}
          {count > 1 && <span className={styles.count}> ×{count}</span>}
        </span>
        <span className={styles.why}>
          {causeWords(event)}
          {requester && `, by ${requester}`}
        </span>
      </Link>
    </li>
  )
}
