// Package tracing makes OpenTelemetry traces of an operator: one for each reconcile, with the event that caused it, its
// time in the queue, the steps of each component, and the requests to the API server, which that server's own traces
// continue.
//
//	op := operator.New("guestbook-operator", operator.Extend(tracing.FromEnvironment))
//
// It is on when the usual variables of OpenTelemetry say where traces go: OTEL_EXPORTER_OTLP_ENDPOINT, or
// OTEL_TRACES_EXPORTER=console. Without them it costs nothing. Log lines of a reconcile have the id of its trace as
// trace_id.
//
// # When to use it
//
// Package operator/full has it. Use New for an engine or a TracerProvider of your own. It links the exporters: leave it
// out of a small binary.
package tracing
