// Passwords: their rules, their cost, and that hashing does not delay other requests.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { needsRehash } from 'argon2'
import { argon2Options, createPasswords, dummyHash, type Hasher } from '../../src/account/passwords.ts'
import { countingHasher } from '../support/counting-hasher.ts'

test('the password that was hashed fits, and no other does', async () => {
  const { hash, matches } = createPasswords()
  const known = await hash('correct horse battery')

  equal(await matches(known, 'correct horse battery'), true)
  for (const other of ['correct horse batterY', 'correct horse battery ', '', known]) {
    equal(await matches(known, other), false, other)
  }
})

test('a hash has the parameters it was promised, and a salt of its own', async () => {
  const { hash } = createPasswords()
  const [one, other] = [await hash('same'), await hash('same')]

  match(one, /^\$argon2id\$v=19\$m=65536,p=4,t=3\$|^\$argon2id\$v=19\$m=65536,t=3,p=4\$/)
  ok(one !== other)
  equal(needsRehash(one, argon2Options), false)
})

test('nobody’s hash is as dear as any other', () => {
  equal(needsRehash(dummyHash, argon2Options), false)
  equal(needsRehash(dummyHash, { ...argon2Options, timeCost: argon2Options.timeCost + 1 }), true)
  match(dummyHash, /^\$argon2id\$/)
})

test('without an account there is one hash too, and whatever it comes to, nothing fits', async () => {
  for (const isRight of [false, true]) {
    const hasher = countingHasher({ isRight: () => isRight })

    equal(await createPasswords(hasher).matches(null, 'anything'), false)

    deepEqual(hasher.verified, [dummyHash])
    deepEqual(hasher.hashed, [])
  }
})

test('with an account there is one hash, right or wrong', async () => {
  for (const isRight of [false, true]) {
    const hasher = countingHasher({ isRight: () => isRight })

    equal(await createPasswords(hasher).matches('$argon2id$known', 'anything'), isRight)

    deepEqual(hasher.verified, ['$argon2id$known'])
  }
})

test('of many at once two are at work, and all are answered', async () => {
  const hasher = countingHasher()
  const { hash, matches } = createPasswords(hasher)

  await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? hash('a') : matches(null, 'a'))))

  equal(hasher.mostAtOnce, 2)
  deepEqual([hasher.hashed.length, hasher.verified.length], [10, 10])
})

test('one that fails takes no turn from those after it', async () => {
  const broken: Hasher = {
    hash: () => Promise.reject(new Error('no memory')),
    verify: async () => true,
  }
  const { hash, matches } = createPasswords(broken)

  const failed = await Promise.allSettled([hash('a'), hash('a'), hash('a')])

  deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  equal(await matches('$argon2id$known', 'a'), true)
})

test('while passwords are hashed the event loop goes on turning', async () => {
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
