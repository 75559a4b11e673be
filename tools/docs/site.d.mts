export declare const root: string
export declare const repository: string
export declare function sitePages(): Map<string, string>
export declare function contents(): { readonly text: string; readonly items: readonly { readonly text: string; readonly path: string }[] }[]
export declare function resolveLink(
  from: string,
  target: string,
  pages: ReadonlyMap<string, string>,
  shown?: boolean,
): { readonly to?: string; readonly page?: string; readonly copy?: string; readonly broken?: string }
