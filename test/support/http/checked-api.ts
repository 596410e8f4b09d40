// The API for tests of its routes: every response is checked against the OpenAPI document.
// Requests use the server's token, or a browser where tokens are not accepted.
import type { TestContext } from 'node:test'
import type { KindName } from '../../../machines/index.ts'
import type { Service } from '../../../src/api/service.ts'
import type { HttpContext } from '../../../src/http/pipeline/context.ts'
import type { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { type Answer, type RequestOptions, startApi } from './http-context.ts'
import { checkAnswer, needsSession } from './openapi.ts'
import { type SessionHeaders, signUp } from './session.ts'

/** The API, with every response checked against the OpenAPI document. */
export async function startChecked(t: TestContext) {
  const api = await startApi(t)
  let session: Promise<SessionHeaders> | null = null
  const signedIn = (): Promise<SessionHeaders> => {
    if (session) return session
    api.storage.setupCode.ensure()
    session = signUp(api.url, api.storage.directory)
    return session
  }
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    requested: RequestOptions = {},
  ): Promise<Answer> => {
    const browser = needsSession(method, `/api/v1${path}`) ? { token: null, headers: await signedIn() } : {}
    const response = await api.call(method, `/api/v1${path}`, {
      ...browser,
      ...requested,
      ...(body === undefined ? {} : { body }),
    })
    checkAnswer(method, `/api/v1${path}`, response.status, response.body)
    return response
  }
  const create = async (body: object) => (await call('POST', '/services', body)).body as Service
  const get = async (name: string) => (await call('GET', `/services/${name}`)).body as Service
  const refused = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body)
    const errors = (answer.body.errors ?? []) as { path: string; code: string }[]
    return [answer.status, answer.body.code, ...errors.map((error) => `${error.path} ${error.code}`)]
  }
  return { ...api, call, create, get, refused }
}

/** Routes one kind to the supervisor and all other kinds to the API's fake actors. */
export function joinActors(
  context: HttpContext,
  supervisor: Supervisor,
  joined: KindName,
  prefix: string,
): void {
  const { actors } = context
  const portOf = (isJoined: boolean) => (isJoined ? supervisor : actors)
  const portOfId = (id: string) => portOf(id.startsWith(prefix))
  context.actors = {
    ...actors,
    spawn: (kind, ...rest) => portOf(kind === joined).spawn(kind, ...rest),
    send: (id, ...rest) => portOfId(id).send(id, ...rest),
    retry: (id, ...rest) => portOfId(id).retry(id, ...rest),
    discard: (id, ...rest) => portOfId(id).discard(id, ...rest),
  }
}
