// Saves what led to the last failure of an actor as a file that `troupe replay` runs again. Only where payloads may be shown.

import { useState } from 'preact/hooks'
import type { Capsule } from '../../src/capsule/capsule.ts'
import { ask } from './connection.ts'

export function CapsuleButton({ path }: { readonly path: string }) {
  const [said, say] = useState('')
  const save = async (): Promise<void> => {
    const answer = await ask<Capsule | { readonly none: string }>('capsule', { path })
    if (answer === undefined) return say('It could not be had.')
    if ('none' in answer) return say(`There is none: ${answer.none}.`)
    const anchor = document.createElement('a')
    anchor.href = URL.createObjectURL(new Blob([JSON.stringify(answer, undefined, 2)], { type: 'application/json' }))
    anchor.download = `${path.slice(path.lastIndexOf('/') + 1).replaceAll(/[^\w-]/g, '_')}.capsule.json`
    anchor.click()
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000)
    say(answer.missing.length === 0 ? 'It is whole: troupe replay runs it.' : `It is partial: ${answer.missing.join('; ')}.`)
  }
  return (
    <p>
      <button type="button" onClick={() => void save()} title="What it was given until it failed, as a file for troupe replay">
        Capsule…
      </button>{' '}
      <span class="dim">{said}</span>
    </p>
  )
}
