// Which version of the packages a new project asks for: that of this one, for they are released together.

import { readFileSync } from 'node:fs'

export const version: string = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version
