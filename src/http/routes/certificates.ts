// Certificates of public hosts.
import { z } from 'zod'
import { Certificate, CertificateAuthority, CertificateParams } from '../../api/certificate.ts'
import * as certificates from '../handlers/certificates.ts'
import { get, post, tagged } from '../pipeline/route.ts'
import { historyRoute, whyRoute } from './record-routes.ts'

export const certificateRoutes = tagged('Certificates', [
  get('/certificates', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the certificates of all hosts, with their state and the reason of a failure',
    response: z.array(Certificate),
    handler: certificates.listCertificates,
  }),
  get('/certificate-authority', {
    role: 'read',
    summary: 'Shows the certificate authority and the wildcard certificate',
    response: CertificateAuthority,
    handler: certificates.showAuthority,
  }),
  historyRoute('/certificates/{id}', {
    scope: 'record',
    params: CertificateParams,
    summary: 'Lists the transitions of a certificate: the first 10 and the last 500',
    find: certificates.findCertificate,
  }),
  post('/certificates/{id}/retry', {
    summary: 'Starts the next attempt immediately, unless the CA requires a pause',
    params: CertificateParams,
    response: Certificate,
    status: 202,
    problems: ['conflict', 'slow_down'],
    handler: certificates.retryCertificate,
  }),
  whyRoute('/certificates/{id}', {
    scope: 'record',
    params: CertificateParams,
    summary: 'Explains why there is no new certificate, and what to do about it',
    find: certificates.findCertificate,
    advise: ({ hint }) => (hint === null ? null : { hint, commands: [] }),
  }),
])
