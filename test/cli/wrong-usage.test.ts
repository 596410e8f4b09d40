// Usage errors: what is wrong, and the usage of the command.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runBerth } from '../support/cli/berth.ts'
import { programThat } from '../support/http/reference.ts'

const wrong: Record<string, [message: string, hint: string]> = {
  'deploy --foo': ["unknown option '--foo'", 'berth deploy --help'],
  deply: ["unknown command 'deply'", 'did you mean deploy?'],
  ls: ["unknown command 'ls'", 'the command is berth services'],
  'constructor web': ["unknown command 'constructor'", 'berth --help'],
  'help nothing': ["unknown command 'nothing'", 'berth --help'],
  'db creat x': ["berth db takes no argument 'creat'", 'berth db --help'],
  'env web FOO=1': ["berth env takes no argument 'FOO=1'", 'berth env --help'],
  'scale web 3 4': ["berth scale takes no argument '4'", 'berth scale NAME NUMBER'],
  'scale web 0': [
    "command-argument value '0' is invalid for argument 'number'. It must be 1 or more; " +
      'berth suspend stops all.',
    'berth scale --help',
  ],
  'db restore pg2 dump.sql': [
    "berth db restore takes no argument 'dump.sql'",
    'berth db restore pg2 < dump.sql',
  ],
  'db upgrade pg2 17': ["berth db upgrade takes no argument '17'", 'berth db upgrade pg2 --to 17'],
  'disks backup web a.tar': [
    "berth disks backup takes no argument 'a.tar'",
    'berth disks backup web > a.tar',
  ],
  'shell web': ["unknown command 'shell'", 'the command is berth ssh'],
  'exec web -- ls': ["unknown command 'exec'", 'the command is berth ssh'],
  'rename a b': ["unknown command 'rename'", 'a service keeps its name: berth create NAME'],
  backup: [
    "unknown command 'backup'",
    'a database: berth db backup NAME\na disk: berth disks backup NAME\nall: berth server-backups',
  ],
  'update web --type cron_job': [
    'the type of a service is fixed',
    'make another one: berth create NAME --type TYPE',
  ],
  '-v': ["unknown option '-v'", 'berth --version'],
  'run web -it -- sh': ["unknown option '-t'", 'a shell in a running instance: berth ssh NAME'],
  'run web --foo': ["unknown option '--foo'", 'put the command after --: berth run NAME -- COMMAND'],
  'update web --memory 512x': [
    "option '--memory <mib>' argument '512x' is invalid. It must be a whole number of MiB, such as 512, " +
      '512m or 1.5g.',
    'berth update --help',
  ],
  'env set web': ["missing required argument 'KEY=value'", 'berth env set NAME KEY=VALUE…'],
  'db create x -k mysql': [
    "option '-k, --kind <kind>' argument 'mysql' is invalid. It must be postgres or redis.",
    'berth db create --help',
  ],
}

for (const [line, [message, hint]] of Object.entries(wrong)) {
  test(`berth ${line}: ${hint}`, async () => {
    const program = programThat(() => undefined)
    await assert.rejects(program.parseAsync(line.split(' '), { from: 'user' }), {
      message,
      hint,
      exitCode: 2,
    })
  })
}

test('a name in place of an id is refused with the format of an id, without a request', async (t) => {
  const env = { BERTH_SERVER: 'http://127.0.0.1:1' }
  for (const [args, hint] of [
    [['logs', '--deploy', 'web'], 'berth deploys NAME lists them'],
    [['logs', '--job', 'web'], 'berth jobs NAME lists them'],
    [['rollback', 'web', 'v1'], 'berth deploys web lists them'],
  ] as const) {
    const { code, stderr } = await runBerth(t, [...args], { env })
    assert.equal(code, 2)
    assert.match(stderr, new RegExp(`it must be an id such as (dep|job)-…\\n +${hint}\\n$`))
  }
})
