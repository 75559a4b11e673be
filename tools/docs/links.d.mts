export declare function brokenLinks(dist: string): string[]
