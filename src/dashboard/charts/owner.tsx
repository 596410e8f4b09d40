// What an actor belongs to, as a link to its page where there is one.
import { Link } from '@tanstack/react-router'
import type { Actor } from '../../api/actor.ts'

type OwnerProps = { actor: Pick<Actor, 'kind' | 'id' | 'service_id' | 'service_name'> }

export function Owner({ actor: { kind, id, service_id: serviceId, service_name: name } }: OwnerProps) {
  if (name === null) return <>{serviceId ?? 'the server'}</>
  if (!serviceId?.startsWith('svc-')) return <>{name}</>
  return (
    <>
      <Link to="/services/$name" params={{ name }}>
        {name}
      </Link>
      {kind === 'deploy' && (
        <>
          {' · '}
          <Link to="/services/$name/deploys/$id" params={{ name, id }}>
            log
          </Link>
        </>
      )}
    </>
  )
}
