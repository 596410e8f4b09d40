// A program of the operator that changes the zone: `PROGRAM present NAME. VALUE`, later with `cleanup`.
// Scripts for lego's `exec` provider work too. It runs without a shell, in a process group that is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { Failure, messageOf } from '../errors.ts'
import type { DnsProvider, TxtRecord } from './provider.ts'

const longestMs = 120_000
/** The limit for the end of its output, because the last lines usually contain the reason. */
const maxOutputBytes = 2_000

export function createHook(path: string, timeoutMs = longestMs): DnsProvider {
  const call = (action: string, { name, value }: TxtRecord, signal: AbortSignal) =>
    runHook(path, [action, `${name}.`, value], AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
  return {
    present: (record, signal) => call('present', record, signal),
    cleanup: (record, signal) => call('cleanup', record, signal),
  }
}

async function runHook(path: string, args: string[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let output = ''
  const ended = await new Promise<string | null>((resolve) => {
    const child = spawn(path, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const onAbort = () => endGroup(child)
    signal.addEventListener('abort', onAbort)
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString('utf8')).slice(-maxOutputBytes)
      })
    }
    child.once('error', (error) => resolve(messageOf(error)))
    // Background processes of the hook may keep the pipes open.
    child.once('exit', (code, killed) => {
      setTimeout(() => {
        signal.removeEventListener('abort', onAbort)
        endGroup(child)
        child.stdout.destroy()
        child.stderr.destroy()
        resolve(code === 0 ? null : code === null ? `it was ended by ${killed}` : `it exited with ${code}`)
      }, 50)
    })
  })
  if (ended === null) return
  const reason = signal.aborted ? 'it took too long' : ended
  const said = redact(output)
  throw new Failure('dns_failed', `the DNS hook ${path} ${args[0]}: ${reason}${said && `: ${said}`}`)
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The whole group has already exited.
  }
}

/** On one line, without the values of variables whose names look like secrets. */
export function redact(text: string, env: NodeJS.ProcessEnv = process.env): string {
  const secrets = Object.entries(env)
    .filter(([name]) => /token|secret|key|passw|credential/i.test(name))
    .flatMap(([, value]) => (value && value.length >= 6 ? [value] : []))
  const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
  return hidden
    .replace(
      /(?<![\w-])([\w-]*(?:bearer|token|secret|password|key))(["']?\s*[:=]\s*|\s+)\S{6,}/gi,
      '$1$2[redacted]',
    )
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(-500)
}
