// Package dryrun is a cluster in memory, as package deploy sees it: for tests, for offline
// rendering, and for asking what an apply would do, without any API server.
//
// It follows a real API server where package deploy and operators look: server-side apply
// by the API machinery's own field management, with managedFields, conflicts, force and
// fields given up; JSON and merge patches with resourceVersion and uid as preconditions;
// status only through its subresource; one rising resourceVersion for all objects, kept by
// writes that change nothing; generation rising with everything but metadata and status;
// finalizers and deletion timestamps; garbage collection by owner reference; events in the
// order of versions.
//
// What it doesn't have:
//
//   - Schemas. Every kind is accepted, with any field and without defaults. Lists below
//     metadata are merged as on a server (owner references by uid, finalizers as a set); all
//     other lists are atomic: whoever applies one owns it as a whole, as in a custom resource
//     without a schema. A real server merges the containers of a Pod by name.
//   - Conversion. The versions of a kind are the same objects, with another apiVersion and
//     else the same content.
//   - Namespaces that must exist, admission, RBAC, controllers and subresources other than
//     status. Every kind has a status subresource and a generation.
//   - Garbage collection for owners that never were in the cluster: a reference to one is
//     left alone, where a real cluster deletes the object.
//   - Propagation other than background.
//
// Use it wherever the answer doesn't hang on these. For all else use deploy/cluster with a
// real control plane.
package dryrun
