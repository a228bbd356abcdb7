// Package podhash restarts Pods when the Secrets and ConfigMaps change that they read.
//
//	op.Control(Shop{}, podhash.Components())
//
// A program reads its environment once, and most programs read their files once. So a new password in a Secret reaches
// them only with new Pods. This package finds the Secrets and ConfigMaps to which a Pod template refers, hashes what
// the Pods read of them, and puts the hash into the annotation <domain>/dependency-hash of the template. A changed
// value is a changed template, so the workload rolls: in the order of the components, and seen by readiness like any
// other change. The hash is part of what is rendered, compared and applied.
//
// # What counts
//
// References are found in the kinds Pod, Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController, Job and
// CronJob, see [References]. Where only some keys of an object are read, only these count. Values count, metadata
// doesn't, and neither does the form: a Secret has the same hash whether its values are in data or in stringData.
//
// An object that isn't there is left out of the hash, and the log names it if the Pods require it. When it appears, the
// hash changes. The objects of other owners are followed (reconcile.Component.Input), so the operator needs the rights
// to get, list and watch Secrets and ConfigMaps.
//
// A Pod or a Job that exists keeps the hash that it was made with: neither can be started again by a change. Changes
// reach the Pods of a ReplicaSet, of a ReplicationController and of anything with the strategy OnDelete when something
// deletes these Pods. Changes reach the Jobs of a CronJob with the next Job.
//
// # What doesn't count
//
// Three annotations leave something out, and change no template themselves. On a workload,
// <domain>/dependency-hash-skip names objects that don't count, as in "Secret/shop-key, ConfigMap/colours", and
// <domain>/reloads-certificates is "true" if the program reads its certificates again when they change: then Secrets of
// type kubernetes.io/tls and bundles of CA certificates don't count. On a Secret or ConfigMap,
// <domain>/dependency-digest is a text that counts in place of the values. Whoever writes an object in several steps
// sets it so that the steps restart Pods once: package tls does so for certificates and the bundle while it replaces a
// CA. [Skip] and [Reloads] are the same for a whole operator.
//
// # Secrets
//
// Values are in no log, error, event or status. The annotation is a SHA-256 of them. A reader of the workload who can
// guess the value of a Secret can confirm the guess by it, so don't use the package with secrets that people invent.
//
// # When to use it
//
// Use it for programs that don't notice changes themselves. Don't use it with another program that does the same, such
// as Reloader. With a style other than components, or for objects of your own, use [Hasher.Annotate].
package podhash
