// Settings and variables that are saved but not live yet: they take effect with the next deploy.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Deploy } from '../../api/deploy.ts'
import type { DeployDiff } from '../../api/deploy-diff.ts'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { Changes } from '../deploy/changes.tsx'
import { useFollow } from '../deploy/follow.ts'
import styles from './overview.module.css'
import { savedChangesQuery } from './queries.ts'
import { canDeploy, isUnderWay } from './state.ts'

export function SavedChanges({ service }: { service: Service }) {
  const { id, name, live_deploy_id: liveId, latest_deploy: latest } = service
  const [isOpen, setOpen] = useState(false)
  const follow = useFollow(name)
  const { data: diff } = useQuery({ ...savedChangesQuery(service), enabled: liveId !== null })
  const words = diff?.complete && wordsFor(diff)
  if (!words || isUnderWay(latest)) return null
  const deploy = canDeploy(service) && (
    <Action kind="main" run={send<Deploy>('POST', `/services/${id}/deploys`, {})} onAccepted={follow}>
      Deploy now
    </Action>
  )
  return (
    <div className={styles.notice}>
      <span>{words} saved but not live yet.</span>
      <button type="button" onClick={() => setOpen(true)}>
        View changes
      </button>
      {!isOpen && deploy}
      {isOpen && (
        <Dialog
          title={`What the next deploy of ${name} changes`}
          closeLabel="Close"
          actions={deploy}
          onClose={() => setOpen(false)}
        >
          <Changes diff={toNext(diff)} />
          <Command
            berth={`berth diff ${name}`}
            request={{ method: 'GET', path: `/deploys/${liveId}/diff?against=saved` }}
          />
        </Dialog>
      )}
    </div>
  )
}

/** "2 settings and 1 variable are"; empty if nothing differs. */
function wordsFor({ settings, env }: DeployDiff): string {
  const variables = env.added.length + env.changed.length + env.removed.length
  const parts = [counted(settings.length, 'setting'), counted(variables, 'variable')].filter((part) => part)
  const isOne = settings.length + variables === 1
  return parts.length === 0 ? '' : `${parts.join(' and ')} ${isOne ? 'is' : 'are'}`
}

function counted(count: number, noun: string): string {
  return count === 0 ? '' : `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The API compares the live deploy with what is saved: from there to here. */
function toNext({ settings, env, ...rest }: DeployDiff): DeployDiff {
  return {
    ...rest,
    commit: null,
    image: null,
    settings: settings.map(({ field, from, to }) => ({ field, from: to, to: from })),
    env: { added: env.removed, changed: env.changed, removed: env.added },
  }
}
