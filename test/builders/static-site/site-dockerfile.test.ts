import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  isMissing,
  type Site,
  siteDockerfile,
  siteIgnore,
} from '../../../src/builders/static-site/static-site.ts'
import { createClassic } from '../../../src/docker/build/build-classic.ts'
import { createBuildKit } from '../../../src/docker/build/build-kit.ts'
import { imageName, treeName } from '../../../src/docker/engine/names.ts'
import { createIds } from '../../../storage/store/ids.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { unlimited } from '../../support/docker/build-site.ts'
import { type DockerSite, openDockerSite } from '../../support/docker/docker-site.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const site: Site = {
  server: 'server:1',
  serverFolder: null,
  isSpa: false,
  from: null,
  folder: 'source/dist',
  needsIndex: false,
}
const linesOf = (changes: Partial<Site>) =>
  siteDockerfile({ ...site, ...changes })
    .trimEnd()
    .split('\n')

test('a folder of the source is copied into the server image', () => {
  assert.deepEqual(linesOf({}), [
    'FROM server:1',
    'ENV BERTH_SPA=0',
    'COPY --chown=65533:65533 ["source/dist","/site/"]',
  ])
})

test('nginx gets its configuration, its user and its port', () => {
  assert.deepEqual(linesOf({ server: 'nginx:1', serverFolder: 'generated/server' }), [
    'FROM nginx:1',
    'COPY ["generated/server/serve-site","/usr/bin/serve-site"]',
    'COPY ["generated/server/http.conf","/etc/nginx/http.conf"]',
    'COPY ["generated/server/server.conf","/etc/nginx/server.conf"]',
    'COPY ["generated/server/pages.conf","/etc/nginx/pages.conf"]',
    'COPY ["generated/server/app.conf","/etc/nginx/app.conf"]',
    'USER 65534:65534',
    'EXPOSE 8080',
    'STOPSIGNAL SIGQUIT',
    'ENTRYPOINT ["sh","/usr/bin/serve-site"]',
    'CMD []',
    'ENV BERTH_SPA=0',
    'COPY --chown=65533:65533 ["source/dist","/site/"]',
  ])
})

test('a folder of an image is copied from it, after its index.html if that is required', () => {
  const changes = { isSpa: true, from: 'berth/web:dep-1.tree', folder: '/my site', needsIndex: true }
  assert.deepEqual(linesOf(changes), [
    'FROM server:1',
    'ENV BERTH_SPA=1',
    'COPY --chown=65533:65533 --from=berth/web:dep-1.tree ["/my site/index.html","/site/"]',
    'COPY --chown=65533:65533 --from=berth/web:dep-1.tree ["/my site","/site/"]',
  ])
})

test('a folder that a builder would read as a pattern or a variable is refused', () => {
  for (const folder of ['a*b', 'a?', '[slug]', '$HOME', 'a\\b', 'a"b', 'a\nb', 'a ']) {
    assert.throws(() => siteDockerfile({ ...site, folder }), { code: 'invalid_request' }, folder)
  }
})

test("the folder is filtered by the user's own rules, without dotfiles", () => {
  const rules = '\uFEFF# comment\r\n\r\n/drafts\n  **/*.map  \n!keep.map\n! spaced.map\n'

  assert.deepEqual(siteIgnore('source/web/out', 'source/web', rules), [
    '*',
    '!source/web/out',
    'source/web/drafts',
    'source/web/**/*.map',
    '!source/web/keep.map',
    '!source/web/spaced.map',
    'source/web/out/**/.*',
    '!source/web/out/.well-known',
    'source/web/out/.well-known/**/.*',
  ])
})

for (const name of ['BuildKit', 'the classic builder']) {
  test(`${name} extracts a site from an image, and recognizes a missing folder`, async (t) => {
    const docker = await openDockerSite(t)
    const build = builderOf(t, docker, name)
    const id = createIds().newId('dep')
    const tree = treeName(docker.owner, 'web', id)
    const image = imageName(docker.owner, 'web', id)
    const server = docker.images.busybox
    await build(tree, `FROM ${server}\nRUN mkdir -p "/my site" /bare && echo hello > "/my site/index.html"`)
    const take = (changes: Partial<Site>) =>
      build(image, siteDockerfile({ ...site, server, from: tree, needsIndex: true, ...changes }))

    await take({ folder: '/my site' })
    await assert.rejects(take({ folder: '/none' }), isMissing)
    await assert.rejects(take({ folder: '/bare' }), isMissing)
    await assert.rejects(take({ folder: 'none', from: null }), isMissing)
    await assert.rejects(take({ folder: '/bare', server: 'localhost/none:1' }), (error) => !isMissing(error))
  })
}

function builderOf(t: TestContext, { engine, owner }: DockerSite, name: string) {
  const builder = (name === 'BuildKit' ? createBuildKit : createClassic)(engine, unlimited(owner))
  const contextDir = join(temporaryDirectory(t), 'context')
  return async (tag: string, Dockerfile: string) => {
    writeTree(contextDir, { Dockerfile })
    await builder.build({
      contextDir,
      dockerfile: 'Dockerfile',
      tag,
      labels: {},
      noCache: false,
      cacheNamespace: '',
      buildArgs: {},
      secrets: [],
      registries: [],
      onLine: () => {},
      signal: t.signal,
    })
  }
}
