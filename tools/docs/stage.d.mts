export declare function stage(folder: string, here: string): string[]
