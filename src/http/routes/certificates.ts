// Certificates of public hosts.
import { z } from 'zod'
import { Certificate, CertificateAuthority, CertificateParams } from '../../api/certificate.ts'
import { HistoryEntry } from '../../api/deploy.ts'
import { Why } from '../../api/parts/failure.ts'
import * as certificates from '../handlers/certificates.ts'
import * as why from '../handlers/why.ts'
import { route, tagged, v1 } from '../pipeline/route.ts'

export const certificateRoutes = tagged('Certificates', [
  route({
    method: 'GET',
    path: `${v1}/certificates`,
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the certificates of all hosts, with their state and the reason of a failure',
    response: z.array(Certificate),
    handler: certificates.listCertificates,
  }),
  route({
    method: 'GET',
    path: `${v1}/certificate-authority`,
    role: 'read',
    summary: 'Shows the certificate authority and the wildcard certificate',
    response: CertificateAuthority,
    handler: certificates.showAuthority,
  }),
  route({
    method: 'GET',
    path: `${v1}/certificates/{id}/history`,
    role: 'read',
    scope: 'record',
    summary: 'Lists the transitions of a certificate: the first 10 and the last 500',
    params: CertificateParams,
    response: z.array(HistoryEntry),
    handler: certificates.certificateHistory,
  }),
  route({
    method: 'POST',
    path: `${v1}/certificates/{id}/retry`,
    summary: 'Starts the next attempt immediately, unless the CA requires a pause',
    params: CertificateParams,
    response: Certificate,
    status: 202,
    problems: ['conflict', 'slow_down'],
    handler: certificates.retryCertificate,
  }),
  route({
    method: 'GET',
    path: `${v1}/certificates/{id}/why`,
    role: 'read',
    scope: 'record',
    summary: 'Explains why there is no new certificate, and what to do about it',
    params: CertificateParams,
    response: Why,
    handler: why.whyCertificate,
  }),
])
