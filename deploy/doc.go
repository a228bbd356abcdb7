// Package deploy applies objects to a cluster and reports exactly what changed.
//
// A [Manager] uses two interfaces of a [Cluster]: a [Port] sends requests (apply, patch, delete, live read), and a
// [View] serves reads that are never older than the writes made through the Port. Package deploy/cluster implements
// both for a real API server, and package deploy/dryrun implements them in memory. A Manager works in the same way with
// either.
//
// Objects are created and changed by server-side apply only. Each apply carries an annotation with a hash of the
// intent. An object is unchanged, and costs no call, when the annotation equals the hash of the present intent and this
// manager's entry in metadata.managedFields still has every field of the intent. If another manager changes a value,
// the API server removes the field from our entry, so a missing field means drift. This works across restarts. No
// values are compared, so admission may rewrite them. Fields that others add to an object stay.
//
// Use it to keep a set of objects in the state that you want, in a program of its own or in an operator. Don't use it
// to edit objects that belong to somebody else, because it applies whole intents.
package deploy
