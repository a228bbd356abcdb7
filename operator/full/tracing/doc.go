// Package tracing tells what an operator does as traces of OpenTelemetry: one for each reconcile, from the event that asked for it over
// its time in the queue and the steps of each component to the requests to the API server, which go on in that server's own traces.
//
//	op := operator.New("guestbook-operator", operator.Extend(tracing.FromEnvironment))
//
// It is on when the environment says where traces go, by the variables that all programs with OpenTelemetry have: at the least
// OTEL_EXPORTER_OTLP_ENDPOINT, or OTEL_TRACES_EXPORTER=console. Without them it costs nothing. The lines that are logged about a reconcile
// carry the id of its trace as trace_id.
//
// # When to use it
//
// Package operator/full has it. Use New for an engine of your own, or with a TracerProvider of your own. Leave it out of a binary that
// is to be small: it links the exporters.
package tracing
