// `berth run` against a server that says what a test wants: words, exit codes, and what is written where.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { berthEnv } from '../../support/cli/berth.ts'
import {
  jobRun,
  logStream,
  runEndingAs,
  services,
  startFakeJobs,
  succeeded,
} from '../../support/cli/fake-jobs.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { berthCommand } from '../../support/cli/spawned.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const introducer = '\u001b'
const unusualLine = `a\tb ${introducer}[31mred${introducer}[0m ${introducer}[2J\rend`

test('output of a run goes unchanged to both streams, and messages go to stderr', async (t) => {
  const { berth } = await startFakeJobs(
    t,
    runEndingAs(
      succeeded,
      ['system', 'running ./nightly', { mark: 'running' }],
      ['stdout', unusualLine],
      ['stderr', unusualLine],
      ['stdout', ''],
      ['system', 'succeeded', { mark: 'outcome' }],
    ),
  )

  const { code, stdout, stderr } = await berth('run', 'nightly')

  assert.equal(code, 0)
  assert.equal(stdout, `${unusualLine}\n\n`)
  const [began, line, end, ...rest] = stderr.split('\n')
  assert.deepEqual([began, line, rest], [' · running ./nightly', unusualLine, ['']])
  assert.match(end!, new RegExp(`^ ✔ succeeded {4}${succeeded.id} {2}\\S+`))
})

test('at a terminal the output of a run can set colours and nothing else', async (t) => {
  const { env } = await startFakeJobs(
    t,
    runEndingAs(succeeded, ['stdout', unusualLine], ['stderr', unusualLine]),
  )

  const terminal = openFakeTerminal(t, ['run', 'nightly'], { env })
  assert.equal(await terminal.ended(), 0)

  const [one, other, end] = terminal.screen()
  assert.deepEqual([one, other], ['a  b red end', 'a  b red end'])
  assert.match(end!, /^ ✔ succeeded/)
  assert.ok(
    terminal.written.includes(`${introducer}[31mred`) && !terminal.written.includes(`${introducer}[2J`),
  )
})

for (const [what, changes, code] of [
  ['failed with a code', { status: 'failed', exit_code: 3, error: 'exited with code 3' }, 3],
  ['was killed', { status: 'failed', exit_code: 137, error: 'was killed' }, 137],
  ['failed without a code', { status: 'failed', exit_code: null, error: 'the image is gone' }, 1],
  ['was ended and went with 0', { status: 'failed', exit_code: 0, error: 'took longer than its limit' }, 1],
  ['was canceled', { status: 'canceled', exit_code: 143, error: 'canceled by the API' }, 1],
  ['ended with a code that no process has', { status: 'failed', exit_code: 4096, error: 'odd' }, 1],
] as const) {
  test(`a run that ${what} ends with exit code ${code} and the reason`, async (t) => {
    const { berth } = await startFakeJobs(t, runEndingAs(jobRun('ends', changes)))

    const ended = await berth('run', 'nightly')

    assert.equal(ended.code, code)
    assert.match(ended.stderr, new RegExp(`^ ✘ ${changes.status} +job-\\S+.*\n {3}${changes.error}\n$`))
  })
}

test('the words after -- are the command: one word is used as is, several are quoted', async (t) => {
  const { berth, asked } = await startFakeJobs(t, runEndingAs(succeeded))

  await berth('run', 'shop', '--', 'echo $HOME | wc -c')
  await berth('run', 'shop', '--timeout', '60', '--', 'printf', '%s\\n', 'a  b', "it's", '--json', '--', '-x')
  await berth('run', 'shop')

  const bodies = asked().flatMap(([method, path, body]) => (method === 'POST' ? [[path, body]] : []))
  assert.deepEqual(bodies, [
    ['/services/shop/jobs', { command: 'echo $HOME | wc -c' }],
    [
      '/services/shop/jobs',
      { command: `printf '%s\\n' 'a  b' 'it'\\''s' --json -- -x`, timeout_seconds: 60 },
    ],
    ['/services/shop/jobs', {}],
  ])
})

test('input of its own goes into a run; what others read too, and a token, do not', async (t) => {
  const { env, server } = await startFakeJobs(t, runEndingAs(succeeded, ['stdout', 'a line']))
  const run = ['run', 'shop', '--', 'cat']
  const file = join(temporaryDirectory(t), 'input')
  writeFileSync(file, 'x\n')
  const sent = async (command: string[], stdin: 'pipe' | 'ignore' | number) => {
    const child = spawn(command[0]!, command.slice(1), {
      env: berthEnv(t, { env }),
      stdio: [stdin, 'ignore', 'pipe'],
    })
    child.stdin?.end('x\n')
    await text(child.stderr!)
    const started = server.requests.findLast(({ method }) => method === 'POST')
    return (started!.body as { stdin?: boolean }).stdin ?? false
  }
  const berth = [process.execPath, ...berthCommand, ...run]
  const withOption = (...options: string[]) => [...berth.slice(0, -3), ...options, 'shop', '--', 'cat']

  assert.equal(await sent(berth, 'pipe'), true)
  assert.equal(await sent(berth, openSync(file, 'r')), true)
  assert.equal(await sent(berth, 'ignore'), false)
  assert.equal(await sent(['timeout', '60', ...berth], 'pipe'), false)
  assert.equal(await sent(['timeout', '60', ...withOption('-i')], 'pipe'), true)
  assert.equal(await sent(withOption('--no-stdin'), 'pipe'), false)
  assert.equal(await sent(withOption('--token-file', '-'), 'pipe'), false)
})

