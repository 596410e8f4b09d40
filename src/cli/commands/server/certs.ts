// The certificates of all hosts: the state, the problem, and an immediate retry.
import type { Certificate, CertificateAuthority } from '../../../api/certificate.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { CliFailure, exitCodes, orNull } from '../../failure.ts'
import { printDone, printNext } from '../../follow-up.ts'
import { span } from '../../terminal/ages.ts'
import type { Style } from '../../terminal/output.ts'
import { plain } from '../../terminal/output.ts'
import { printTable } from '../../terminal/table.ts'

export function addCertificateCommands(program: BerthCommand): void {
  const certs = program
    .command('certs')
    .description('list the HTTPS certificates')
    .examples('berth certs', 'berth certs --json')
    .runs(list)
  certs
    .command('retry')
    .argument('<host>', 'the host')
    .description('retry a certificate now')
    .examples('berth certs retry shop.example.com', 'berth certs retry shop.example.com --json')
    .runs(retry)
}

async function list({ client, out }: Cli): Promise<void> {
  const certificates = await client.call<Certificate[]>('GET', '/certificates')
  if (out.isJson) return out.json(certificates)
  if (certificates.length === 0) {
    return out.say('no certificates: with berthd --acme-email YOU@EXAMPLE.COM, public hosts get one')
  }
  printTable(out, certificates, [
    { heading: 'HOST', text: ({ host }) => host, style: () => 'bold' },
    { heading: 'STATUS', text: ({ status }) => status, style: styleOf },
    { heading: 'EXPIRES', text: ({ not_after }) => inTime(not_after) },
    { heading: 'NEXT ATTEMPT', text: (row) => nextOf(row) },
    { heading: 'REASON', text: ({ error }) => error ?? '', isFlexible: true },
  ])
  for (const hint of new Set(certificates.flatMap(({ hint }) => hint ?? []))) {
    out.say(`   ${out.tint('dim', plain(hint))}`)
  }
  await reportWildcard({ client, out }, certificates)
}

/** An older server, or a limited token, does not show the wildcard. */
async function reportWildcard(
  { client, out }: Pick<Cli, 'client' | 'out'>,
  certificates: Certificate[],
): Promise<void> {
  const authority = await orNull(client.call<CertificateAuthority>('GET', '/certificate-authority'))
  const isFailing = certificates.some(({ fallback }) => fallback)
  if (authority?.wildcard && !isFailing) {
    const { wildcard, wildcard_by } = authority
    const text = `${wildcard} covers all names below it, by DNS challenge (${wildcard_by})`
    out.say(`   ${out.tint('dim', plain(text))}`)
  }
}

function styleOf({ status, error }: Certificate): Style | null {
  if (status === 'valid') return error === null ? 'green' : 'yellow'
  return status === 'expired' || status === 'failed' ? 'red' : 'yellow'
}

/** `in 41d`, `12m ago` */
function inTime(instant: string | null): string {
  if (instant === null) return ''
  const seconds = (Date.parse(instant) - Date.now()) / 1000
  return seconds < 0 ? `${span(-seconds)} ago` : `in ${span(seconds)}`
}

function nextOf({ phase, next_attempt_at, renews_at }: Certificate): string {
  return phase === null ? inTime(next_attempt_at ?? renews_at) : `now: ${phase}`
}

async function retry(cli: Cli, wanted: string): Promise<void> {
  const { client, out } = cli
  const host = wanted.toLowerCase()
  const certificates = await client.call<Certificate[]>('GET', '/certificates')
  const found = certificates.find((one) => one.host === host)
  if (!found) {
    throw new CliFailure(`${plain(host)} has no certificate`, {
      exitCode: exitCodes.notFound,
      hint: 'berth certs lists them',
    })
  }
  const path = `/certificates/${encodeURIComponent(found.id)}/retry`
  const certificate = await client.call<Certificate>('POST', path)
  if (out.isJson) return out.json(certificate)
  printDone(cli, `the certificate of ${host} is being retried`)
  printNext(cli, 'berth certs')
}
