// What an app needs before it works, said before it is built.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choicesOf, type Source } from '../support/recipes/recipe-of.ts'

const needs = (files: Source['files'], env: string[] = []) =>
  choicesOf({ files, settings: { env } }).filter((line) => /^(the env needs|ALLOWED_HOSTS)/.test(line))

test('a token that .npmrc names is named until it is set', () => {
  const files = {
    'package.json': { scripts: { start: 'node a.js' } },
    '.npmrc': '//registry.example.com/:_authToken=${NPM_TOKEN}',
  }
  assert.deepEqual(needs(files), ['the env needs NPM_TOKEN: .npmrc takes it for a registry: berth env set'])
  assert.deepEqual(needs(files, ['NPM_TOKEN']), [])
})

test('Django without a host, Laravel and Rails without a key are told', () => {
  const django = (settings: string) => ({
    'requirements.txt': 'django\ngunicorn',
    'manage.py': '',
    'shop/wsgi.py': '',
    'shop/settings.py': settings,
  })
  assert.match(needs(django('ALLOWED_HOSTS = []')).join(), /^ALLOWED_HOSTS is empty: .*400/)
  assert.deepEqual(needs(django("ALLOWED_HOSTS = []\nALLOWED_HOSTS += ['shop.example.com']")), [])
  const laravel = { artisan: '', 'composer.json': { require: {} }, 'public/index.php': '' }
  assert.match(needs(laravel).join(), /^the env needs APP_KEY/)
  assert.deepEqual(needs(laravel, ['APP_KEY']), [])
  const rails = { Gemfile: 'gem "rails"', 'bin/rails': '' }
  assert.match(needs(rails).join(), /^the env needs SECRET_KEY_BASE/)
  const credentials = { ...rails, 'config/credentials.yml.enc': '' }
  assert.match(needs(credentials).join(), /^the env needs RAILS_MASTER_KEY/)
  assert.deepEqual(needs(credentials, ['SECRET_KEY_BASE']), [])
})
