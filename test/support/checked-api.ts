// The API for tests of its nouns: every answer is held against the OpenAPI document.
import type { TestContext } from 'node:test'
import type { Service } from '../../src/http/schemas/service.ts'
import { type Answer, type Asked, startApi } from './http-context.ts'
import { checkAnswer } from './openapi.ts'

/** The API, with every answer held against the document. */
export async function startChecked(t: TestContext) {
  const api = await startApi(t)
  const call = async (method: string, path: string, body?: unknown, asked: Asked = {}): Promise<Answer> => {
    const answer = await api.call(method, `/api/v1${path}`, {
      ...asked,
      ...(body === undefined ? {} : { body }),
    })
    checkAnswer(method, `/api/v1${path}`, answer.status, answer.body)
    return answer
  }
  const create = async (body: object) => (await call('POST', '/services', body)).body as Service
  const get = async (name: string) => (await call('GET', `/services/${name}`)).body as Service
  const refused = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body)
    const errors = (answer.body.errors ?? []) as { path: string; code: string }[]
    return [answer.status, answer.body.code, ...errors.map((one) => `${one.path} ${one.code}`)]
  }
  return { ...api, call, create, get, refused }
}
