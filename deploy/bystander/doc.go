// Package bystander is somebody beside the operator that a test tests: who makes a resource, edits and deletes what
// they like, looks at what has become of it, and waits.
//
//	somebody := bystander.New(t, api, env.Namespace, "somebody")
//	somebody.CreateFile("config/sample.yaml")
//	somebody.Eventually("the Deployment is there", func() bool { return somebody.Get(deployments, "sample") != nil })
//
// It works on any deploy.Cluster: a real one (deploy/cluster), which a program in another process works on too, or one
// in memory (deploy/dryrun). Whatever is refused fails the test at once, with the object and the reason; what a test
// wants to be refused it asks the cluster's Port itself.
//
// A controller alone, in memory, is tested in less time with reconcile/reconciletest, whose harness has all this and
// runs the controller, too.
package bystander
