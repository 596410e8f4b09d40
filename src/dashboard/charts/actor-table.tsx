// Actors in a table, the parked ones first, as the API lists them.

import { Link } from '@tanstack/react-router'
import type { Actor } from '../../api/actor.ts'
import { stateWords } from '../chart/causes.ts'
import { TableHead } from '../controls/table-head.tsx'
import { Mark } from '../look/mark.tsx'
import { shortId } from '../look/short-id.ts'
import { Age } from '../look/times.tsx'
import { toneOf } from '../look/tone.ts'
import styles from './actor-table.module.css'
import { Owner } from './owner.tsx'

export function ActorTable({ actors, empty = 'No actor is active.' }: { actors: Actor[]; empty?: string }) {
  if (actors.length === 0) return <p className="quiet">{empty}</p>
  return (
    <table className={styles.table}>
      <TableHead names={['Actor', 'Belongs to', 'State', 'Since', 'Restarts', 'Next']} />
      <tbody>
        {actors.map((actor) => (
          <Row key={actor.id} actor={actor} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ actor }: { actor: Actor }) {
  const { id, kind, status, state, parked, since, restarts, next_at: nextAt } = actor
  return (
    <tr data-parked={parked !== null}>
      <th scope="row">
        <Link to="/charts/$kind/$id" params={{ kind, id }} className={styles.name}>
          <Mark tone={parked ? 'parked' : toneOf(status)} />
          <span>
            {kind} {id !== kind && <span className="quiet">{shortId(id)}</span>}
          </span>
        </Link>
      </th>
      <td>
        <Owner actor={actor} />
      </td>
      <td>{parked ? `Parked: ${parked.reason}` : stateWords(state ?? status)}</td>
      <td className="quiet">{since && <Age at={since} />}</td>
      <td className="quiet">{restarts || null}</td>
      <td className="quiet">
        {nextAt && <time dateTime={nextAt}>{new Date(nextAt).toLocaleString()}</time>}
      </td>
    </tr>
  )
}
