// Which paths a service watches.
import type { WatchedPath } from '../../api/auto-deploys.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { collect } from '../service/setting-flags.ts'
import { printTable } from '../terminal/table.ts'

export function addWatchedCommand(program: BerthCommand): void {
  program
    .command('watched')
    .argument('<name>', 'the service')
    .argument('<paths...>', 'paths of files, from the top of the repository')
    .description('say whether a push to these paths is deployed')
    .option('--watch-path <pattern>', 'another pattern than those of the service; can be repeated', collect)
    .examples(
      'berth watched api lib/log.ts docs/api.md',
      "berth watched api docs/api.md --watch-path '!**/*.md'",
    )
    .runs(testPaths)
}

async function testPaths(cli: Cli, name: string, paths: string[], { watchPath }: { watchPath?: string[] }) {
  const { client, out } = cli
  const body = { paths, ...(watchPath && { watch_paths: watchPath }) }
  const tested = await client.call<WatchedPath[]>('POST', `${servicePath(name)}/watch-paths/test`, { body })
  if (out.isJson) return out.json(tested)
  printTable(out, tested, [
    { heading: 'PATH', text: ({ path }) => path, isFlexible: true },
    {
      heading: 'WATCHED',
      text: ({ watched }) => (watched ? 'yes' : 'no'),
      style: ({ watched }) => (watched ? 'green' : null),
    },
    { heading: 'DECIDED BY', text: ({ pattern }) => pattern ?? '' },
  ])
}
