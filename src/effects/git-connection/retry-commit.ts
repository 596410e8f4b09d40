// Repeats a commit while the store cannot write, because what a provider issued exists only once.
import { sleep } from '../../async/sleep.ts'
import { codeOf } from '../../errors.ts'

const pauseMs = 1000

export async function retryCommit(commit: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await commit()
    } catch (error) {
      if (codeOf(error) !== 'commit_failed') throw error
      await sleep(pauseMs, undefined, { ref: false })
    }
  }
}
