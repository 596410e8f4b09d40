// A list of things, each with its mark, its facts, and what can be done with it.
import type { ReactNode } from 'react'
import { Mark } from '../look/mark.tsx'
import type { Tone } from '../look/tone.ts'
import styles from './items.module.css'

export function Items({ children }: { children: ReactNode }) {
  return <ul className={styles.items}>{children}</ul>
}

interface ItemProps {
  tone: Tone
  title: ReactNode
  facts?: ReactNode
  /** Below the facts. */
  children?: ReactNode
  actions?: ReactNode
}

export function Item({ tone, title, facts, children, actions }: ItemProps) {
  return (
    <li className={styles.item}>
      <Mark tone={tone} />
      <div className={styles.text}>
        <strong>{title}</strong>
        {facts && <span className={styles.facts}>{facts}</span>}
        {children}
      </div>
      {actions && <div className={styles.actions}>{actions}</div>}
    </li>
  )
}
