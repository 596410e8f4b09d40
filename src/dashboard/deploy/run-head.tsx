// The head of the page of a deploy or of a job run: where it belongs, its state, and what can be done now.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Mark } from '../look/mark.tsx'
import { shortId } from '../look/short-id.ts'
import type { Tone } from '../look/tone.ts'
import styles from './deploy.module.css'

interface RunHeadProps {
  service: string
  list: 'deploys' | 'jobs'
  id: string
  word: string
  tone: Tone
  actions: ReactNode
  children: ReactNode
}

export function RunHead({ service: name, list, id, word, tone, actions, children }: RunHeadProps) {
  return (
    <header className={styles.head}>
      <p className={styles.path}>
        <Link to="/services/$name" params={{ name }}>
          {name}
        </Link>
        {' / '}
        <Link to={`/services/$name/${list}`} params={{ name }}>
          {list === 'deploys' ? 'Deploys' : 'Jobs'}
        </Link>
        {' / '}
        <span title={id}>{shortId(id)}</span>
      </p>
      <div className={styles.title}>
        <h1>
          <Mark tone={tone} /> {word}
        </h1>
        {actions}
      </div>
      {children}
    </header>
  )
}
