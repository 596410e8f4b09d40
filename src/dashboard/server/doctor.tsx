// What keeps the server from working, or could soon, with the command that fixes it.
import { useQuery } from '@tanstack/react-query'
import type { Doctor } from '../../api/doctor.ts'
import { Code, Command } from '../controls/command.tsx'
import { Age } from '../look/times.tsx'
import { toSentence } from '../shell/problem.tsx'
import { Item, Items } from './items.tsx'
import { doctorQuery } from './queries.ts'
import { Read } from './read.tsx'
import styles from './server.module.css'
import { ServerPage } from './server-page.tsx'

export function DoctorPage() {
  const query = useQuery(doctorQuery)
  const { isFetching, refetch } = query
  return (
    <ServerPage page="Doctor">
      <Read of={query}>
        {(report) => (
          <>
            <div className={styles.head}>
              <p>
                {summaryOf(report)}{' '}
                <span className="quiet">
                  Looked <Age at={report.checked_at} />.
                </span>
              </p>
              <button
                type="button"
                aria-disabled={isFetching}
                onClick={isFetching ? undefined : () => void refetch()}
              >
                Look again
              </button>
            </div>
            <Findings report={report} />
          </>
        )}
      </Read>
      <Command berth="berth doctor" request={{ method: 'GET', path: '/doctor' }} />
    </ServerPage>
  )
}

function summaryOf({ findings }: Doctor): string {
  const words = ['problem', 'warning'].flatMap((word) => {
    const count = findings.filter(({ severity }) => severity === word).length
    return count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`]
  })
  return words.length === 0 ? 'All is good.' : `${words.join(', ')}.`
}

function Findings({ report: { findings } }: { report: Doctor }) {
  const wrong = findings.filter(({ severity }) => severity !== 'good')
  const good = findings.filter(({ severity }) => severity === 'good')
  return (
    <>
      {wrong.length > 0 && (
        <Items>
          {wrong.map(({ code, severity, found, why, fix }) => (
            <Item
              key={`${code} ${found}`}
              tone={severity === 'problem' ? 'failed' : 'unhealthy'}
              title={toSentence(found)}
              facts={why}
            >
              {fix && <Code text={fix} />}
            </Item>
          ))}
        </Items>
      )}
      {good.length > 0 && (
        <details className={styles.good} open={wrong.length === 0}>
          <summary>{good.length} good</summary>
          <Items>
            {good.map(({ code, found }) => (
              <Item key={code} tone="healthy" title={code} facts={found} />
            ))}
          </Items>
        </details>
      )}
    </>
  )
}
