// The page of a git provider that lists the commits between two deploys.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareUrlAt } from '../../../src/effects/git-connection/repository-access.ts'
import { parseRepositoryUrl } from '../../../src/git/repository.ts'

const own = [{ provider: 'gitlab' as const, base_url: 'https://git.example.com/code' }]

const pages: [repository: string, page: string | null][] = [
  ['https://github.com/owner/name', 'https://github.com/owner/name/compare/a1...b2'],
  ['git@github.com:owner/name.git', 'https://github.com/owner/name/compare/a1...b2'],
  ['https://gitlab.com/group/sub/name.git', 'https://gitlab.com/group/sub/name/-/compare/a1...b2'],
  ['https://git.example.com/code/owner/name', 'https://git.example.com/code/owner/name/-/compare/a1...b2'],
  ['https://git.example.com/other/name', null],
  ['https://github.com.example.com/owner/name', null],
  ['/srv/git/name', null],
]

for (const [repository, page] of pages) {
  test(`the commits of ${repository} are ${page ? 'shown by its provider' : 'shown nowhere'}`, () => {
    assert.equal(compareUrlAt(own, parseRepositoryUrl(repository), 'a1', 'b2'), page)
  })
}
