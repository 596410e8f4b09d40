// What came with a push: the message of the new head, and the paths in which it differs from an earlier
// commit. Neither history nor contents of files are fetched.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createMask } from './credentials.ts'
import { writingEnvironment } from './environment.ts'
import { openHistory } from './history.ts'
import { GitError, runGit } from './process.ts'
import { openRemote, type RemotePlace } from './remote.ts'
import { toFailure } from './remote-failure.ts'

interface PushedCommits {
  /** Full ids. */
  head: string
  /** Null if the paths are not needed. */
  base: string | null
}

export interface PushedChanges {
  /** At most 4 KiB. */
  message: string
  /** Null if they are unknown: the earlier commit is gone, or there are too many. */
  paths: string[] | null
}

const maxMessageLength = 4096

/** The directory of the place exists, and its `.git` is replaced. Throws what a checkout throws. */
export async function readPushedChanges(
  place: Omit<RemotePlace, 'onLine'>,
  { head, base }: PushedCommits,
): Promise<PushedChanges> {
  const { directory, marker, signal, credentials } = place
  const quiet = { onLine: () => undefined, signal }
  await rm(join(directory, '.git'), { recursive: true, force: true })
  const format = `--object-format=${head.length === 64 ? 'sha256' : 'sha1'}`
  const init = ['init', '--quiet', '--template=', '--initial-branch=main', format]
  await runGit(init, {
    ...quiet,
    cwd: directory,
    env: writingEnvironment(marker),
    mask: createMask(credentials),
  })
  const remote = openRemote({ ...place, ...quiet })
  const history = openHistory(directory, marker, signal)
  const parts = base === null ? 'message only' : 'names only'
  try {
    await remote.fetch([`${head}:refs/berth/head`], 'none', parts)
    const message = await history.message(head, maxMessageLength)
    const paths = base === null ? null : await readPaths(base)
    return { message, paths }
  } catch (error) {
    throw toFailure(error, place)
  }

  async function readPaths(from: string): Promise<string[] | null> {
    try {
      await remote.fetch([`${from}:refs/berth/base`], 'none', parts)
      return await history.changedPaths(from, head)
    } catch (error) {
      if (error instanceof GitError) return null
      throw error
    }
  }
}
