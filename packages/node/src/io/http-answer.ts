// A whole answer, with its length: without it, every answer would come in chunks, and who asks cannot tell how much is to come.

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Bytes } from './protocol.ts'

/** Sends it. The length is left out where the status has no body, and where the headers say how it ends. */
export function answerWhole(response: ServerResponse, status: number, headers: OutgoingHttpHeaders | undefined, body: Bytes = ''): void {
  const bodiless = status < 200 || status === 204 || status === 304
  const said = Object.keys(headers ?? {}).some((name) => /^(content-length|transfer-encoding)$/i.test(name))
  if (!bodiless && !said) response.setHeader('content-length', typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength)
  response.writeHead(status, headers)
  response.end(response.req.method === 'HEAD' ? undefined : body)
}
