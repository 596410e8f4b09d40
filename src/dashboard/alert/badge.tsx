// How many open alerts are not acknowledged, next to the name of their page.
import { useQuery } from '@tanstack/react-query'
import styles from './badge.module.css'
import { openAlertsQuery } from './queries.ts'

export function AlertBadge() {
  const { data = [] } = useQuery(openAlertsQuery)
  const raised = data.filter(({ status }) => status === 'raised')
  if (raised.length === 0) return null
  const worst = raised.some(({ severity }) => severity === 'problem') ? 'problem' : 'warning'
  return (
    <span className={styles.badge} data-severity={worst}>
      {raised.length > 99 ? '99+' : raised.length}
      <span className="hidden"> not acknowledged</span>
    </span>
  )
}
