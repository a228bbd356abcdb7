// Package bystander provides a second user of a cluster for the test of an operator. The user creates, edits and
// deletes resources, reads the objects that the operator applies, and waits for them.
//
//	somebody := bystander.New(t, api, env.Namespace, "somebody")
//	somebody.CreateFile("config/sample.yaml")
//	somebody.Eventually("the Deployment is there", func() bool { return somebody.Get(deployments, "sample") != nil })
//
// A Bystander works on any deploy.Cluster: on a real cluster (deploy/cluster), which an operator in another process may
// use at the same time, or on a cluster in memory (deploy/dryrun). A refused request fails the test at once. The
// message names the object and the reason. To test that a request is refused, send it through the cluster's Port.
//
// To test a single controller in memory, use reconcile/reconciletest. It is faster, has the same methods, and also runs
// the controller.
package bystander
