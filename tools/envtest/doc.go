// Package envtest gives tests a real Kubernetes control plane: API server, controllers, garbage collector, scheduler
// and nodes on which pods become Ready without running anything.
//
// [Start] gives a test its own namespace and its own user in one control plane that all tests of a run share. The
// environment variable OPERKIT_DEVCLUSTER names the folder of that cluster; if it isn't set, the test process starts a
// cluster, which ends with the process. The test gets client configurations for its user ([Env.Config]), for more users
// with exactly the rights that it grants ([Env.User]), and for the administrator ([Env.Admin]). It can count the
// requests of each of its users ([Env.Mark], [Env.CallsSince]). A test that can't get a control plane fails; it is
// never skipped.
//
// Tests may run in parallel, also in several processes. They share all cluster-scoped objects, custom resource
// definitions included. A test that must stop the API server or its storage takes a cluster of its own ([OwnCluster]).
//
// Don't use it to test pure functions: a plain table test is a thousand times faster. Programs other than tests use
// package devcluster.
package envtest
