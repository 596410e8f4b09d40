// What the log of a deploy says of its recipe.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeRecipe } from '../../../src/builders/recipe/description.ts'
import type { Recipe } from '../../../src/recipes/index.ts'
import type { ReleaseRecipe } from '../../../storage/releases.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'

const made: Recipe = {
  title: 'Node.js',
  choices: [{ what: 'node 22', reason: '.nvmrc' }],
  context: '',
  stages: [],
  ignore: [],
  port: 3000,
  site: null,
  preDeploy: { command: 'npm run migrate', reason: 'the Procfile' },
  proposals: [{ setting: 'pre_deploy_command', value: 'npx prisma migrate deploy', reason: 'prisma' }],
  workers: [{ name: 'mail', command: 'node\u001b[1m mail.js' }],
  storedData: [],
}

const printed: ReleaseRecipe = {
  version: 1,
  builder: 'recipe',
  choices: made.choices,
  dockerfile: 'FROM node:22-slim\nCMD ["node"]\n',
  ignore: '.git\n',
  base_images: {},
  pre_deploy_command: 'npm run migrate',
  proposals: made.proposals,
  workers: made.workers,
}

const job = { serviceName: 'shop', settings: serviceRow(), live: null }

test('each choice has its reason, and what is not done is said with the way to do it', () => {
  assert.deepEqual(describeRecipe(printed, made, job), [
    'there is no Dockerfile: building by recipe 1 (Node.js)',
    'node 22: .nvmrc',
    'before the new version starts, this runs in its image: npm run migrate (the Procfile)',
    'not run by itself: npx prisma migrate deploy (prisma); berth update shop --pre-deploy-command sets it',
    'not started, but could be a service of its own: mail: node [1m mail.js',
  ])
})

test("the service's own pre-deploy command wins", () => {
  const settings = serviceRow({ pre_deploy_command: 'own' })
  const lines = describeRecipe(printed, made, { ...job, settings })
  assert.ok(!lines.some((line) => line.includes('npm run migrate')), lines.join('\n'))
})

test('a change since the live version comes first, and a long one is cut', () => {
  const change = (dockerfile: string) =>
    describeRecipe(printed, made, { ...job, live: { recipe: { ...printed, dockerfile, ignore: 'old\n' } } })

  const lines = change('FROM node:20-slim\nCMD ["node"]\n')
  const long = change(Array.from({ length: 80 }, (_, number) => `RUN ${number}\n`).join(''))

  assert.deepEqual(lines.slice(0, 6), [
    'the recipe gives another Dockerfile than that of the live version:',
    '-FROM node:20-slim',
    '+FROM node:22-slim',
    ' CMD ["node"]',
    '-old',
    '+.git',
  ])
  assert.equal(long[61], 'and 24 more lines')
  const same = describeRecipe(printed, made, { ...job, live: { recipe: printed } })
  assert.deepEqual(same, describeRecipe(printed, made, job))
})
