// Passwords: their rules, their cost, and that hashing does not delay other requests.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { needsRehash } from 'argon2'
import { argon2Options, createPasswords, dummyHash } from '../../src/account/passwords.ts'
import { countingHasher } from '../support/http/counting-hasher.ts'

test('only the hashed password matches', async () => {
  const { hash, matches } = createPasswords()
  const known = await hash('correct horse battery')

  equal(await matches(known, 'correct horse battery'), true)
  for (const other of ['correct horse batterY', 'correct horse battery ', '', known]) {
    equal(await matches(known, other), false, other)
  }
})

test('a hash has the configured parameters and a unique salt', async () => {
  const { hash } = createPasswords()
  const [one, other] = [await hash('same'), await hash('same')]

  match(one, /^\$argon2id\$v=19\$m=65536,p=4,t=3\$|^\$argon2id\$v=19\$m=65536,t=3,p=4\$/)
  ok(one !== other)
  equal(needsRehash(one, argon2Options), false)
})

test('the dummy hash costs as much as a real one', () => {
  equal(needsRehash(dummyHash, argon2Options), false)
  equal(needsRehash(dummyHash, { ...argon2Options, timeCost: argon2Options.timeCost + 1 }), true)
  match(dummyHash, /^\$argon2id\$/)
})

test('of many concurrent hashes two run at a time, and all complete', async () => {
  const hasher = countingHasher()
  const { hash, matches } = createPasswords(hasher)

  await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? hash('a') : matches(null, 'a'))))

  equal(hasher.mostAtOnce, 2)
  deepEqual([hasher.hashed.length, hasher.verified.length], [10, 10])
})

test('hashing does not block the event loop', async () => {
  const { hash } = createPasswords()
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setTimeout(turn)
  }
  const hashed = Promise.all(Array.from({ length: 4 }, () => hash('correct horse battery')))
  turn()
  await hashed
  isDone = true

  // Hashed on the loop itself, there would be a turn or two for each.
  ok(turns > 40, `the loop turned only ${turns} times`)
})
