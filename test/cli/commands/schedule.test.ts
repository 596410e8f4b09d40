// `berth schedule` and `berth jobs`: their output for a cron job, and without one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JobRun } from '../../../src/api/job.ts'
import { Schedule } from '../../../src/api/schedule.ts'
import { failed, respond, runs, schedule, startFakeJobs } from '../../support/cli/fake-jobs.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'

test('the fixtures of these tests match the API', () => {
  assert.deepEqual(JobRun.array().parse(runs), runs)
  assert.deepEqual(Schedule.parse(schedule), schedule)
})

test('jobs lists the requester, outcome, duration and command of each run', async (t) => {
  const known = { ...runs[1]!, by: { kind: 'session' as const, id: 'usr-1', name: null } }
  const listed = runs.map((run) => (run.id === known.id ? known : run))
  const { berth, asked } = await startFakeJobs(t, (one) =>
    one.path.includes('/jobs') ? { body: listed } : respond(one),
  )

  const { code, stdout, stderr } = await berth('jobs', 'nightly', '--limit', '7')

  assert.deepEqual([code, stderr], [0, ''])
  assert.deepEqual(stdout.split('\n'), [
    'RUN                             STATUS      BY               TOOK  AGE  COMMAND',
    `job-01k5yq0v3nhx8m2r7c9d4fwait  pending     manual                  3h  ${'x'.repeat(119)}…`,
    "job-01k5yq0v3nhx8m2r7c9d4fruns  running     administrator      3h   3h  the image's own",
    'job-01k5yq0v3nhx8m2r7c9d4fgood  succeeded   manual         1m 04s   3h  ./nightly --all',
    'job-01k5yq0v3nhx8m2r7c9d4ffail  failed (3)  for 03:00      1m 04s   3h  ./nightly --all',
    '',
  ])
  assert.deepEqual(asked()[0], ['GET', '/services/nightly/jobs?limit=7', undefined])
})

for (const columns of [80, 120]) {
  test(`a terminal of ${columns} columns shows each run on one line`, async (t) => {
    const killed = { ...failed, exit_code: 137, created_at: new Date(Date.now() - 8_970_000).toISOString() }
    const { env } = await startFakeJobs(t, (requested) =>
      requested.path.includes('/jobs') ? { body: [killed, ...runs] } : respond(requested),
    )
    const terminal = openFakeTerminal(t, ['jobs', 'nightly'], { env, columns })

    assert.equal(await terminal.ended(), 0)

    const lines = terminal.screen()
    assert.equal(lines.length, 2 + runs.length)
    assert.ok(Math.max(...lines.map((line) => line.length)) <= columns, lines.join('\n'))
  })
}

test('without runs it prints how to start one, or that none can start', async (t) => {
  const { berth } = await startFakeJobs(t, (requested) =>
    requested.path.includes('/jobs') ? { body: [] } : respond(requested),
  )
  const said = [await berth('jobs', 'nightly'), await berth('jobs', 'shop'), await berth('jobs', 'fresh')]
  assert.deepEqual(
    said.map(({ code, stdout, stderr }) => [code, stdout, stderr]),
    [
      [0, '', 'nightly has not run yet: `berth run nightly` runs it now\n'],
      [0, '', 'no jobs of shop yet: `berth run shop -- COMMAND` runs one\n'],
      [0, '', 'fresh is not deployed yet, so nothing can run\n'],
    ],
  )
})

test('schedule shows the next times, the last run, and the reason for a skipped run', async (t) => {
  const { berth } = await startFakeJobs(t)

  const { code, stdout, stderr } = await berth('schedule', 'nightly')

  assert.deepEqual([code, stderr], [0, ''])
  const changing = stdout.replace(/now \d\d:\d\d/, 'now …').replaceAll(/in \d+d$/gm, 'in …')
  assert.deepEqual(changing.replaceAll(/, \d+\w( \d+\w)? ago$/gm, ', …').split('\n'), [
    'name          nightly',
    'schedule      0 3 * * *',
    'time zone     Europe/Berlin, now …',
    'overlap       skip: a run that is due during another run is skipped',
    'next          Thu 1 Jan 2099 03:00  in …',
    '              Fri 2 Jan 2099 03:00  in …',
    '              Sat 3 Jan 2099 03:00  in …',
    '              Sun 4 Jan 2099 03:00  in …',
    '              Mon 5 Jan 2099 03:00  in …',
    `last run      ${failed.id} failed (3), for 03:00, …`,
    'its error     exited with code 3',
    `its log       berth logs --job ${failed.id}`,
    'last skipped  Fri 21 Nov 2025 03:00, …',
    `why           ${failed.id} had not ended`,
    '',
  ])
})

test('a schedule that starts no runs prints the reason and the remedy', async (t) => {
  const resting = { ...schedule, next: [], last_run: null, last_skip: null }
  for (const [status, words] of [
    ['suspended', 'none: it is suspended; to resume it: berth resume nightly'],
    ['not_deployed', 'none: it is not deployed yet; to deploy it: berth deploy nightly or berth up nightly'],
  ]) {
    const { berth } = await startFakeJobs(t, () => ({ body: { ...resting, status } }))
    const { stdout } = await berth('schedule', 'nightly')
    assert.ok(stdout.endsWith(`\nnext       ${words}\nlast run   none yet\n`), stdout)
  }
})
