// Package dag runs functions in the order of their dependencies, in parallel, and returns the outcome of each.
//
// A [Graph] holds named nodes with data of any type, and the dependencies between them. A dependency that would close a
// cycle is refused when it is added. [Run] visits each node once, as soon as everything that it waits for has
// succeeded, and returns a [State]: each node is verified, unverified, failed or unstarted, with its error or the
// reason why it wasn't started.
//
// # Outcomes
//
// A node is verified after its visit has returned nil. It is unverified after its visit has returned an error made by
// [Unverified]: the visit did its work, but the result isn't there yet. It is failed after any other error, a panic, or
// [runtime.Goexit]. A node that waits, directly or not, for a node that isn't verified isn't started. All other nodes
// are still started, unless [FailFast] is set. A run ends when nothing is in flight and nothing can be started: it
// doesn't wait until an unverified node is verified. The caller decides when to run the graph again.
//
// # Conditions
//
// A dependency may have a [Predicate] (see [When]): the dependent starts only once the predicate has returned true. The
// predicate is called when everything that the node waits for is verified. Once it has returned true, it isn't called
// again. While it returns false, it is called again as long as a visit is in flight, and once more after the last
// visit.
//
// # Queries
//
// A graph reports which nodes wait for a node and which nodes it waits for, directly or not ([Graph.Dependencies],
// [Graph.Descendants], [Graph.Ancestors], [Graph.Reaches]). It also returns its nodes in order and in layers
// ([Graph.Topology], [Graph.Layers]). Package [github.com/operkit/operkit/dag/draw] draws it. [Observe] reports what
// happens during a run. [Reverse] visits dependents before their dependencies, for teardown.
//
// # Timeouts and cancellation
//
// [NodeTimeout] bounds each visit. When the context of a run ends, nothing more is started, and the run waits for all
// visits and predicates in flight. With [Abandon] it waits no longer than the given time.
//
// # When to use it
//
// Use it for deployments, builds, migrations or start-up sequences: up to hundreds of thousands of units of work in one
// process, with dependencies between them. If the work has no dependencies and the first error should end it, use
// errgroup. If the work has to survive the process or to be distributed over machines, use a workflow engine.
//
// # Concurrency
//
// All methods of [Graph] and [State] are safe for concurrent use. A run works on a snapshot: a graph may be changed,
// and run again, while a run is in progress.
package dag
