// The certificate that a server presents for a host.
import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import { serverAddress } from './ca.ts'

export function servedCertificate(host: string): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host: serverAddress, port: 443, servername: host, rejectUnauthorized: false },
      () => {
        resolve(new X509Certificate(socket.getPeerCertificate().raw))
        socket.destroy()
      },
    )
    socket.once('error', reject)
  })
}
