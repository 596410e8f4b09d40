// Who changed what, from where, and how it ended.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { AuditEntry } from '../../api/audit.ts'
import { Command } from '../controls/command.tsx'
import { toWord } from '../controls/curl.ts'
import { More } from '../controls/more.tsx'
import { byDay } from '../look/by-day.ts'
import { timeOfDay } from '../look/clock-time.ts'
import type { Tone } from '../look/tone.ts'
import { filled } from './form.tsx'
import { Item, Items } from './items.tsx'
import { type AuditFilter, auditQuery } from './queries.ts'
import { Read } from './read.tsx'
import styles from './server.module.css'
import { ServerPage } from './server-page.tsx'

export function AuditPage() {
  const filter = useSearch({ from: '/server/audit' })
  const query = useInfiniteQuery(auditQuery(filter))
  const { subject, actor, action } = filter
  // An address may come from anyone, and the command is there to be copied.
  const words = [
    actor && `--by ${toWord(actor)}`,
    action && `--action ${toWord(action)}`,
    subject && toWord(subject),
  ].filter(Boolean)
  return (
    <ServerPage page="Audit">
      <Filters filter={filter} />
      <Read of={query}>
        {({ pages }) => {
          const entries = pages.flatMap(({ items }) => items)
          if (entries.length === 0 && !query.hasNextPage)
            return (
              <p className="quiet">
                {words.length > 0 ? 'Nothing fits the filter.' : 'Nothing was changed yet.'}
              </p>
            )
          return byDay(entries, ({ at }) => at).map(([day, ofDay]) => (
            <section key={day} className={styles.section}>
              <h2 className={styles.day}>{day}</h2>
              <Items>
                {ofDay.map((entry) => (
                  <Entry key={entry.id} entry={entry} />
                ))}
              </Items>
            </section>
          ))
        }}
      </Read>
      <More of={query}>Show older</More>
      <Command
        berth={['berth audit', ...words].join(' ')}
        request={{
          method: 'GET',
          path: `/audit${words.length > 0 ? '?' : ''}${new URLSearchParams({ ...filter })}`,
        }}
      />
    </ServerPage>
  )
}

const labels = { actor: 'Who', action: 'What, such as env', subject: 'About' } as const
const pauseMs = 300

function Filters({ filter }: { filter: AuditFilter }) {
  const navigate = useNavigate({ from: '/server/audit' })
  const form = useRef<HTMLFormElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // The tab of this page leads to it without a filter.
  useEffect(() => {
    if (!form.current!.contains(document.activeElement)) form.current!.reset()
  }, [filter])
  const search = () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      void navigate({ search: filled(new FormData(form.current!)), replace: true })
    }, pauseMs)
  }
  return (
    <form
      ref={form}
      className={styles.filters}
      onChange={search}
      onSubmit={(event) => event.preventDefault()}
    >
      {(Object.keys(labels) as (keyof AuditFilter)[]).map((name) => (
        <input
          key={name}
          name={name}
          type="search"
          aria-label={labels[name]}
          placeholder={labels[name]}
          defaultValue={filter[name]}
        />
      ))}
    </form>
  )
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { at, actor, action, subject, service_name: service, address, changed, code, count } = entry
  const about = subject.name ?? subject.id
  const facts = [
    timeOfDay(Date.parse(at)),
    actor.name ?? actor.kind,
    address,
    changed.length > 0 && `changed ${changed.join(', ')}`,
    entry.exit_code !== null && `exit code ${entry.exit_code}`,
    count > 1 && `${count} times`,
  ]
  return (
    <Item
      tone={toneFor(entry)}
      title={
        <>
          {about ? `${action} ${about}` : action}
          {service !== about && service && ` of ${service}`}
          {code && `: ${code}`}
        </>
      }
      facts={facts.filter(Boolean).join(' · ')}
    />
  )
}

/** Without a status it runs, or its outcome is unknown. */
function toneFor({ status, finished_at: end }: AuditEntry): Tone {
  if (status === null) return end === null ? 'waiting' : 'healthy'
  return status < 400 ? 'healthy' : 'failed'
}
