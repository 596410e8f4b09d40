// Services created during a fault. Every service that the daemon acknowledged must still exist afterwards.
import assert from 'node:assert/strict'
import type { Answer, Api, Body } from './api.ts'

export interface CreateRequest {
  name: string
  /** Null when the daemon ended before it responded. */
  response: Answer | null
}

let created = 0

/** Sends all requests concurrently. */
export function createServices(api: Api, count: number): Promise<CreateRequest[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const name = `asked-${process.pid}-${++created}`
      const response = await api.call('POST', '/services', { name, type: 'web_service' }).catch(() => null)
      return { name, response }
    }),
  )
}

/** Whether a request was rejected. Fails on any status but 201 and 507. */
export function wereRejected(requests: CreateRequest[]): boolean {
  const responses = requests.flatMap(({ response }) => response ?? [])
  for (const { status, body } of responses)
    if (status !== 201) assert.deepEqual([status, body.code], [507, 'insufficient_storage'])
  return responses.some(({ status }) => status === 507)
}

/** Acknowledged services exist as in their response; with `exactly`, the others do not exist. */
export async function requireAcknowledged(
  api: Api,
  requests: CreateRequest[],
  exactly: boolean,
): Promise<void> {
  const services: Body[] = await api.get('/services')
  for (const { name, response } of requests) {
    const found = services.find((service) => service.name === name)
    if (response?.status === 201) assert.deepEqual(found, response.body)
    else if (exactly) assert.equal(found, undefined, `${name} was refused`)
  }
}
