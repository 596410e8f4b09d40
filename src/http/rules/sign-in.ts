// Signs a browser in, for the API and the pages. The device cookie and the source select the attempt limit.
import type { SignedIn, SignInSource } from '../../account/administrator.ts'
import type { Login } from '../../api/access/account.ts'
import { deviceCookie, devicesOf, sessionCookie } from '../pipeline/cookies.ts'
import { isLocalRequest, originOf } from '../pipeline/origin.ts'
import type { Call } from '../pipeline/route.ts'
import type { HeaderList } from '../server/messages.ts'

type RequestCall = Pick<Call, 'context' | 'request'>

export function signIn({ context, request }: RequestCall, login: Login): Promise<SignedIn> {
  const devices = devicesOf(request, originOf(context, request))
  const source: SignInSource = { devices, isLocal: isLocalRequest(context, request) }
  return context.administrator.signIn(login, request.headers.get('user-agent'), source)
}

export function cookiesFor({ context, request }: RequestCall, { secret, device }: SignedIn): HeaderList {
  const origin = originOf(context, request)
  return [sessionCookie(origin, secret), deviceCookie(origin, device)]
}
