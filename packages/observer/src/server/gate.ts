// Who may come in. A pure function of a request's head: what it asks for, or why it is refused. Whatever a browser can be made to send by a
// page of somebody else lacks the token, a right Origin or the content type; whatever comes by another name of this machine lacks the Host.

import { createHash, timingSafeEqual } from 'node:crypto'

export interface Head {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
}

export interface GateRules {
  /** What `Host` may be, to the letter. */
  readonly hosts: ReadonlySet<string>
  /** What `Origin` may be, to the letter. */
  readonly origins: ReadonlySet<string>
  readonly token: string
  /** Files, by the path under which they are asked for. */
  readonly files: ReadonlySet<string>
  /** Questions, by the path under which they are asked. */
  readonly questions: ReadonlySet<string>
}

export type Admission =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'question'; readonly path: string }
  | { readonly kind: 'refused'; readonly status: number; readonly why: string }

export const tokenHeader = 'x-troupe-token'
/** Bytes of a question. */
export const longestBody: number = 16 * 1024

const refused = (status: number, why: string): Admission => ({ kind: 'refused', status, why })

export function passageOf(head: Head, rules: GateRules): Admission {
  const { method = '', url = '' } = head
  // Twice is as good as wrong: another that stands between may have believed the other one.
  for (const name of ['host', 'origin', 'content-type', 'content-length', 'transfer-encoding', tokenHeader])
    if (timesOf(head, name) > 1) return refused(400, `${name} is given more than once`)
  if (!rules.hosts.has(one(head, 'host') ?? '')) return refused(421, 'this Host is not served')
  if (rules.files.has(url)) return fileOf(head, method, url)
  if (rules.questions.has(url)) return questionOf(head, method, url, rules)
  // Paths are compared to the letter: a query, a dot or a percent sign makes it another path, and no other path is there.
  return refused(404, 'there is no such path')
}

function fileOf(head: Head, method: string, path: string): Admission {
  if (method !== 'GET' && method !== 'HEAD') return refused(405, 'files are read with GET')
  if (hasBody(head)) return refused(400, 'a GET has no body')
  const site = one(head, 'sec-fetch-site')
  const navigates = path === '/' && one(head, 'sec-fetch-mode') === 'navigate' && one(head, 'sec-fetch-dest') === 'document'
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !navigates) return refused(403, 'other sites may not read this')
  return { kind: 'file', path }
}

function questionOf(head: Head, method: string, path: string, rules: GateRules): Admission {
  if (method !== 'POST') return refused(405, 'questions are asked with POST')
  // Browsers send it with every POST; who does not, is none, and has no business here.
  if (!rules.origins.has(one(head, 'origin') ?? '')) return refused(403, 'this Origin may not ask')
  const site = one(head, 'sec-fetch-site')
  if (site !== undefined && site !== 'same-origin') return refused(403, 'other sites may not ask')
  if (!isToken(one(head, tokenHeader), rules.token)) return refused(401, 'the token is missing or wrong')
  // Not one of the three types that a form can send.
  if (one(head, 'content-type') !== 'application/json') return refused(415, 'questions are application/json')
  const length = one(head, 'content-length')
  if (one(head, 'content-encoding') !== undefined) return refused(415, 'questions are not compressed')
  if (length !== undefined && !/^\d{1,9}$/.test(length)) return refused(400, 'content-length is not a number')
  if ((one(head, 'transfer-encoding') ?? 'chunked') !== 'chunked') return refused(400, 'transfer-encoding is not chunked')
  if (Number(length ?? 0) > longestBody) return refused(413, 'the question is too long')
  return { kind: 'question', path }
}

/** Compared by hash, so that how long it takes tells nothing. */
function isToken(given: string | undefined, token: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given ?? ''), hash(token)) && given !== undefined
}

function one({ headers }: Head, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
function timesOf({ rawHeaders }: Head, name: string): number {
  let times = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.toLowerCase() === name) times++
  return times
}
function hasBody(head: Head): boolean {
  return Number(one(head, 'content-length') ?? 0) !== 0 || one(head, 'transfer-encoding') !== undefined
}

/** With every answer, refusals too. */
export const safeHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'cache-control': 'no-store',
}
