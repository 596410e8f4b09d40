// The newest deploys of a service.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Service } from '../../api/service.ts'
import { Loading } from '../controls/loading.tsx'
import { useRowKeys } from '../controls/rows.ts'
import { Mark } from '../look/mark.tsx'
import { Age } from '../look/times.tsx'
import { toneOf, wordOf } from '../look/tone.ts'
import styles from './overview.module.css'
import { deploysQuery } from './queries.ts'
import { triggerWord, Version } from './version.tsx'

const shownCount = 8

export function RecentDeploys({ service: { id, name } }: { service: Service }) {
  const { data: deploys } = useQuery(deploysQuery(id))
  useRowKeys()
  return (
    <section className={styles.panel}>
      <h2>Recent deploys</h2>
      {!deploys && <Loading rows={4} />}
      {deploys?.length === 0 && <p className="quiet">No deploys yet.</p>}
      <ul className={styles.list}>
        {deploys?.slice(0, shownCount).map((deploy) => (
          <li key={deploy.id}>
            <Link
              to="/services/$name/deploys/$id"
              params={{ name, id: deploy.id }}
              className={styles.deploy}
              data-row={deploy.id}
            >
              <Mark tone={toneOf(deploy.status)} label={wordOf(deploy.status)} />
              <span className={styles.clipped}>
                <Version deploy={deploy} />
              </span>
              <span className="quiet">
                {triggerWord(deploy)} <Age at={deploy.finished_at ?? deploy.created_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
