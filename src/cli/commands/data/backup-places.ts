// The places where backups are kept: `berth backup-places`. Buckets are added with a key, which is tried.
import type { BackupPlace, BackupPlaceTest } from '../../../api/backup-place.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { CliFailure } from '../../failure.ts'
import { printDone } from '../../follow-up.ts'
import { askSecret } from '../../terminal/prompts.ts'
import { readStandardInput } from '../../terminal/standard-input.ts'
import { printList } from '../../terminal/table.ts'

export function addBackupPlaceCommands(program: BerthCommand): void {
  const places = program
    .command('backup-places')
    .alias('backup-place')
    .description('list the places where backups are kept')
    .examples('berth backup-places', 'berth backup-places --json')
    .lists(list)
  places
    .command('add')
    .argument('<name>', 'the name of the place, which you choose')
    .description('add an S3-compatible bucket and try it; the secret is read from a prompt or a pipe')
    .requiredOption('--endpoint <url>', 'the address of the S3 interface')
    .requiredOption('--bucket <name>', 'the bucket, which exists')
    .requiredOption('--key-id <id>', 'the id of the key')
    .option('--prefix <prefix>', 'a folder in the bucket')
    .option('--region <region>', 'the region (us-east-1)')
    .option('--path-style', 'the bucket is in the path of addresses, not in the host name')
    .option('--default', 'backups that choose no place go there')
    .examples(
      'berth backup-places add offsite --endpoint https://s3.example.com --bucket shop --key-id AKIA1',
      'berth backup-places add nas --endpoint http://10.0.0.5:9000 --bucket b --key-id k --path-style < FILE',
    )
    .runs(add)
  places
    .command('test')
    .argument('<name>', 'the place')
    .description('write, read, list and remove a small object')
    .examples('berth backup-places test offsite', 'berth backup-places test folder')
    .runs(test)
  places
    .command('default')
    .argument('<name>', 'the place; folder is the folder of the server')
    .description('make it the place of backups that choose none')
    .examples('berth backup-places default offsite', 'berth backup-places default folder')
    .runs(makeDefault)
  places
    .command('rm')
    .argument('<name>', 'the place')
    .description('forget a bucket that has no backups; its objects stay')
    .option('--force', 'even with backups, as when the bucket is lost; they can then only be deleted')
    .examples('berth backup-places rm offsite', 'berth backup-places rm lost --force')
    .runs(remove)
}

const pathOf = (name: string) => `/backup-places/${encodeURIComponent(name)}`

async function list({ client, out }: Cli): Promise<void> {
  const places = await client.call<BackupPlace[]>('GET', '/backup-places')
  printList(out, places, 'no places', [
    { heading: 'NAME', text: ({ name }) => name, style: () => 'bold' },
    { heading: 'WHERE', text: ({ location }) => location },
    { heading: 'AT', text: ({ endpoint }) => endpoint ?? 'this server' },
    { heading: '', text: ({ is_default }) => (is_default ? 'default' : '') },
  ])
}

interface AddOptions {
  endpoint: string
  bucket: string
  keyId: string
  prefix?: string
  region?: string
  pathStyle?: boolean
  default?: boolean
}

async function add(cli: Cli, name: string, options: AddOptions): Promise<void> {
  const { endpoint, bucket, keyId, prefix, region, pathStyle } = options
  const question = { message: `Secret of the key ${keyId}:`, instead: 'pipe the secret in' }
  const secret = cli.stdin.isTTY ? await askSecret(cli, question) : await readStandardInput(cli, 'the secret')
  const key = { access_key_id: keyId, secret_access_key: secret }
  const body = { endpoint, bucket, prefix, region, path_style: pathStyle, ...key }
  const place = await cli.client.call<BackupPlace>('PUT', pathOf(name), { body })
  await runTest(cli, name, 'it was added, but does not work yet')
  if (options.default) await cli.client.call('POST', `${pathOf(name)}/default`)
  if (cli.out.isJson) return cli.out.json(place)
  printDone(cli, `${place.name} works: backups can be kept in ${place.location}`)
}

async function test(cli: Cli, name: string): Promise<void> {
  const result = await runTest(cli, name, 'it does not work')
  if (cli.out.isJson) return cli.out.json(result)
  printDone(cli, `${result.name} works: a small object was written, read back, listed and removed`)
}

/** Throws CliFailure with the step that failed. */
async function runTest(cli: Cli, name: string, verdict: string): Promise<BackupPlaceTest> {
  const result = await cli.client.call<BackupPlaceTest>('POST', `${pathOf(name)}/test`)
  const failed = result.steps.find(({ error }) => error !== null)
  if (!failed) return result
  const { step, error, hint } = failed
  throw new CliFailure(`${name}: ${verdict}: cannot ${step}: ${error}`, hint === null ? {} : { hint })
}

async function makeDefault(cli: Cli, name: string): Promise<void> {
  const place = await cli.client.call<BackupPlace>('POST', `${pathOf(name)}/default`)
  if (cli.out.isJson) return cli.out.json(place)
  printDone(cli, `backups that choose no place go to ${place.name}`)
}

async function remove(cli: Cli, name: string, { force }: { force?: boolean }): Promise<void> {
  await cli.client.call('DELETE', pathOf(name), { query: { force } })
  printDone(cli, `${name} is forgotten; its objects stay in the bucket`)
}
