// Package deploy puts objects into a cluster and knows exactly what changed.
//
// A [Manager] uses two interfaces of a [Cluster]: a [Port] sends requests (apply,
// patch, delete, live read), and a [View] serves reads that are never older than the
// writes made through the Port. Package deploy/cluster implements both for a real API
// server, package deploy/dryrun in memory, so that a Manager works in the same way on
// either.
//
// Objects are created and changed by server-side apply only. Each apply carries an
// annotation with a hash of the intent. An object is unchanged, and costs no call,
// when that annotation equals the hash of today's intent and this manager's entry in
// metadata.managedFields still covers every field of the intent: a manager that changes
// a value takes the field away from us, so missing coverage means drift. This works
// across restarts, compares no values, and isn't disturbed by admission that rewrites
// them. Fields that others add to an object stay.
//
// Use it to keep a set of objects as you want them, alone or inside an operator. Don't
// use it to edit objects that belong to somebody else: it applies whole intents.
package deploy
