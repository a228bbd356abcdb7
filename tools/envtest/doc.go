// Package envtest gives tests a real Kubernetes control plane: API server, controllers, garbage collector, scheduler
// and nodes on which pods become Ready without running anything.
//
// [Start] gives a test its own namespace and its own user in ONE control plane that all tests of a run share: the
// cluster whose folder the environment variable OPERKIT_DEVCLUSTER names; else one that the test process starts by
// itself and that ends with it. The test gets client configurations for its user ([Env.Config]), for further users with
// exactly given rights ([Env.User]) and for the administrator ([Env.Admin]), and can count afterwards what each of its
// users asked of the API server ([Env.Mark], [Env.CallsSince]). A test that can't get a control plane fails; it is
// never skipped.
//
// Tests may run in parallel, also in several processes: what they share are the cluster-scoped objects and the one
// definition of each custom resource. A test that must stop the API server or its storage takes a cluster
// of its own ([OwnCluster]).
//
// Don't use it for what a pure function decides: a plain table test is a thousand times faster. Programs that aren't
// tests take package devcluster.
package envtest
