// Package tracing makes OpenTelemetry traces of an operator. Each reconcile is one trace, with the event that caused
// it, its time in the queue, the steps of each component, and the requests to the API server. If the API server traces
// too, its spans belong to the same trace.
//
//	op := operator.New("guestbook-operator", operator.Extend(tracing.FromEnvironment))
//
// Tracing is on when the usual variables of OpenTelemetry say where traces go: OTEL_EXPORTER_OTLP_ENDPOINT, or
// OTEL_TRACES_EXPORTER=console. Without them nothing is traced. Log lines of a reconcile have the id of its trace as
// trace_id.
//
// # When to use it
//
// Package operator/full uses it. Use New for an engine or a TracerProvider of your own. The package links the
// exporters: don't use it if the binary has to be small.
package tracing
