export declare const known: readonly { readonly on: readonly string[]; readonly file: string; readonly test: string; readonly note: string }[]
