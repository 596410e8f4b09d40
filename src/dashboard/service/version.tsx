// What a deploy brings: its commit, its image or an upload.
import type { Deploy } from '../../api/deploy.ts'

export function Version({ deploy }: { deploy: Pick<Deploy, 'commit_sha' | 'commit_message' | 'source'> }) {
  const { commit_sha: sha, commit_message: message, source } = deploy
  if (sha !== null) {
    return (
      <>
        <code>{sha.slice(0, 7)}</code> {firstLine(message)}
      </>
    )
  }
  if (source.image !== null) return <code>{source.image}</code>
  if (source.kind === 'archive') return 'Uploaded folder'
  return source.kind === 'reuse' ? 'The image of an earlier deploy' : (source.branch ?? 'The default branch')
}

function firstLine(message: string | null): string {
  return message?.split('\n', 1)[0] ?? ''
}

const triggers: Record<Deploy['trigger'], string> = {
  create: 'created',
  manual: 'requested',
  push: 'pushed',
  hook: 'called',
  upload: 'uploaded',
  rollback: 'rolled back',
  restart: 'restarted',
}

export const triggerWord = ({ trigger }: Pick<Deploy, 'trigger'>) => triggers[trigger]
