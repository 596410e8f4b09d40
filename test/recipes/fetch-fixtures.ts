// Fetches the trees that test/fixtures/recipes.tsv names, and Railpack's plans for its own:
// BERTH_FIXTURES=FOLDER node --import tsx test/recipes/fetch-fixtures.ts
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run, runForBytes } from '../support/system/command.ts'
import { type Fixture, fixturesFolder, readFixtures, treeOf } from './fixtures.ts'

const fetched = new Set<string>()

if (fixturesFolder === '') throw new Error('BERTH_FIXTURES names no folder')
await mkdir(join(fixturesFolder, 'plans'), { recursive: true })
for (const fixture of readFixtures()) {
  console.log(fixture.name)
  await fetchFixture(fixture)
}

async function fetchFixture(fixture: Fixture): Promise<void> {
  const [origin = '', folder = ''] = fixture.source.split(' ')
  const [name = '', commit = ''] = origin.split('@')
  const repository = join(fixturesFolder, 'repositories', `${name}.git`)
  const git = (...words: string[]) => runForBytes('git', ['-C', repository, ...words])
  if (!fetched.has(origin)) {
    await rm(repository, { recursive: true, force: true })
    await run('git', ['init', '--quiet', '--bare', repository])
    await git('remote', 'add', 'origin', `https://github.com/${name}.git`)
    // Of a large repository, only the files of its fixtures then follow.
    await git('fetch', '--quiet', '--depth=1', '--filter=blob:none', 'origin', commit)
    fetched.add(origin)
  }
  const tree = treeOf(fixture)
  await rm(tree, { recursive: true, force: true })
  await mkdir(tree, { recursive: true })
  const archive = join(fixturesFolder, 'repositories', 'tree.tar')
  await git('archive', `--output=${archive}`, `${commit}:${folder}`)
  await run('tar', ['-x', '-f', archive, '-C', tree])
  if (name !== 'railwayapp/railpack') return
  const plan = `core/__snapshots__/TestGenerateBuildPlanForExamples_${basename(folder)}_1.snap.json`
  await writeFile(
    join(fixturesFolder, 'plans', `${fixture.name}.json`),
    await git('show', `${commit}:${plan}`),
  )
}
