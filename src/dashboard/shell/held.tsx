// A server that was restored from a backup does nothing by itself until it is activated.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import styles from './connection.module.css'

const loadDialog = () => import('./activate.tsx')
const ActivateDialog = lazy(async () => ({ default: (await loadDialog()).ActivateDialog }))

/** The host may activate it too, of which the feed says nothing: it is asked again with the focus. */
export const heldQuery = queryOptions({
  queryKey: ['server', 'health', 'held'],
  queryFn: async () => (await (await fetch('/healthz?verbose=true')).text()).split('\n').includes('held'),
  refetchOnWindowFocus: ({ state }) => state.data === true && 'always',
})

export function HeldBar() {
  const { data: isHeld } = useQuery(heldQuery)
  const [isOpen, setOpen] = useState(false)
  if (!isHeld) return null
  return (
    <div className={styles.held} role="status">
      <p>
        <strong>This restored server is held.</strong> It serves, but runs no schedule, and renews and backs
        up nothing.
      </p>
      <button type="button" data-kind="small" onClick={() => setOpen(true)}>
        Activate…
      </button>
      {isOpen && (
        <Suspense>
          <ActivateDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}
