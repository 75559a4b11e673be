export type Row = readonly string[]

export declare function withTable(text: string, rows: readonly Row[], places: readonly (readonly [title: string, suite: string])[]): string
