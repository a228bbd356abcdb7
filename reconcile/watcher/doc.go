// Package watcher is a style of operator: ordered watchers of the objects of one kind, each with its own retries, as in
// the operator package of Grafana's app SDK. It suits operators that tend things outside of the cluster.
//
//	op := operator.New("buckets")
//	op.Drive(watcher.New[Bucket](buckets,
//		watcher.Retry(watcher.Exponential(5*time.Second, 5)), watcher.Resync(10*time.Minute),
//		watcher.When(filter.Or(filter.Lifecycle(), filter.Generation())), watcher.OnError(report),
//		watcher.Add("cloud", watcher.Opinionate(watcher.Funcs[Bucket]{Add: create, Update: resize, Delete: remove, Sync: check},
//			watcher.Finalizer("buckets.example.dev/cloud"), watcher.InProgress())),
//		watcher.Add("audit", audit{}),
//		watcher.AddReconciler("quota", quota)))
//	op.Main()
//
// # What is called
//
// A [Watcher] has the methods Add, Update and Delete. It learns of the events of the objects: an object that exists at
// the start counts as created. Watchers are called one after the other, in the order in which they were added, and
// reconcilers ([AddReconciler]) after them. Several events of an object that come before its turn are one call: the
// watcher sees a subset of the states, in their order, that ends with the last one. Old states are those of the last
// call that succeeded, so that no difference is missed.
//
// The first call for an object is Add, until one has succeeded. An object that is gone before its first call is passed
// over. Nothing is called for a new object of a name before Delete of the earlier one has ended.
//
// [Opinionate] holds objects by a finalizer. Use it for whatever has to be cleaned up: a plain Watcher misses deletions
// while no operator runs, and its repetitions of Delete are lost when the process ends. A Watcher of your own that
// wraps opinionated ones needs a method Unwrap that returns them: by it their finalizers reach the role of the operator
// and the command release. A function calls [Logger], [Record] and [SetStatus] with its context to log, to record an
// event and to write the status of its object.
//
// # Retries
//
// A watcher that fails doesn't stop the others, and is repeated alone, as its [RetryPolicy] says: with the latest state
// of the object, and as a new call for an event if one comes first. A [DequeuePolicy] decides whether an event begins
// the retries anew. A success ends them, and so does a deletion. When the policy gives up, that is logged, counted in a
// metric and passed to [OnError], the object counts as failing, and the next event, resync or start tries again. Only
// the deletion of an object that a finalizer holds goes on. Objects that fail together are repeated together, unless
// [Jitter] spreads them.
//
// request.Precondition means that something else has to happen first. It is no failure: it is logged as waiting,
// doesn't count as a try, and isn't given up.
//
// # Concurrency
//
// There is never more than one call for an object at a time, of whichever watcher. Different objects are independent:
// as many are handled at a time as the engine has workers (watch.Workers), and [Concurrency] limits a watcher further.
// A slow watcher delays the later watchers of the same object, and no other object as long as a worker is free. A call
// should end when its context does: the time of all calls for an object in a row is that of a reconcile
// (watch.Timeout). An object that waits because of Concurrency occupies no worker, and the time of its call begins when
// its turn has come.
//
// # Cost
//
// Nothing is written to the objects but finalizers, and what SetStatus sets. An object for which nothing has happened
// costs no request, no goroutine, and some 700 bytes of memory. What is left to do for an object takes no more memory
// the more events come.
//
// # When to use it
//
// Use it to tend something outside of the cluster for each object, and to move an operator from the app SDK. Package
// handlers remembers on the object what has succeeded, so that a restart repeats nothing; here a restart calls Add, or
// Sync, for each object. Use the sessions of package reconcile for a resource that consists of objects in the cluster.
package watcher
