// What a deploy is: its state, what it brings, who requested it, and what serves until then.
import { Link } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { Mark, type Tone } from '../look/mark.tsx'
import { shortId } from '../look/short-id.ts'
import { Age } from '../look/times.tsx'
import { triggerWord, Version } from '../service/version.tsx'
import { Actions } from './actions.tsx'
import styles from './deploy.module.css'
import { requesterOf } from './requester.ts'

interface HeadProps {
  service: Service
  deploy: Deploy
  word: string
  tone: Tone
}

export function Head({ service, deploy, word, tone }: HeadProps) {
  const { name, live_deploy_id: liveId } = service
  const { id, created_at: at, by } = deploy
  const isLive = id === liveId || deploy.status === 'deactivated'
  const requester = requesterOf(by)
  return (
    <header className={styles.head}>
      <p className={styles.path}>
        <Link to="/services/$name" params={{ name }}>
          {name}
        </Link>
        {' / '}
        <Link to="/services/$name/deploys" params={{ name }}>
          Deploys
        </Link>
        {' / '}
        <span title={id}>{shortId(id)}</span>
      </p>
      <div className={styles.title}>
        <h1>
          <Mark tone={tone} /> {word}
        </h1>
        <Actions service={service} deploy={deploy} />
      </div>
      <p>
        <Version deploy={deploy} />
        <span className="quiet">
          {' · '}
          {triggerWord(deploy)} <Age at={at} />
          {requester && ` by ${requester}`}
          {!isLive && liveId !== null && (
            <>
              {' · '}
              <Link to="/services/$name/deploys/$id" params={{ name, id: liveId }}>
                {shortId(liveId)}
              </Link>{' '}
              still serves
            </>
          )}
        </span>
      </p>
    </header>
  )
}
