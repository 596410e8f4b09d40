// `berth db psql` and `berth db redis-cli`: a datastore's own client, in its container.
// Options of Berth come before the datastore's name; everything after it belongs to the client.
import type { WebSocket } from 'ws'
import type { Datastore } from '../../../api/datastore.ts'
import type { Cli } from '../../client/session.ts'
import { openWebSocket } from '../../client/web-socket.ts'
import type { BerthCommand } from '../../command.ts'
import { datastorePath } from '../../datastore/datastore.ts'
import { runShell } from '../../datastore/shell.ts'
import { CliFailure, exitCodes, usageFailure } from '../../failure.ts'
import { plain } from '../../terminal/output.ts'

type Kind = Datastore['kind']

interface ClientProgram {
  name: string
  /** The command that connects without Berth's server; the address follows. */
  byAddress: string
  examples: string[]
}

const programs: Record<Kind, ClientProgram> = {
  postgres: {
    name: 'psql',
    byAddress: 'psql',
    examples: [
      'berth db psql shop-db',
      "berth db psql shop-db -c 'select count(*) from orders'",
      "echo 'select 1' | berth db psql shop-db",
    ],
  },
  redis: {
    name: 'redis-cli',
    byAddress: 'redis-cli -u',
    examples: [
      'berth db redis-cli cache',
      'berth db redis-cli cache get key',
      'echo dbsize | berth db redis-cli cache',
    ],
  },
}

/** The exit code after SIGKILL. */
const killed = 137

export function addClientCommands(db: BerthCommand): void {
  for (const [kind, program] of Object.entries(programs) as [Kind, ClientProgram][]) {
    db.command(program.name)
      .argument('<name>', 'the datastore')
      .argument('[words...]', `arguments for ${program.name}`)
      .passThroughOptions()
      .description(`open ${program.name} in the datastore, signed in; piped input is passed to it`)
      .examples(...program.examples)
      .runs((cli, name: string, words: string[]) => openClient(cli, kind, name, withoutDashes(words)))
  }
}

/** `--` before the words is optional here; `berth run` requires it. */
function withoutDashes([first, ...others]: string[]): string[] {
  return first === undefined || first === '--' ? others : [first, ...others]
}

async function openClient(cli: Cli, kind: Kind, name: string, words: string[]): Promise<number> {
  const program = programs[kind]
  if (cli.out.isJson) {
    throw usageFailure(`${program.name} has no JSON output`, 'remove --json')
  }
  const datastore = await cli.client.call<Datastore>('GET', datastorePath(name))
  if (datastore.kind !== kind) {
    const hint = `berth db ${programs[datastore.kind].name} ${datastore.name}`
    throw usageFailure(
      `${plain(datastore.name)} is a ${datastore.kind} datastore, which ${program.name} cannot open`,
      hint,
    )
  }
  const code = await runShell(cli, await connect(cli, datastore), words)
  if (code !== killed) return code
  const why = `${plain(datastore.name)} stopped, or reached its memory limit`
  const hint = `berth db show ${datastore.name}`
  throw new CliFailure(`${program.name} was killed in the datastore: ${why}`, { exitCode: code, hint })
}

async function connect(cli: Cli, { id, name, kind }: Datastore): Promise<WebSocket> {
  try {
    return await openWebSocket({ ...cli.server, signal: cli.signal }, `${datastorePath(id)}/client`)
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exitCode !== exitCodes.notFound) throw error
    // Either the datastore was deleted just now, or the server has no such route.
    await cli.client.call('GET', datastorePath(id))
    throw new CliFailure(
      `the server at ${cli.client.url} is older than this berth and cannot open a datastore shell`,
      {
        hint: `on the server's host: ${programs[kind].byAddress} "$(berth db url ${name})"`,
      },
    )
  }
}
