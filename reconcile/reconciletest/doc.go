// Package reconciletest is a harness for tests of operators: a cluster in memory, the reconcilers of an operator, a
// clock that the test moves, and a simulator that makes workloads ready.
//
//	h := reconciletest.New(t, Shop{})
//	h.Apply(resource)              // as somebody with kubectl would
//	h.RunUntilSettled()            // until nothing changes any more
//	h.Created("Deployment tea-store", "ConfigMap tea-door")
//	h.Ready("Shop tea")
//	h.RunUntilSettled()
//	h.Writes(0)                    // a settled resource costs nothing
//
// Reconcile, RunUntilSettled and Advance run reconciles one after the other, so that a test makes the same calls each
// time. Objects are named as in "Deployment web", "Deployment.apps shop/web" and, for a subresource, "Shop tea status".
// Assertions about calls are about the latest run.
//
// # Other styles
//
// New takes a controller of sessions. Drive takes a controller of any style, as an operator does:
//
//	h := reconciletest.Drive(t, gearController)
//
// Both run a reconciler for the same reasons as package watch: events, requeues and retries, source.Provider,
// watch.Observer, watch.Forgetter, and Result.Wrote.
//
// This differs from an engine: a backoff has no random part, and the end of an outage brings no retry forward.
// Reconciles run one after the other, and their events are handled afterwards. The options of an engine, such as
// watch.Period, have their defaults.
//
// External sources run on a real cluster. In memory they run if the test runs in a bubble of testing/synctest: there
// the harness moves the time of the bubble, in which sources and goroutines wait, and handles the keys that they bring.
// In other tests Bring stands in for them. A source.Starter is started in every test. A kind whose Starter fails, or
// whose index can't be read, isn't reconciled, which is logged; each run tries again.
//
// # Failures, time and changes
//
//   - Hold, Break and Release: workloads that don't become ready, or fail.
//   - Fail and FailOnce: an error in a phase of a component; Memory().Fail: requests that the
//     cluster refuses, answers late or not at all.
//   - Advance: time passes, with the retries and rechecks that are due. Restart: a restart of the operator. Kill: the
//     operator is killed at one of its writes, and started again.
//   - Edit, SetStatus, Delete: changes by somebody else. Bring: keys of external sources. Leave and Enter: resources
//     leave the scope of the operator, and come back.
//   - Admission: webhooks of package admission, asked about every write as by an API server. TryApply, TryEdit and
//     TryDelete return what is refused. Conversion: versions of a kind, each read and written as by an API server. Memory(dryrun.Admit(...)): other admission that refuses or rewrites.
//
// A controller that never settles fails the test, and the message shows the change that repeats. Golden compares the
// rendered objects of a resource with a file.
//
// # The same test on a real cluster
//
// The option On selects the cluster. The test starts it, so this package links no control plane:
//
//	func options(t *testing.T) []reconciletest.Option {
//		if os.Getenv("REAL") == "" {
//			return nil
//		}
//		env := envtest.Start(t, envtest.CRDs("../config/crds"))
//		c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace))
//		...
//		return []reconciletest.Option{reconciletest.On(c, 0), reconciletest.Namespace(env.Namespace)}
//	}
//
// On a real cluster the cluster's controllers make workloads ready, time is real, and RunUntilSettled waits until
// nothing has happened for three seconds. The created objects are the same as in memory, and a settled resource costs
// no write; the number of status writes may differ, since real workloads become ready in more steps. Real reports
// whether the cluster is a real one, for features that only a cluster in memory has.
//
// # Names in oper8
//
// The test helpers of oper8, and what replaces them here:
//
//	setup_cr                          Resource, TestedKind, or YAML text given to Apply; the namespace
//	                                  is "test" too. The cluster sets the uid: read it back
//	setup_session, setup_session_ctx  New and Reconcile; Render for a session that writes nothing
//	library_config                    With and Manager; there is no global configuration
//	configure_logging                 logs go to T.Logf; With(reconcile.Logger(...)) for others
//	MockDeployManager                 the cluster in memory: Calls, Created, Configured, Deleted, Writes
//	                                  are its spies; Fail and Memory().Fail its *_fail and *_raise;
//	                                  Apply and Memory(dryrun.Objects(...)) preload; Get, Exists, Gone
//	get_failable_method, FailOnce     Fail, with After and Times, and FailOnce
//	MockedOpenshiftDeployManager,     the manager is always the real one, on the cluster in memory of
//	MockKubClient                     package dryrun (Memory); functions as state are its faults
//	make_patch                        none needed: with the option TemporaryPatches a TemporaryPatch is
//	                                  applied like any resource; to use another Patcher, pass
//	                                  With(reconcile.WithPatches(...))
//	dummy components and controllers  Components and Controlling, with Fail for their failure flags
//	get_rendered_configs              Render, Golden
//	MockTopApp, do_rollout            Components, RunUntilSettled; Also for the controller of a child
//	set_object_test_state             SetStatus, or a status given to Apply
//	set_secret_data                   Apply of a Secret, under the name that the controller gives it
//	version_safe_md5, deep_merge      none needed: they are no test support
//	maybe_temp_dir                    testing's TempDir and ArtifactDir
//	a reconcile loop with counters    Runs; the tests of package watch count requests and watches
//	make_resource, make_managed_object,
//	make_ownerref                     Resource; the tested controller sets owner references
//
// Some helpers have no equivalent here:
//
//   - set_tls_ca_secret: a key that everybody knows would end up in use. Package crypto/x509 makes one in a few lines.
//   - TestRecorder, mock_config_file, mock_sys_exit and ModuleExit: there is no Ansible module.
//   - setup_vcs_project, vcs_project and default_branch_name: they belong beside package vcs, since nothing in memory
//     checks versions out.
//   - The never-leader manager and the variants of timer and leaders: they belong beside package leader, since the
//     harness has no leader election.
//   - read_heartbeat_file and heartbeat_file: they belong beside the command that writes the file.
//   - Resets of caches: there is no global state.
//
// # When to use it
//
// Use it to test what a controller or a reconciler does with a resource, with failures and with time. Don't use it for
// pure functions, nor for features that only a real cluster has: validation by CEL, conversion, RBAC, real controllers.
// Use package watch with package testing/synctest to test an engine.
package reconciletest
