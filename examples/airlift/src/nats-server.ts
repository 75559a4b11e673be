// A NATS server for the occasion, where one is found: on 127.0.0.1, in a folder of its own, ended with its owner.

export interface NatsServer {
  readonly url: string
  readonly version: string
  end(): Promise<void>
}

/** What `tools/engines` of this repository offers. */
interface Engines {
  readonly findNats: () => { readonly version: string } | undefined
  readonly startNats: (found: { readonly version: string }) => Promise<Omit<NatsServer, 'version'>>
}

/** Undefined where none is found. */
export async function startNatsServer(): Promise<NatsServer | undefined> {
  const { findNats, startNats } = (await import(new URL('../../../tools/engines/nats.mjs', import.meta.url).href)) as Engines
  const found = findNats()
  if (found === undefined) return undefined
  const { url, end } = await startNats(found)
  return { url, version: found.version, end }
}
