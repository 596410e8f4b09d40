// A folder on a separate, small file system.
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandEnv } from './command.ts'
import type { Scope } from './directory.ts'

/** A tmpfs of that many MiB, unmounted afterwards. Needs root. */
export function smallDisk(t: Scope, sizeMb: number): string {
  const path = mkdtempSync(join(tmpdir(), 'berth-test-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', path])
  t.after(() => {
    execFileSync('umount', [path])
    rmSync(path, { recursive: true })
  })
  return path
}

/** The same as a real file system on a loop device. */
export function smallBlockDisk(t: Scope, sizeMb: number): string {
  const path = mkdtempSync(join(tmpdir(), 'berth-test-disk-'))
  const file = `${path}.image`
  writeFileSync(file, '')
  truncateSync(file, sizeMb * 1024 * 1024)
  execFileSync('mkfs.ext4', ['-q', '-m', '0', file], { env: commandEnv })
  execFileSync('mount', ['-o', 'loop', file, path], { env: commandEnv })
  t.after(() => {
    execFileSync('umount', [path])
    rmSync(path, { recursive: true })
    rmSync(file)
  })
  return path
}

/** Fills the free space except for that many MiB; returns a function that frees it again. */
export function fillDisk(directory: string, leftMb = 0): () => void {
  const path = join(directory, 'filler')
  const file = openSync(path, 'w')
  for (let pieceBytes = 1024 * 1024; pieceBytes >= 1; pieceBytes = Math.floor(pieceBytes / 4)) {
    while (takes(file, pieceBytes)) {}
  }
  closeSync(file)
  if (leftMb > 0) truncateSync(path, Math.max(0, statSync(path).size - leftMb * 1024 * 1024))
  return () => rmSync(path, { force: true })
}

function takes(file: number, pieceBytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(pieceBytes)) === pieceBytes
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}
