// What a request asks for, read from its target (RFC 9112, 3.2): `/path?query`, a whole URL as for a proxy, or `*`. A target that begins
// with two slashes is a path too, and not the name of another host.

export interface Target {
  readonly path: string
  readonly query: URLSearchParams
}

/** Undefined where it is none of these. */
export function targetOf(target: string): Target | undefined {
  if (target === '*') return { path: '*', query: new URLSearchParams() }
  const whole = target.startsWith('/') ? `http://host${target}` : /^https?:\/\//i.test(target) ? target : ''
  if (!URL.canParse(whole)) return undefined
  const { pathname, searchParams } = new URL(whole)
  return { path: pathname, query: searchParams }
}
