export declare const ioNames: ReadonlySet<string>
export declare function suiteOf(path: string): 'core' | 'threads' | 'io' | 'journal'
export declare function testFiles(): string[]
