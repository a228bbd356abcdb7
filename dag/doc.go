// Package dag runs functions in the order of their dependencies, in parallel where the
// dependencies allow it, and tells how far the run got.
//
// A [Graph] holds named nodes with data of any type and the dependencies between them; a
// dependency that would close a cycle is refused when it is made. [Run] visits each node once,
// as soon as everything it waits for has succeeded, and sorts the nodes by how they ended into
// a [State]: verified, unverified, failed or unstarted, with the errors of the nodes and, for
// each unstarted one, the reason.
//
// # Outcomes
//
// A visit that returns nil leaves its node verified. One that returns an error made by
// [Unverified] leaves it unverified: it did its work, but what it brought about isn't there
// yet. Any other error, a panic and [runtime.Goexit] leave it failed. Whatever waits for a
// node that isn't verified, also by way of others, isn't started; everything else still is,
// unless [FailFast] was asked for. A run never waits for the world outside: when nothing is in
// flight and nothing can be started, it ends, and the caller decides when to try again.
//
// # Conditions
//
// A dependency may carry a [Predicate] (see [When]): the dependent starts only once the
// predicate has answered true. It is asked when everything that the node waits for is verified,
// is remembered when true, and asked again after false as long as a visit is in flight, and
// once more after the last one.
//
// # Asking a graph, and showing it
//
// A graph answers what waits for what, directly or not ([Graph.Dependencies],
// [Graph.Descendants], [Graph.Ancestors], [Graph.Reaches]), in which order and in which layers
// ([Graph.Topology], [Graph.Layers]), and draws itself for Graphviz and for Mermaid
// ([Graph.DOT], [Graph.Mermaid]), on request coloured by a State. A run tells an observer what
// happens ([Observe]), and can go the other way, to take down what was built up ([Reverse]).
//
// # Ends
//
// [NodeTimeout] bounds each visit. The end of the context of a run ends the run: nothing more is
// started, and what is in flight is waited for, or left after a while and named ([Abandon]).
//
// # When to use it
//
// Use it for deployments, builds, migrations or start-up sequences: tens to hundreds of
// thousands of units in one process where one needs the others. Use errgroup for work without
// dependencies where the first error ends everything, and a workflow engine for work that has
// to survive the process or be distributed over machines.
//
// # Concurrency
//
// All methods of [Graph] and [State] are safe for concurrent use. A run works on a snapshot: a
// graph may be changed, and run again, while it is being run.
package dag
