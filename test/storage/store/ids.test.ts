import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { createIds, idTime, isId } from '../../../storage/store/ids.ts'

test('ids created while the clock steps back still sort in creation order', () => {
  const times = [5000, 5000, 9000, 100, 0, -3, 9000, 9001]
  const ids = createIds(() => times.shift() ?? 0)

  const newIds = Array.from({ length: 8 }, () => ids.newId('dep'))

  deepEqual(newIds, [...newIds].sort())
  equal(new Set(newIds).size, 8)
})

test('ids created in one millisecond sort in creation order', () => {
  const ids = createIds(() => 5000)

  const newIds = Array.from({ length: 10_000 }, () => ids.newId('job'))

  deepEqual(newIds, [...new Set(newIds)].sort())
})

test('an id is its prefix and a lower-case ULID that contains its creation time', () => {
  const id = createIds(() => 1_700_000_000_123).newId('usr')

  equal(/^usr-[0-9a-hjkmnp-tv-z]{26}$/.test(id), true)
  equal(idTime(id), 1_700_000_000_123)
})

test('only a string in the form of an id counts as an id', () => {
  const ulid = '01hnzxd07m5cen5xa66emzsrzw'

  equal(isId(`dep-${ulid}`), true)
  equal(isId(`new-${ulid}`), true)
  for (const text of [
    '',
    'dep',
    ulid,
    `dep-${ulid}0`,
    `xdep-${ulid}`,
    `dep-${ulid.toUpperCase()}`,
    `dep-u${ulid.slice(1)}`,
  ]) {
    equal(isId(text), false, text)
    throws(() => idTime(text), { code: 'invalid_id', message: `'${text}' is not an id` })
  }
})
