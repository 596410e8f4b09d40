// The document under the rules of the two linters that its readers are likely to use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'
import { served } from '../../support/http/openapi.ts'

type Json = Record<string, unknown>

test('Spectral reports no problems in the document', async () => {
  assert.deepEqual(await spectralFindings(served), [])
})

test('Redocly reports no problems in the document', async () => {
  assert.deepEqual(await redoclyFindings(served), [])
})

async function spectralFindings(document: Json): Promise<string[]> {
  const spectral = new spectralCore.Spectral()
  spectral.setRuleset({ extends: [[spectralRulesets.oas as RulesetDefinition, 'recommended']] })
  const findings = await spectral.run(JSON.parse(JSON.stringify(document)))
  return findings.map(({ code, path, message }) => `${code} ${path.join('/')}: ${message}`)
}

async function redoclyFindings(document: Json): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const source = JSON.stringify(document)
  const findings = await lintFromString({ source, absoluteRef: '/openapi.json', config })
  return findings.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}
