export function engineOrSkip<T>(name: string, find: () => T | undefined, remedy: string): T | undefined
