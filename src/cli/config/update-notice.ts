// A notice, at most once a day, that the server is newer than this command line. It needs no request: every
// response of the user's own server contains its version.
import { join } from 'node:path'
import { version } from '../../version.ts'
import type { Cli } from '../client/session.ts'
import { plain } from '../terminal/output.ts'
import { stateFolder } from './folders.ts'
import { readJsonFile, writeJsonFile } from './json-file.ts'

const dayMs = 24 * 60 * 60 * 1000

/** Runs after a command, only at a terminal. Its errors are ignored. */
export function noticeUpdate({ env, out, serverVersion }: Cli, now = Date.now()): void {
  if (!out.isLive || serverVersion === undefined || !isNewer(serverVersion, version)) return
  try {
    const path = join(stateFolder(env), 'update-notice.json')
    const last = (readJsonFile(path) as { at?: number } | undefined)?.at ?? 0
    if (last <= now && now - last < dayMs) return
    writeJsonFile(path, { at: now })
    out.say(
      out.tint('dim', ` ! the server is at ${plain(serverVersion)}, this berth at ${version}: update it`),
    )
  } catch {
    // A read-only home directory is not an error.
  }
}

/** Compares three-part versions; any other version is not newer. */
export function isNewer(one: string, other: string): boolean {
  const numbersOf = (text: string) => (/^(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number)
  const [mine, theirs] = [numbersOf(other), numbersOf(one)]
  if (mine.length !== 3 || theirs.length !== 3) return false
  const differentIndex = theirs.findIndex((number, index) => number !== mine[index])
  return differentIndex !== -1 && theirs[differentIndex]! > mine[differentIndex]!
}
