// The chart of one kind: how many actors are in each state, and how long that takes.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Chart } from '../chart/chart.tsx'
import { layoutQuery } from '../chart/layouts.ts'
import { Command } from '../controls/command.tsx'
import { Copy } from '../controls/copy.tsx'
import { More } from '../controls/more.tsx'
import { Page } from '../shell/page.tsx'
import { Pending } from '../shell/pending.tsx'
import { NotFound, ProblemNote } from '../shell/problem.tsx'
import styles from './actor.module.css'
import { ActorTable } from './actor-table.tsx'
import { useActorChanges } from './live.ts'
import { actorsQuery, machinesQuery, mermaidQuery, timesQuery } from './queries.ts'
import { States } from './states.tsx'

export function KindPage() {
  const { kind } = useParams({ from: '/charts/$kind' })
  const [pointed, setPointed] = useState<string | null>(null)
  const layouts = useQuery(layoutQuery(kind))
  const machines = useQuery(machinesQuery)
  const { data: times = {} } = useQuery(timesQuery(kind))
  const actors = useInfiniteQuery(actorsQuery({ kind }))
  useActorChanges()
  const { data: layout } = layouts
  if (layout === undefined || !machines.data) return <Pending title={kind} of={[layouts, machines]} />
  if (layout === null) return <NotFound />
  const machine = machines.data.find((one) => one.kind === kind)
  const counts = machine?.actors ?? {}
  return (
    <Page title={`Chart of ${kind}`}>
      <div className="stack">
        <header className={styles.head}>
          <p className="quiet">
            <Link to="/charts">Charts</Link>
          </p>
          <h1>{kind}</h1>
          <p>{layout.states[0]!.summary}</p>
          <p className="quiet">
            {layout.states.length - 1} states{machine && ` · version ${machine.version}`} ·{' '}
            <Mermaid kind={kind} />
          </p>
        </header>
        <Chart kind={kind} history={[]} counts={counts} times={times} pointed={pointed} />
        {actors.data && <ActorTable actors={actors.data.pages.flatMap(({ items }) => items)} />}
        {actors.error && !actors.data && <ProblemNote error={actors.error} />}
        <More of={actors}>Show more</More>
        <States layout={layout} times={times} counts={counts} onPoint={setPointed} />
        <Command berth={`berth charts ${kind}`} request={{ method: 'GET', path: `/machines/${kind}` }} />
      </div>
    </Page>
  )
}

function Mermaid({ kind }: { kind: string }) {
  const { data: text } = useQuery(mermaidQuery(kind))
  return text === undefined ? null : <Copy text={text} label="Copy as Mermaid" />
}
