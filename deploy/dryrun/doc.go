// Package dryrun implements a deploy.Cluster in memory: for tests, for offline rendering, and to find out without an
// API server what an apply would do.
//
// It behaves like a real API server, as far as package deploy and operators depend on it:
//
//   - Server-side apply by the API machinery's own field management, with managedFields, conflicts, force, and removal
//     of fields that an intent leaves out. Built-in kinds merge by their schemas. Custom resources merge by the schemas
//     of the CustomResourceDefinitions in the cluster, which also default, prune and validate them. Unknown fields are
//     refused; Cluster.Complete leaves them out and names them, for objects of files. AnyKind accepts kinds without a
//     definition. Schemaless uses no schemas at all.
//   - JSON and merge patches with resourceVersion and uid as preconditions; creation by POST, replacement by PUT. If
//     the kind has a status subresource, the status is written only through it.
//   - Changes of immutable fields of all built-in kinds are refused, with the fields and messages of a real API server.
//     A value that differs only by a default or by the notation of a quantity isn't a change.
//   - One rising resourceVersion for all objects. Writes that change nothing don't raise it. A generation for kinds
//     that have one.
//   - Finalizers and deletion timestamps; background, foreground and orphan deletion; garbage collection by owner
//     reference. Namespaces must exist. The deletion of a namespace deletes the objects in it, and the deletion of a
//     CustomResourceDefinition deletes its custom resources.
//   - Events in the order of resourceVersions, with selectors. A watch can begin at any resourceVersion that is still
//     in the history. A client may see only the selected objects of a kind (Cluster.Selected).
//
// Tests can make requests fail (Cluster.Fail), record them (Cluster.Record), and refuse or rewrite them by admission
// (Admit), or by webhooks that may read the cluster (Ask).
//
// It doesn't have:
//
//   - Defaults of built-in kinds; validation of their content beyond the types of fields,
//     enumerated values and immutable fields; rules in CEL.
//   - Addresses, ports, labels and selectors that a server assigns to Services and Jobs.
//   - Conversion, unless the option Conversions has one for the kind. Otherwise an object in another version has the same
//     fields, except for fields that the other version doesn't have.
//   - RBAC, controllers other than the garbage collector and the namespace controller, and subresources other than
//     status.
//   - Garbage collection for owners that never were in the cluster, unless CollectUnknownOwners is set: an object with
//     such an owner stays. A real cluster deletes it.
//
// Use it wherever the result doesn't depend on these differences. For everything else use deploy/cluster with a real
// control plane.
package dryrun