test('an empty command or one without -- starts nothing', async (t) => {
  const { berth, asked } = await startFakeJobs(t, runEndingAs(succeeded))
  const surplus = await berth('run', 'shop', 'ls', 'a b')
  const option = await berth('run', 'shop', 'ls', '-la')
  const empty = await berth('run', 'nightly', '--', '')

  assert.deepEqual(
    [surplus, option, empty].map(({ code, stderr }) => [code, stderr]),
    [
      [2, " ✘ put the command after --\n   berth run shop -- ls 'a b'\n"],
      [2, " ✘ unknown option '-la'\n   put the command after --: berth run NAME -- COMMAND\n"],
      [2, ' ✘ the command is empty\n'],
    ],
  )
  assert.deepEqual(asked(), [])
})

test('--no-follow prints the id and the command that follows it; --json prints the record', async (t) => {
  const { berth, asked } = await startFakeJobs(t, runEndingAs(succeeded))
  const next = `   next: berth logs --job ${succeeded.id} -f\n`

  const left = await berth('run', 'nightly', '--no-follow')
  const json = await berth('run', 'nightly', '--no-follow', '--json')

  assert.deepEqual([left.code, left.stdout, left.stderr], [0, `${succeeded.id}\n`, next])
  assert.deepEqual([json.code, JSON.parse(json.stdout).status], [0, 'pending'])
  assert.deepEqual(
    asked().flatMap(([method, path]) => (method === 'POST' ? [path] : [])),
    ['/services/nightly/jobs', '/services/nightly/jobs'],
  )
})

test('with --json every line is a value, the last one is the run, and the exit code is kept', async (t) => {
  const run = jobRun('json', { status: 'failed', exit_code: 9, error: 'exited with code 9' })
  const { berth } = await startFakeJobs(t, runEndingAs(run, ['stdout', 'a'], ['system', 'failed: exited']))

  const { code, stdout, stderr } = await berth('run', 'nightly', '--follow', '--json')

  const values = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual([code, stderr], [9, ''])
  assert.deepEqual(
    values.slice(0, -1).map((one) => [one.stream, one.line]),
    [
      ['stdout', 'a'],
      ['system', 'failed: exited'],
    ],
  )
  assert.deepEqual(values.at(-1), run)
})

test('cancel ends a job run, and prints how long a running one may take', async (t) => {
  const { berth, asked } = await startFakeJobs(t, ({ path }) => ({
    body: path.includes('job-begun') ? succeeded : jobRun('wait', { started_at: null }),
  }))

  const started = await berth('cancel', 'job-begun')
  const waiting = await berth('cancel', 'job-waiting')

  assert.equal(started.stderr, ' ✔ job-begun is canceled; it has ten seconds to exit\n')
  assert.equal(waiting.stderr, ' ✔ job-waiting is canceled\n')
  assert.deepEqual(asked()[0], ['POST', '/jobs/job-begun/cancel', undefined])
})

test('logs prints the log of a run, and for a cron job that of its newest run', async (t) => {
  const { berth, asked } = await startFakeJobs(t, ({ path }) => {
    if (path.includes('/logs')) return logStream(['stdout', 'out'], ['stderr', 'err'])
    return {
      body: path.includes('/jobs')
        ? [succeeded]
        : { id: 'svc-nightly', name: 'nightly', ...services.nightly },
    }
  })

  const one = await berth('logs', '--job', 'job-1', '-f')
  const newest = await berth('logs', 'nightly')
  const both = await berth('logs', '--job', 'job-1', '--deploy', 'dep-1')

  assert.deepEqual([one.code, one.stdout], [0, 'out\nerr\n'])
  assert.deepEqual([newest.code, newest.stdout], [0, 'out\nerr\n'])
  assert.match(newest.stderr, new RegExp(`^ ${succeeded.id} succeeded, manual, 3h ago\n$`))
  assert.equal(both.code, 2)
  assert.deepEqual(
    asked().map(([, path]) => path),
    [
      '/jobs/job-1/logs?follow=true',
      '/services/nightly',
      '/services/svc-nightly/jobs?limit=1',
      `/jobs/${succeeded.id}/logs?follow=false`,
    ],
  )
})
