// What goes over the wire, both ways, and the checks of what a browser sends: it may send anything.

/** What a visitor's browser may say. */
export type FromBrowser =
  | { readonly type: 'join'; readonly room: string; readonly name: string }
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'leave' }

/** One thing said in a room. */
export interface Said {
  readonly type: 'said'
  readonly id: number
  readonly name: string
  readonly text: string
  readonly at: number
}

export interface RoomFacts {
  readonly name: string
  readonly people: number
  readonly awake: boolean
}

/** What a visitor's browser hears. */
export type ToBrowser =
  | { readonly type: 'entered'; readonly room: string; readonly name: string; readonly history: readonly Said[]; readonly people: readonly string[] }
  | Said
  | { readonly type: 'people'; readonly people: readonly string[]; readonly change: { readonly name: string; readonly came: boolean } }
  | { readonly type: 'rooms'; readonly rooms: readonly RoomFacts[] }
  | { readonly type: 'refused'; readonly why: string }

/** What the text means, or why it means nothing. */
export function readBrowser(text: string): FromBrowser | string {
  let value: Partial<Record<string, unknown>>
  try {
    value = JSON.parse(text) as Partial<Record<string, unknown>>
  } catch {
    return 'that is no JSON'
  }
  if (typeof value !== 'object' || value === null) return 'that is not a message'
  switch (value['type']) {
    case 'join': {
      const room = clean(value['room'], 32)
      const name = clean(value['name'], 24)
      if (room === '') return 'a room needs a name'
      return name === '' ? 'you need a name' : { type: 'join', room: room.toLowerCase(), name }
    }
    case 'say': {
      const said = clean(value['text'], 2000)
      return said === '' ? 'say something' : { type: 'say', text: said }
    }
    case 'leave':
      return { type: 'leave' }
    default:
      return 'that is not a message'
  }
}

function clean(value: unknown, longest: number): string {
  return typeof value === 'string'
    ? value
        .replaceAll(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, longest)
    : ''
}
