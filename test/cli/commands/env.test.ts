// Variables from the command line: values come in by pipes and files, and are shown to who asks only.
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { daemonSuite } from '../../support/daemon/suite.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const suite = daemonSuite()
/** Everything that a line of a file could alter. */
const difficult = `\uFEFF '\r\n"\n\`\\n \\ #$A $${'${{x}}'} 漢\t\x1b[0m `

let count = 0

async function serviceWith(env: Record<string, string>): Promise<string> {
  const name = `env-${++count}`
  const vars = Object.entries(env).map(([key, value]) => ({ key, value }))
  await suite.api.post('/services', { name, type: 'web_service', env: vars })
  return name
}

async function readEnv(name: string): Promise<Record<string, string>> {
  const vars: { key: string; value: string }[] = await suite.api.get(`/services/${name}/env`)
  return Object.fromEntries(vars.map(({ key, value }) => [key, value]))
}

function fileWith(t: TestContext, text: string): string {
  const path = join(temporaryDirectory(t), '.env')
  writeFileSync(path, text)
  return path
}

describe('berth env', { concurrency: 4 }, () => {
  const berth = (t: TestContext, args: string[], input = '') =>
    runBerth(t, args, { daemon: suite.daemon, input })

  test('masks values, and prints them as a file that reads back the same', async (t) => {
    const simple = { PLAIN: 'a b', QUOTED: 'it\'s "so"', LINES: 'one\ntwo', HASH: 'a # b', EMPTY: '' }
    const env = { FIRST: difficult, ...simple, LAST: difficult }
    const name = await serviceWith(env)
    const masked = await berth(t, ['env', name])
    const view = await berth(t, ['env', name, '--show'])
    const other = await serviceWith({})
    const imported = await berth(t, ['env', 'import', other, fileWith(t, view.stdout), '--yes'])

    assert.match(masked.stdout, /^PLAIN +••••••$/m)
    assert.doesNotMatch(masked.stdout, /a b|one/)
    assert.equal(imported.code, 0, imported.stderr)
    assert.deepEqual(await readEnv(other), env)
  })

  test('set reads a secret from a pipe, whatever it contains', async (t) => {
    const name = await serviceWith({ OLD: '1' })
    const set = await berth(t, ['env', 'set', name, 'PLAIN=a=b', 'SECRET=-'], '  two\nlines=x \n')
    const again = await berth(t, ['env', 'set', name, 'OLD=2'])
    const twice = await berth(t, ['env', 'set', name, 'A=-', 'B=-'], 'x')
    const bare = await berth(t, ['env', 'set', name, 'hunter2'])

    assert.equal(set.code, 0, set.stderr)
    assert.deepEqual(await readEnv(name), { OLD: '2', PLAIN: 'a=b', SECRET: '  two\nlines=x ' })
    assert.match(set.stderr, new RegExp(`undo: berth env unset ${name} PLAIN SECRET`))
    assert.match(again.stderr, new RegExp(`undo: berth env set ${name} OLD=-   # with the former value\n$`))
    const mixed = await berth(t, ['env', 'set', name, 'NEW=1', 'OLD=3', 'PLAIN=4', '--restart'])
    const undo = ['unset NAME NEW --restart', 'set NAME OLD=- --restart', 'set NAME PLAIN=- --restart']
    const reported = mixed.stderr.split('\n').filter((line) => line.includes('undo: '))
    assert.deepEqual(
      reported.map((line) => line.trim().replace(/ {3}# .*$/, '')),
      undo.map((command) => `undo: berth env ${command.replace('NAME', name)}`),
    )
    assert.deepEqual([twice.code, bare.code], [2, 2])
    assert.ok(!bare.stderr.includes('hunter2'), bare.stderr)
  })

  test('set does not read a secret from a terminal, where it would be visible', async (t) => {
    const name = await serviceWith({})
    const terminal = openFakeTerminal(t, ['env', 'set', name, 'A=-'], { daemon: suite.daemon })
    assert.equal(await terminal.ended(), 2)
  })

  test('unset removes existing variables and reports missing ones', async (t) => {
    const name = await serviceWith({ A: '1', B: '2' })
    const unset = await berth(t, ['env', 'unset', name, 'A'])
    const again = await berth(t, ['env', 'unset', name, 'A', 'B'])

    assert.equal(unset.code, 0, unset.stderr)
    assert.equal(again.code, 3)
    assert.deepEqual(await readEnv(name), { B: '2' })
  })

  test('import shows changes with values masked, and saves what is confirmed', async (t) => {
    const name = await serviceWith({ SAME: 'same', CHANGED: 'former-secret', GONE: 'gone-secret' })
    const file = fileWith(t, 'SAME=same\nCHANGED=new-secret\nADDED="added-secret"\n')
    const requested = await berth(t, ['env', 'import', name, file])
    assert.deepEqual(await readEnv(name), { SAME: 'same', CHANGED: 'former-secret', GONE: 'gone-secret' })
    const merged = await berth(t, ['env', 'import', name, file, '--yes'])
    assert.deepEqual(await readEnv(name), {
      SAME: 'same',
      CHANGED: 'new-secret',
      GONE: 'gone-secret',
      ADDED: 'added-secret',
    })
    const replaced = await berth(t, ['env', 'import', name, file, '--replace', '--yes'])
    const nothing = await berth(t, ['env', 'import', name, file])

    assert.equal(requested.code, 2)
    assert.match(requested.stderr, / {2}\+ ADDED {4}••••••\n {2}~ CHANGED {2}•••••• → ••••••\n/)
    assert.match(replaced.stderr, / {2}- GONE\n/)
    assert.deepEqual([merged.code, replaced.code, nothing.code], [0, 0, 0])
    assert.equal(nothing.stderr, 'nothing to change\n')
    assert.ok(!`${requested.stderr}${merged.stderr}${replaced.stderr}`.includes('secret'))
    assert.ok(!('GONE' in (await readEnv(name))))
  })

  test('import warns of broken references, and rejects early what the server would reject', async (t) => {
    const name = await serviceWith({})
    const file = fileWith(t, 'HOST=${{service.nowhere.host}}\n')
    const warned = await berth(t, ['env', 'import', name, file, '--yes'])
    const refused = await berth(t, ['env', 'import', name, fileWith(t, `A=${'x'.repeat(70_000)}\n`), '--yes'])

    assert.match(warned.stderr, /! HOST refers to something that does not exist/)
    const misnamed = await berth(t, ['env', 'set', name, 'FINE=1', 'MY-KEY=hunter2'])

    assert.equal(refused.code, 1)
    assert.match(refused.stderr, / A: must be at most 64 KiB long/)
    assert.doesNotMatch(refused.stderr, /xxx/)
    assert.match(misnamed.stderr, / MY-KEY: must be letters/)
    assert.doesNotMatch(misnamed.stderr, /hunter2|set\./)
  })

  test('import names the file and the line that it cannot read, and no part of a value', async (t) => {
    const name = await serviceWith({})
    const refusals = [
      ['A=1\nMY-KEY=hunter2\n', /: line 2: MY-KEY must be letters/],
      ['A="hunter2"2\n', /: line 1: there is text after the closing " of A\n/],
      ['hunter2\n', /: line 1: there is no =\n/],
      ['A=hunter2\xff', / is not valid UTF-8\n/],
      [`#${'x'.repeat(2 * 1024 * 1024)}`, / is larger than 2 MiB\n/],
    ] as const
    for (const [text, message] of refusals) {
      const file = join(temporaryDirectory(t), 'bad.env')
      writeFileSync(file, Buffer.from(text, 'latin1'))
      const imported = await berth(t, ['env', 'import', name, file, '--yes'])
      const created = await berth(t, ['create', `${name}-x`, '--type', 'web_service', '--env-file', file])
      for (const { stderr } of [imported, created]) {
        assert.match(stderr, message)
        assert.ok(stderr.includes(file), stderr)
        assert.ok(!stderr.includes('hunter2'), stderr)
      }
    }
    const endless = await berth(t, ['env', 'import', name, '/dev/zero', '--yes'])
    assert.match(endless.stderr, /\/dev\/zero is larger than 2 MiB/)
    assert.deepEqual(await readEnv(name), {})
  })

  test('edit saves the changes made in the editor, and leaves no file behind', async (t) => {
    const name = await serviceWith({ A: 'one', B: 'two', ODD: difficult })
    const folder = temporaryDirectory(t)
    const env = { EDITOR: 'sed -i s/^A=one/A=three/;s/^B=/C=/', XDG_RUNTIME_DIR: folder }
    const terminal = openFakeTerminal(t, ['env', 'edit', name], { daemon: suite.daemon, env })
    await terminal.shows('Save this for')
    assert.doesNotMatch(terminal.screen().join('\n'), /ODD/)
    assert.match(terminal.screen().join('\n'), /\+ C.*\n.*~ A.*\n.*- B/)
    terminal.type('y\r')

    assert.equal(await terminal.ended(), 0)
    assert.deepEqual(await readEnv(name), { A: 'three', C: 'two', ODD: difficult })
    assert.deepEqual(readdirSync(folder), [])
  })

  test('edit saves nothing without confirmation, after a broken edit, or without a terminal', async (t) => {
    const name = await serviceWith({ A: 'one' })
    const edit = (EDITOR: string) =>
      openFakeTerminal(t, ['env', 'edit', name], { daemon: suite.daemon, env: { EDITOR, VISUAL: '' } })
    const declined = edit('sed -i s/one/two/')
    await declined.shows('Save this for')
    declined.type('n')

    const codes = [await declined.ended(), await edit('false').ended(), await edit('/nowhere/vi').ended()]
    const piped = await berth(t, ['env', 'edit', name])

    assert.deepEqual([...codes, piped.code], [1, 1, 1, 2])
    assert.deepEqual(await readEnv(name), { A: 'one' })
  })
})
