// `berth open`: opens the address of a service. It comes from a server, so it must be http or https.
import type { Service } from '../../api/service.ts'
import { isPlainUrl, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { CliFailure } from '../failure.ts'
import { printDone } from '../follow-up.ts'
import { addressOf, readable } from '../service/labels.ts'
import { resolveService } from '../service/resolve-target.ts'
import { openInBrowser } from '../terminal/browser.ts'

export function addOpenCommands(program: BerthCommand): void {
  program
    .command('open')
    .argument('[name]', 'the service')
    .description('open a service in the browser; without a browser, prints its address')
    .examples('berth open shop', 'curl "$(berth open shop)"')
    .runs(openService)
}

async function openService(cli: Cli, name: string | undefined): Promise<void> {
  const { client, out } = cli
  const service = await client.call<Service>('GET', servicePath(await resolveService(cli, name)))
  const { url } = service
  if (url === null) throw withoutAddress(service)
  if (!isPlainUrl(url)) throw new CliFailure('the server returned an address that is not a web page')
  if (out.isJson) return out.json({ url })
  const isOpened = out.isTerminal && (await openInBrowser(cli, url))
  if (isOpened) printDone(cli, `${url} is opened in your browser`)
  else out.print(url)
}

function withoutAddress(service: Service): CliFailure {
  const { name, type } = service
  if (type === 'web_service' || type === 'static_site') {
    const hint = 'berthd --edge container or --edge host gives its services one'
    return new CliFailure(`${name} has no public address: the server runs without an edge`, { hint })
  }
  const inside = addressOf(service)
  return new CliFailure(`${name} has no public address: it is a ${readable(type)}`, {
    hint: inside ? `other services reach it at ${inside}` : undefined,
  })
}
