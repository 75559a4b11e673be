// The names of the phases; which leads to which is in deciders/phase.ts.

/** The phases of an actor's life. */
export type Phase = 'created' | 'starting' | 'running' | 'suspended' | 'failed' | 'restarting' | 'stopping' | 'stopped' | 'terminated'
