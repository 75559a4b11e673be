// The entry `@troupe/observer/prometheus`: needs prom-client, and nothing else of the observer does.

export { prometheusMetrics, type PrometheusMetrics, type PrometheusOptions } from './telemetry/prometheus.ts'
