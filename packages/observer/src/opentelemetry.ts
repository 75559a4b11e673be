// The entry `@troupe/observer/opentelemetry`: needs the API of OpenTelemetry, and nothing else of the observer does.

export { openTelemetry, type OpenTelemetry, type OpenTelemetryOptions } from './telemetry/opentelemetry.ts'
