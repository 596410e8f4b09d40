// Two deploys next to each other: what they are, how long they took, and what differs.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { labelOfState } from '../chart/lines.ts'
import { Mark } from '../look/mark.tsx'
import { requesterOf } from '../look/requester.ts'
import { shortId } from '../look/short-id.ts'
import { duration } from '../look/times.tsx'
import { toneOf, wordOf } from '../look/tone.ts'
import { Version } from '../service/version.tsx'
import { ProblemNote } from '../shell/problem.tsx'
import { Changes } from './changes.tsx'
import styles from './compare.module.css'
import { diffQuery, withPhasesQuery } from './queries.ts'

interface ComparisonProps {
  service: Service
  deploy: Deploy
  otherId: string
}

export function Comparison({ service: { name }, deploy, otherId }: ComparisonProps) {
  const other = useQuery(withPhasesQuery(otherId, ''))
  const own = useQuery(withPhasesQuery(deploy.id, deploy.status))
  const diff = useQuery(diffQuery(deploy.id, otherId))
  const problem = other.error ?? own.error ?? diff.error
  return (
    <section className={styles.comparison} aria-label="Comparison">
      <header className={styles.head}>
        <h2>Compared with {shortId(otherId)}</h2>
        <Link
          to="/services/$name/deploys/$id"
          params={{ name, id: deploy.id }}
          search={({ compare: _, ...rest }) => rest}
        >
          Close
        </Link>
      </header>
      {problem && <ProblemNote error={problem} />}
      {other.data && own.data && <Table name={name} left={other.data} right={own.data} />}
      {diff.data && (
        <>
          <h3>What changed</h3>
          <Changes diff={diff.data} />
        </>
      )}
    </section>
  )
}

function Table({ name, left, right }: { name: string; left: Deploy; right: Deploy }) {
  const both = [left, right]
  const phases = [...new Set(both.flatMap(({ phases = [] }) => phases.map(({ phase }) => phase)))]
  const row = (label: string, show: (deploy: Deploy) => ReactNode) => (
    <tr key={label}>
      <th scope="row">{label}</th>
      {both.map((deploy) => (
        <td key={deploy.id}>{show(deploy)}</td>
      ))}
    </tr>
  )
  return (
    <table className={styles.table}>
      <thead>
        {row('Deploy', ({ id }) => (
          <Link to="/services/$name/deploys/$id" params={{ name, id }}>
            {shortId(id)}
          </Link>
        ))}
      </thead>
      <tbody>
        {row('State', ({ status }) => (
          <>
            <Mark tone={toneOf(status)} /> {wordOf(status)}
          </>
        ))}
        {row('Version', (deploy) => (
          <Version deploy={deploy} />
        ))}
        {row('Requested', ({ created_at: at, by }) => {
          const requester = requesterOf(by)
          return `${new Date(at).toLocaleString()}${requester && ` by ${requester}`}`
        })}
        {phases.map((phase) => row(labelOfState('deploy', phase), (deploy) => timeOf(deploy, phase)))}
      </tbody>
    </table>
  )
}

function timeOf({ phases = [] }: Deploy, phase: string): string {
  const times = phases.filter((one) => one.phase === phase && one.duration_ms !== null)
  return times.length === 0 ? '–' : duration(times.reduce((sum, { duration_ms: ms }) => sum + ms!, 0))
}
