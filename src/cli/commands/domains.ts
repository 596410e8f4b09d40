// The domains of a service: list, add, remove. Each change takes effect immediately.
import type { CertificateAuthority } from '../../api/certificate.ts'
import type { ServiceDomain } from '../../api/domains.ts'
import { isPublicHost } from '../../domain/domains.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { orNull } from '../failure.ts'
import { printDone, printUndo } from '../follow-up.ts'
import { readable } from '../service/labels.ts'
import { resolveService } from '../service/resolve-target.ts'
import { plain } from '../terminal/output.ts'
import { printList } from '../terminal/table.ts'

export function addDomainCommands(program: BerthCommand): void {
  const domains = program
    .command('domains')
    .argument('[name]', 'the service')
    .description('list the domains of a service')
    .examples('berth domains shop', 'berth domains shop --json')
    .runs(list)
  domains
    .command('add')
    .argument('<name>', 'the service')
    .argument('<domain>', 'a host alone, such as shop.example.com')
    .option('--redirect <domain>', 'redirect its requests to this domain of the service')
    .description('add a domain to a service')
    .examples(
      'berth domains add shop shop.example.com',
      'berth domains add shop www.shop.example.com --redirect shop.example.com',
    )
    .runs(add)
  domains
    .command('rm')
    .argument('<name>', 'the service')
    .argument('<domain>', 'the domain')
    .description('remove a domain from a service')
    .examples('berth domains rm shop shop.example.com', 'berth domains rm shop shop.lan')
    .runs(remove)
}

async function list(cli: Cli, name: string | undefined): Promise<void> {
  const { client, out } = cli
  const chosen = await resolveService(cli, name)
  const domains = await client.call<ServiceDomain[]>('GET', `${servicePath(chosen)}/domains`)
  printList(out, domains, `${plain(chosen)} cannot be reached from outside: it has no domains`, [
    { heading: 'DOMAIN', text: ({ domain }) => domain, style: () => 'bold' },
    { heading: 'KIND', text: ({ kind }) => kind },
    {
      heading: 'URL',
      text: ({ url, redirect_to }) => (redirect_to ? `-> ${redirect_to}` : (url ?? 'no edge')),
    },
    { heading: 'CERTIFICATE', text: certificateOf, isFlexible: true },
  ])
}

/** `valid until 2027-01-01`, `waiting: its DNS points elsewhere` */
function certificateOf({ certificate }: ServiceDomain): string {
  if (!certificate) return 'none'
  const { status, error, not_after } = certificate
  const until = not_after ? ` until ${not_after.slice(0, 10)}` : ''
  return `${readable(status)}${until}${error ? `: ${error}` : ''}`
}

async function add(cli: Cli, name: string, wanted: string, options: { redirect?: string }): Promise<void> {
  const { client, out } = cli
  const path = `${servicePath(name)}/domains`
  const redirection = options.redirect === undefined ? {} : { redirect_to: options.redirect }
  const body = { domain: wanted, ...redirection }
  const added = await client.call<ServiceDomain>('POST', path, { body })
  if (out.isJson) return out.json(added)
  const { domain, redirect_to } = added
  printDone(cli, `${domain} now ${redirect_to ? `redirects to ${redirect_to}` : `belongs to ${name}`}`)
  if (isPublicHost(domain)) {
    printDnsRecord(cli, domain)
    await reportHttps(cli)
  }
  printUndo(cli, `berth domains rm ${name} ${domain}`)
}

function printDnsRecord({ out, client }: Cli, domain: string): void {
  const { hostname } = new URL(client.url)
  const target = isPublicHost(hostname) ? `the address of ${hostname}` : 'the address of this server'
  out.say(plain(`   its DNS needs this record: A ${domain} -> ${target}`))
}

/** An older server, or a limited token, does not show whether certificates are ordered. */
async function reportHttps({ out, client }: Cli): Promise<void> {
  const authority = await orNull(client.call<CertificateAuthority>('GET', '/certificate-authority'))
  if (authority && authority.directory_url === null) {
    return out.say(
      '   it is served over http only: with berthd --acme-email YOU@EXAMPLE.COM it gets a certificate',
    )
  }
  out.say('   HTTPS starts once that record points to this server and the service is live: berth certs')
}

async function remove(cli: Cli, name: string, domain: string): Promise<void> {
  await cli.client.call('DELETE', `${servicePath(name)}/domains/${encodeURIComponent(domain)}`)
  printDone(cli, `${domain} no longer belongs to ${name}`)
  printUndo(cli, `berth domains add ${name} ${domain}`)
}
