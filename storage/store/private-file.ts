// Small files that only their owner can read. Writes are atomic: a crash leaves the old file or the new one.
import * as fs from 'node:fs'
import { dirname } from 'node:path'

export function createPrivateFile(path: string, text: string): void {
  const draft = `${path}.new`
  fs.rmSync(draft, { force: true })
  const file = fs.openSync(draft, 'wx', 0o600)
  try {
    fs.fchmodSync(file, 0o600)
    fs.writeFileSync(file, text)
    fs.fsyncSync(file)
  } finally {
    fs.closeSync(file)
  }
  fs.renameSync(draft, path)
  syncDirectory(dirname(path))
}

function syncDirectory(path: string): void {
  const directory = fs.openSync(path, 'r')
  try {
    fs.fsyncSync(directory)
  } finally {
    fs.closeSync(directory)
  }
}
