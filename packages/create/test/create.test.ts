// What is written, and what is refused before anything is. That it installs and runs is shown by tools/consumers.test.ts, from tarballs.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Asker, begin } from '../src/beginning.ts'
import { createProject } from '../src/project.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-create-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a project', () => {
  test('is written into a folder that is made, under its name, with our own version of the packages', () => {
    const created = createProject({ folder: join(folder, 'apps', 'shop') })
    expect(created.name).toBe('shop')
    const manifest = JSON.parse(readFileSync(join(created.folder, 'package.json'), 'utf8')) as { name: string; dependencies: Record<string, string> }
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
    expect(manifest).toMatchObject({ name: 'shop', dependencies: { '@troupe/core': `^${version}` } })
    for (const path of created.files) expect(readFileSync(join(created.folder, path), 'utf8')).toMatch(/\n$/)
  })

  test('may go into a folder that is empty but for .git', () => {
    mkdirSync(join(folder, '.git'))
    expect(createProject({ folder, name: 'shop' }).files).toContain('src/main.ts')
  })

  test.each([
    [
      'a folder with something in it',
      () => (writeFileSync(join(folder, 'mine.txt'), 'x'), { folder, name: 'shop' }),
      /is not empty: it has "mine.txt"/,
    ],
    ['a file', () => (writeFileSync(join(folder, 'shop'), 'x'), { folder: join(folder, 'shop') }), /is a file/],
    ['no folder', () => ({ folder: '  ' }), /Say which folder/],
    ['nothing at all', () => undefined as never, /Say which folder/],
    ['a name with capitals', () => ({ folder: join(folder, 'Shop') }), /"Shop" is no name for a package/],
    ['a name that goes elsewhere', () => ({ folder: join(folder, 'x'), name: '../x' }), /is no name/],
    ['a name that is not a text', () => ({ folder: join(folder, 'x'), name: 7 as never }), /is no name/],
  ])('%s is refused, and nothing is written', (_what, given, says) => {
    const options = given()
    const before = readdirSync(folder)
    expect(() => createProject(options)).toThrow(says)
    expect(readdirSync(folder)).toEqual(before)
  })
})

describe('beginning', () => {
  const asker = (place: string | undefined, install: boolean | undefined): Asker => ({
    folder: () => Promise.resolve(place),
    install: () => Promise.resolve(install),
  })
  test('asks for what was not said, and says what to do next', async () => {
    const lines: string[] = []
    const created = await begin({}, asker(join(folder, 'shop'), false), (line) => lines.push(line))
    expect(created?.name).toBe('shop')
    expect(lines.at(-1)).toMatch(/^next: cd .*shop && npm install && npm start$/)
  })
  test('asks nothing where nobody can be asked', async () => {
    await expect(begin({}, undefined, () => {})).rejects.toThrow(/Say which folder/)
    await begin({ folder: join(folder, 'shop') }, undefined, () => {})
    expect(existsSync(join(folder, 'shop', 'package.json'))).toBe(true)
  })
  test.each([
    [undefined, true],
    ['shop', undefined],
  ])('that is called off has written nothing', async (place, install) => {
    expect(await begin({}, asker(place === undefined ? undefined : join(folder, place), install), () => {})).toBeUndefined()
    expect(readdirSync(folder)).toEqual([])
  })
})
