package reconcile

// OnlyReady has the status of resources carry the condition Ready and nothing else, for kinds whose schema has no more, or
// of which nobody reads more: with each write of a resource a smaller status costs an API server less. Its message tells
// what Updating would: what a resource that isn't Ready waits for, and why. While it is Ready at its present
// generation, what goes wrong beside that, such as a cluster that refuses a request, is in the log alone.
//
// What is decided by the rest stays unknown then: how far each component is, the version that a resource was last brought
// to, and the kinds of objects that it once had (see Prunes). What an earlier release wrote of that is taken off. A pause
// is told all the same.
func OnlyReady() Option { return func(o *options) { o.onlyReady = true } }

// writesMore tells whether options ask for parts of the status that OnlyReady leaves out.
func (o *options) writesMore() bool {
	return o.serviceStatus || o.graphInStatus || o.ownAnywhere || o.supported != nil || o.operatorVersion != ""
}
