// Apps of GitHub: their manifest, and JWTs on a host whose clock is wrong.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  convertManifest,
  createInstallationToken,
  findInstallation,
  registrationForm,
} from '../../src/git-providers/github-app.ts'
import type { Instance } from '../../src/git-providers/provider.ts'
import { createGitProvider, type FakeProvider } from '../support/git/git-provider.ts'
import { testHostRules } from '../support/git/git-server.ts'

const redirectUri = 'https://berth.example.com/git/callback'
const instanceOf = ({ url }: FakeProvider): Instance => ({
  provider: 'github',
  baseUrl: url,
  hostRules: testHostRules,
})

const asked = { organization: null, state: 's', hookUrl: null, reportsDeploys: false }

async function registeredApp(fake: FakeProvider) {
  const form = registrationForm({ baseUrl: fake.url }, { ...asked, redirectUri })
  const app = await convertManifest(instanceOf(fake), fake.registerApp(form.manifest, 'ada'))
  return { app, instance: instanceOf(fake) }
}

for (const minutes of [-20, 20]) {
  test(`a host whose clock differs by ${minutes} minutes from that of GitHub gets tokens`, async (t) => {
    const fake = await createGitProvider(t)
    const { app, instance } = await registeredApp(fake)
    const id = fake.installApp(app.slug, 'ada')
    fake.state.clockOffsetMs = minutes * 60_000
    const token = await createInstallationToken(instance, app, id, null)
    assert.match(token, /^ghs_/)
    assert.equal((await findInstallation(instance, app))?.id, id)
  })
}

test('the code of a manifest works once', async (t) => {
  const fake = await createGitProvider(t)
  const form = registrationForm({ baseUrl: fake.url }, { ...asked, redirectUri })
  const code = fake.registerApp(form.manifest, 'ada')
  await convertManifest(instanceOf(fake), code)
  await assert.rejects(convertManifest(instanceOf(fake), code), { status: 404 })
})

test('the name of an app has at most 34 characters, whatever the host is called', () => {
  for (const host of ['berth.example.com', `${'a'.repeat(60)}.example.com`, '192.0.2.1', '[2001:db8::1]']) {
    const form = registrationForm(
      { baseUrl: 'https://github.com' },
      { ...asked, redirectUri: `https://${host}/git/callback` },
    )
    const { name } = JSON.parse(form.manifest)
    assert.match(name, /^berth-[a-z0-9-]*[a-z0-9]$/)
    assert.ok(name.length <= 34, name)
  }
})
