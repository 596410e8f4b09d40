// What an actor belongs to, as a link to its page where there is one.
import { Link } from '@tanstack/react-router'
import type { Actor } from '../../api/actor.ts'

interface OwnerProps {
  actor: Actor
  /** Whether its log is linked too. */
  hasLog?: boolean
}

const logPages: Record<string, '/services/$name/deploys/$id' | '/services/$name/jobs/$id'> = {
  deploy: '/services/$name/deploys/$id',
  'job-run': '/services/$name/jobs/$id',
}

export function Owner({ actor, hasLog = false }: OwnerProps) {
  const { kind, id, service_id: serviceId, service_name: name } = actor
  const page = hasLog && logPages[kind]
  if (name === null) return <>{serviceId ?? 'the server'}</>
  if (!serviceId?.startsWith('svc-')) return <>{name}</>
  return (
    <>
      <Link to="/services/$name" params={{ name }}>
        {name}
      </Link>
      {page && (
        <>
          {' · '}
          <Link to={page} params={{ name, id }}>
            log
          </Link>
        </>
      )}
    </>
  )
}
