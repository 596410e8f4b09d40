import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateService, UpdateService } from '../../src/api/service.ts'
import { serviceSettings, settingNames } from '../../src/domain/service-settings.ts'

test('every setting of the table can be set at creation and changed later', () => {
  const otherFields = {
    create: ['name', 'type', 'kept_disk', 'env', 'deploy'],
    update: ['name', 'type', 'suspended'],
  }

  assert.deepEqual(
    new Set(Object.keys(CreateService.shape)),
    new Set([...settingNames, ...otherFields.create]),
  )
  assert.deepEqual(
    new Set(Object.keys(UpdateService.shape)),
    new Set([...settingNames, ...otherFields.update]),
  )
})

test('the schema of a setting accepts its default, unless clearing it restores the default', () => {
  for (const name of settingNames) {
    const { default: unset } = serviceSettings[name]
    const body = { name: 'shop', [name]: unset }

    if (unset !== null) assert.deepEqual(CreateService.parse(body)[name], unset, name)
  }
})

test('no two settings share a flag', () => {
  const flags = settingNames.flatMap((name) => serviceSettings[name].flag?.flags.split(' ')[0] ?? [])

  assert.equal(new Set(flags).size, flags.length)
})
