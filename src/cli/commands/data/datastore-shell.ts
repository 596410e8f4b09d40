// `berth db psql` and `berth db redis-cli`: a datastore's own client, in its container.
// Options of Berth come before the datastore's name; everything after it belongs to the client.
import type { Datastore } from '../../../api/datastore.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { datastorePath } from '../../datastore/datastore.ts'
import { usageFailure } from '../../failure.ts'
import { openShell } from '../../shell/shell.ts'
import { plain } from '../../terminal/output.ts'

type Kind = Datastore['kind']

interface ClientProgram {
  name: string
  examples: string[]
}

const programs: Record<Kind, ClientProgram> = {
  postgres: {
    name: 'psql',
    examples: [
      'berth db psql shop-db',
      "berth db psql shop-db -c 'select count(*) from orders'",
      "echo 'select 1' | berth db psql shop-db",
    ],
  },
  redis: {
    name: 'redis-cli',
    examples: [
      'berth db redis-cli cache',
      'berth db redis-cli cache get key',
      'echo dbsize | berth db redis-cli cache',
    ],
  },
}

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
  const why = `${plain(datastore.name)} stopped, or reached its memory limit`
  return openShell(cli, `${datastorePath(datastore.id)}/client`, words, {
    whenLost: 'the client in the datastore was stopped, and uncommitted changes were rolled back',
    whenKilled: `${program.name} was killed in the datastore: ${why}`,
    hint: `berth db show ${datastore.name}`,
  })
}
