// Interactive commands: input and output, and that none outlives its connection.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openDatastores } from '../../../src/docker/containers/datastores.ts'
import type { InteractiveExec, InteractiveOptions } from '../../../src/docker/exec/interactive-exec.ts'
import { type DockerSite, openDockerSite, until } from '../../support/docker/docker-site.ts'
import { findProcesses } from '../../support/system/processes.ts'

interface Talk {
  exec: InteractiveExec
  stdout: string
  stderr: string
  exitCode: number | null
  failures: unknown[]
}

interface Room {
  site: DockerSite
  name: string
  /** Runs a script of a shell, with what it needs. */
  talk(script: string, terminal?: InteractiveOptions['terminal']): Promise<Talk>
}

async function openRoom(t: TestContext): Promise<Room> {
  const site = await openDockerSite(t)
  const spec = await site.spec()
  await site.instances.ensure(spec)
  const datastores = openDatastores(site.engine, site.owner)
  return {
    site,
    name: spec.name,
    async talk(script, terminal = null) {
      const talk = { stdout: '', stderr: '', exitCode: null, failures: [] } as unknown as Talk
      const command = { argv: ['sh', '-c', script], env: { SECRET: 'hushed' } }
      talk.exec = await datastores.open(spec.name, command, {
        terminal,
        wrote(stream, bytes) {
          talk[stream] += bytes.toString('utf8')
        },
        ended(exitCode) {
          talk.exitCode = exitCode
        },
        failed: (error) => talk.failures.push(error),
      })
      return talk
    },
  }
}

const ended = (talk: Talk) => until('its end', () => talk.exitCode !== null)
const terminal = { name: 'vt100', columns: 91, rows: 17 }

test('through pipes both outputs are separate, input can end, and the exit code is reported', async (t) => {
  const { talk } = await openRoom(t)
  const spoken = await talk('cat; echo "$SECRET" >&2; exit 7')
  let takenBytes = 0
  spoken.exec.write(Buffer.from('one\n'), () => (takenBytes += 4))
  spoken.exec.write(Buffer.from('two\n'), () => (takenBytes += 4))
  spoken.exec.end()
  await ended(spoken)
  assert.deepEqual(
    [spoken.stdout, spoken.stderr, spoken.exitCode, takenBytes, spoken.failures],
    ['one\ntwo\n', 'hushed\n', 7, 8, []],
  )
})

test('a terminal has its name and size, also after a resize, and Ctrl-C is a signal', async (t) => {
  const { talk } = await openRoom(t)
  const script = 'trap "echo cut; exit 3" INT; while read word; do echo "$TERM $(stty size) $word"; done'
  const spoken = await talk(script, terminal)
  spoken.exec.write(Buffer.from('first\r'), () => {})
  await until('its size', () => spoken.stdout.includes('vt100 17 91 first'))

  spoken.exec.resize({ columns: 120, rows: 50 })
  spoken.exec.resize({ columns: 121, rows: 51 })
  await until('the new size', () => {
    spoken.exec.write(Buffer.from('x\r'), () => {})
    return spoken.stdout.includes('vt100 51 121 x')
  })
  // Repeated, because a shell loses a signal that arrives just before it blocks in `read`.
  await until('its end', () => {
    spoken.exec.write(Buffer.from('\x03'), () => {})
    return spoken.exitCode !== null
  })
  assert.deepEqual([spoken.exitCode, spoken.stderr], [3, ''])
})

for (const [how, at] of [
  ['through pipes', null],
  ['at a terminal', terminal],
] as const) {
  test(`a command ${how} that ignores its end is killed, with all its child processes`, async (t) => {
    const { talk, name, site } = await openRoom(t)
    const seconds = `${process.pid}${Math.floor(Math.random() * 1e4)}`
    const script = `trap "" INT HUP; sleep ${seconds} & sleep ${seconds}; sleep ${seconds}`
    const spoken = await talk(script, at)
    await until('the command', async () => (await findProcesses(`sleep ${seconds}`)).length === 2)
    assert.ok((await strangersIn(site, name)).length > 2)

    spoken.exec.close()

    await until('its end', async () => (await strangersIn(site, name)).length === 0)
    assert.deepEqual(await findProcesses(`sleep ${seconds}`), [])
    assert.deepEqual([spoken.exitCode, spoken.failures], [null, []])
  })
}

test('an ended command leaves no waiting process', async (t) => {
  const { talk, name, site } = await openRoom(t)
  await ended(await talk('exit 0'))
  await until('the end of the lifeline', async () => (await strangersIn(site, name)).length === 0)
})

test('a stopped or missing container is refused', async (t) => {
  const { talk, name, site } = await openRoom(t)
  await site.instances.stop(name, 0)
  await assert.rejects(talk('exit 0'), { code: 'docker_error', message: /not running/ })
  await site.instances.remove(name)
  await assert.rejects(talk('exit 0'), { code: 'docker_error', message: `there is no container ${name}` })
})

/** The processes in the container other than its own command. */
async function strangersIn({ engine }: DockerSite, name: string): Promise<string[]> {
  const { Processes } = await engine.docker.getContainer(name).top()
  const commands = Processes.map((fields: string[]) => fields.at(-1)!)
  return commands.filter((command: string) => !command.endsWith('sleep 600'))
}
