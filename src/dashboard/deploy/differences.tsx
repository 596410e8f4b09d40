// What a deploy changes: from the deploy that serves, or from the one that served before it.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { shortId } from '../look/short-id.ts'
import { Changes } from './changes.tsx'
import styles from './deploy.module.css'
import { diffQuery, formerQuery } from './queries.ts'

export function Differences({ service, deploy }: { service: Service; deploy: Deploy }) {
  const { id: serviceId, name, live_deploy_id: liveId } = service
  const { data: former = [] } = useQuery(formerQuery(serviceId, liveId))
  const isLive = deploy.id === liveId
  const against = isLive ? former.find(({ id }) => id < deploy.id)?.id : (liveId ?? undefined)
  // The settings and the env are frozen when it gets its turn.
  const isFrozen = deploy.status !== 'queued' && deploy.started_at !== null
  const { data: diff } = useQuery({
    ...diffQuery(deploy.id, against ?? ''),
    enabled: isFrozen && against !== undefined,
  })
  const others = former.filter(({ id }) => id !== deploy.id)
  if (!diff && others.length === 0) return null
  return (
    <section className={styles.panel}>
      <h2>
        {!diff ? 'Changes' : isLive ? 'Changes from the deploy before' : 'Changes from the live deploy'}
      </h2>
      {diff && against !== undefined && (
        <>
          <Changes diff={diff} />
          <p className="quiet">
            Compared with{' '}
            <Link to="/services/$name/deploys/$id" params={{ name, id: against }}>
              {shortId(against)}
            </Link>
          </p>
        </>
      )}
      <Choice others={others} liveId={isLive ? null : liveId} />
    </section>
  )
}

function Choice({ others, liveId }: { others: Deploy[]; liveId: string | null }) {
  const navigate = useNavigate({ from: '/services/$name/deploys/$id' })
  const choose = (id: string) => {
    void navigate({ search: ({ compare: _, ...rest }) => (id === '' ? rest : { ...rest, compare: id }) })
  }
  return (
    <label className={styles.choice}>
      <span>Compare with</span>
      <select value="" onChange={({ target }) => choose(target.value)}>
        <option value="">Choose a deploy…</option>
        {liveId !== null && <option value={liveId}>{shortId(liveId)} (live)</option>}
        {others.map(({ id, created_at: at, commit_sha: sha }) => (
          <option key={id} value={id}>
            {[shortId(id), sha?.slice(0, 7), new Date(at).toLocaleString()].filter(Boolean).join(' · ')}
          </option>
        ))}
      </select>
    </label>
  )
}
