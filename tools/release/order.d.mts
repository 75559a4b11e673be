export function publishOrder(): string[]
