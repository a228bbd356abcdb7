// Package bystander is a second user of a cluster in the test of an operator: it creates, edits and deletes resources,
// reads what the operator made of them, and waits.
//
//	somebody := bystander.New(t, api, env.Namespace, "somebody")
//	somebody.CreateFile("config/sample.yaml")
//	somebody.Eventually("the Deployment is there", func() bool { return somebody.Get(deployments, "sample") != nil })
//
// It works on any deploy.Cluster: a real one (deploy/cluster), which an operator in another process may use at the same
// time, or one in memory (deploy/dryrun). A refused request fails the test at once, with the object and the reason. To
// test that a request is refused, send it through the cluster's Port.
//
// To test a single controller in memory, use reconcile/reconciletest: it is faster, has all of this, and runs the
// controller, too.
package bystander
