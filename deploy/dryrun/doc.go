// Package dryrun is a cluster in memory, as package deploy sees it: for tests, for offline
// rendering, and for asking what an apply would do, without any API server.
//
// It follows a real API server where package deploy and operators look:
//
//   - Server-side apply by the API machinery's own field management, with managedFields,
//     conflicts, force and fields given up. The kinds of Kubernetes merge by their schemas;
//     custom resources by those of the CustomResourceDefinitions in the cluster, which also
//     give defaults, are pruned by, and validate. Fields that nobody declares are refused.
//     AnyKind accepts kinds that nobody declares, Schemaless knows no schemas at all.
//   - JSON and merge patches with resourceVersion and uid as preconditions; creation by POST,
//     replacement by PUT; status only through its subresource where the kind has one.
//   - Changes of fields that no update may change are refused, of every kind of Kubernetes, for the fields and in the
//     words of a real API server: what differs by a default or by the notation of a quantity only is no change.
//   - One rising resourceVersion for all objects, kept by writes that change nothing;
//     generation where a kind counts it.
//   - Finalizers and deletion timestamps; deletion in the background, in the foreground and
//     of the owner alone; garbage collection by owner reference; namespaces that must exist
//     and take what is in them along, as definitions do.
//   - Events in the order of versions, with selectors, and from a version on as long as it
//     is remembered.
//
// Requests can be made to fail (Cluster.Fail), be written down (Cluster.Record), and be
// refused or rewritten by admission (Admit).
//
// What it doesn't have:
//
//   - Defaults of the kinds of Kubernetes, validation of what is in them beyond the types of their
//     fields, the words that these take and what can't be changed, and rules in CEL.
//   - Addresses, ports, labels and selectors that a server finds for Services and Jobs.
//   - Conversion. The versions of a kind are the same objects, with another apiVersion and
//     without the fields that the other version doesn't have.
//   - RBAC, controllers other than the garbage collector's and the namespaces', and
//     subresources other than status.
//   - Garbage collection for owners that never were in the cluster, unless CollectUnknownOwners
//     asks for it: a reference to one is left alone, where a real cluster deletes the object.
//
// Use it wherever the answer doesn't hang on these. For all else use deploy/cluster with a
// real control plane.
package dryrun
