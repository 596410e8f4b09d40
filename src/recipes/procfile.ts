// The Procfile of a source: `web: gunicorn app:app`.
import type { Tree } from './tree.ts'

const maxCommand = 2000

/** The commands by the names of their processes, in the order of the file. */
export function readProcfile(app: Tree): Map<string, string> {
  const lines = app.text('Procfile').split(/\r?\n/)
  const processes = lines.flatMap((line): [string, string][] => {
    const [, name, command = ''] = /^([\w-]+):(.*)$/.exec(line) ?? []
    const text = command.replace(/\p{Cc}/gu, ' ').trim()
    return name === undefined || text === '' || text.length > maxCommand ? [] : [[name, text]]
  })
  return new Map(processes)
}
