// Certificates of public hosts.
import { z } from 'zod'
import { Certificate, CertificateAuthority, CertificateParams } from '../../api/certificate.ts'
import { HistoryEntry } from '../../api/deploy.ts'
import { Why } from '../../api/parts/failure.ts'
import * as certificates from '../handlers/certificates.ts'
import * as why from '../handlers/why.ts'
import { get, post, tagged } from '../pipeline/route.ts'

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
  get('/certificates/{id}/history', {
    role: 'read',
    scope: 'record',
    summary: 'Lists the transitions of a certificate: the first 10 and the last 500',
    params: CertificateParams,
    response: z.array(HistoryEntry),
    handler: certificates.certificateHistory,
  }),
  post('/certificates/{id}/retry', {
    summary: 'Starts the next attempt immediately, unless the CA requires a pause',
    params: CertificateParams,
    response: Certificate,
    status: 202,
    problems: ['conflict', 'slow_down'],
    handler: certificates.retryCertificate,
  }),
  get('/certificates/{id}/why', {
    role: 'read',
    scope: 'record',
    summary: 'Explains why there is no new certificate, and what to do about it',
    params: CertificateParams,
    response: Why,
    handler: why.whyCertificate,
  }),
])
