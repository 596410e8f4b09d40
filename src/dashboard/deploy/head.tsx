// What a deploy is: its state, what it brings, who requested it, and what serves until then.
import { Link } from '@tanstack/react-router'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { requesterOf } from '../look/requester.ts'
import { shortId } from '../look/short-id.ts'
import { Age } from '../look/times.tsx'
import type { Tone } from '../look/tone.ts'
import { triggerWord, Version } from '../service/version.tsx'
import { Actions } from './actions.tsx'
import { RunHead } from './run-head.tsx'

interface HeadProps {
  service: Service
  deploy: Deploy
  word: string
  tone: Tone
  isPast: boolean
}

export function Head({ service, deploy, word, tone, isPast }: HeadProps) {
  const { name, live_deploy_id: liveId } = service
  const { id, created_at: at, by } = deploy
  const isLive = id === liveId || deploy.status === 'deactivated'
  const requester = requesterOf(by)
  return (
    <RunHead
      service={name}
      list="deploys"
      id={id}
      word={word}
      tone={tone}
      actions={!isPast && <Actions service={service} deploy={deploy} />}
    >
      <p>
        <Version deploy={deploy} />
        <span className="quiet">
          {' · '}
          {triggerWord(deploy)} <Age at={at} />
          {requester && ` by ${requester}`}
          {!isLive && !isPast && liveId !== null && (
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
    </RunHead>
  )
}
