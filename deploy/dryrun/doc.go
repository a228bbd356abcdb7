// Package dryrun is a cluster in memory, as package deploy sees it: for tests, for offline
// rendering, and for asking what an apply would do, without any API server.
//
// It does what a real API server does, as far as package deploy and operators depend on it:
//
//   - Server-side apply by the API machinery's own field management, with managedFields,
//     conflicts, force, and removal of fields that an intent leaves out. Built-in kinds merge by
//     their schemas. Custom resources merge by the schemas of the CustomResourceDefinitions in
//     the cluster, which also default, prune and validate them. Unknown fields are refused.
//     AnyKind accepts kinds without a definition, Schemaless uses no schemas at all.
//   - JSON and merge patches with resourceVersion and uid as preconditions; creation by POST,
//     replacement by PUT; status only through its subresource where the kind has one.
//   - Changes of immutable fields of all built-in kinds are refused, with the fields and messages of a real API server.
//     A value that differs only by a default or by the notation of a quantity isn't a change.
//   - One rising resourceVersion for all objects, which writes that change nothing leave as it
//     is; generation where a kind has it.
//   - Finalizers and deletion timestamps; background, foreground and orphan deletion; garbage
//     collection by owner reference. Namespaces must exist. Deleting a namespace deletes what is
//     in it, and deleting a definition deletes its custom resources.
//   - Events in the order of versions, with selectors, also from a version on that is still in
//     the history.
//
// Requests can be made to fail (Cluster.Fail), be recorded (Cluster.Record), and be
// refused or rewritten by admission (Admit).
//
// What it doesn't have:
//
//   - Defaults of built-in kinds; validation of their content beyond the types of fields,
//     enumerated values and immutable fields; rules in CEL.
//   - Addresses, ports, labels and selectors that a server assigns to Services and Jobs.
//   - Conversion. The versions of a kind are the same objects, with another apiVersion and
//     without the fields that the other version doesn't have.
//   - RBAC, controllers other than those for garbage and namespaces, and subresources other
//     than status.
//   - Garbage collection for owners that never were in the cluster, unless CollectUnknownOwners
//     asks for it: an object with such an owner stays, where a real cluster deletes it.
//
// Use it wherever the result doesn't depend on these. For everything else use deploy/cluster
// with a real control plane.
package dryrun
