// The part of Standard Schema that a message guard needs, so that zod, valibot and arktype fit without a dependency.

/** What a validation found: the value, or the issues. */
export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] }

/** A Standard Schema, version 1: `spawn(behavior, { accepts: schema })` refuses what does not fit. */
export interface MessageSchema<T = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>
  }
}
