// Package envtest gives tests a real Kubernetes control plane: API server, controllers, garbage collector, scheduler
// and nodes on which pods become Ready without running anything.
//
// [Start] gives a test its own namespace and its own user in ONE control plane that all tests of a run share: the
// cluster whose folder the environment variable OPERKIT_DEVCLUSTER names, or else one that the test process starts and
// that ends with it. The test gets client configurations for its user ([Env.Config]), for more users with exactly the
// rights that it grants ([Env.User]) and for the administrator ([Env.Admin]). It can count the requests of each of its
// users ([Env.Mark], [Env.CallsSince]). A test that can't get a control plane fails; it is never skipped.
//
// Tests may run in parallel, also in several processes: what they share are the cluster-scoped objects and the one
// definition of each custom resource. A test that must stop the API server or its storage takes a cluster
// of its own ([OwnCluster]).
//
// Don't use it to test pure functions: a plain table test is a thousand times faster. Programs other than tests use
// package devcluster.
package envtest
