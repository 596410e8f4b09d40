// The frameworks of JavaScript: servers or pages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameworkTable } from '../../../src/recipes/languages/node/framework-table.ts'
import { frameworkRows } from '../../support/recipes/framework-rows.ts'

test('the table of frameworks is the one that Vercel has: npm run frameworks', () => {
  assert.deepEqual(frameworkTable, frameworkRows())
})
