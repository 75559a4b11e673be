// What goes with messages that are ours, and none of the actor's protocol: no schema is asked about them.

import { Envelope } from '@troupe/core/internal'

export class OwnEnvelope extends Envelope {
  override get own(): boolean {
    return true
  }
}

export const ours: Envelope = new OwnEnvelope()
