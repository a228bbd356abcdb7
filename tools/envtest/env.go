package envtest

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// stepTimeout is the time limit for one call of this package on a running cluster.
const stepTimeout = 2 * time.Minute

// Env is a test's part of the control plane. Its methods may be called concurrently. On an error they fail the test
// that is passed to them, which may be a subtest.
type Env struct {
	// Namespace is the test's own namespace: new, and named after the test.
	Namespace string
	// Self is the test's own user.
	Self *User
	// Config is a client configuration for that user: a copy of Self.Config, without client-side rate limits.
	Config *rest.Config
	// Admin is a client configuration for the administrator, who may do everything.
	Admin *rest.Config
	// Dir is the cluster's folder. A child process uses this cluster if $OPERKIT_DEVCLUSTER has this value.
	Dir string

	plane *plane
	own   bool
	since audit.Position
}

// Start gives the test its own namespace and user in a control plane. $OPERKIT_DEVCLUSTER names the folder of the
// control plane. If it isn't set, the first call starts a control plane for this process, which ends with the process.
// The first call on a machine builds the program, which takes minutes, and shows the progress on standard error. Any
// error fails the test. When the test ends, all rights are deleted, and idle connections are closed. If the control
// plane is temporary, the namespace ends with it. Otherwise it is deleted without waiting for completion: at once if
// fewer than ten are being deleted, or else as later tests end.
func Start(t testing.TB, options ...Option) *Env {
	t.Helper()
	s := newSettings(options)
	ctx := t.Context()
	plane, err := planeFor(t, s)
	if err != nil {
		t.Fatalf("envtest: no control plane: %v", err)
	}
	e := &Env{
		Namespace: namespaceName(t.Name()), Admin: rest.CopyConfig(plane.admin), Dir: plane.cluster.Dir(),
		plane: plane, own: s.own,
	}
	t.Cleanup(plane.closeIdle)
	if e.since, err = plane.log.End(); err != nil {
		t.Fatalf("envtest: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if err := plane.createNamespace(ctx, e.Namespace, t.Name()); err != nil {
		t.Fatalf("envtest: namespace %s: %v", e.Namespace, err)
	}
	e.cleanup(t, func(ctx context.Context) error { return plane.endNamespace(ctx, e.Namespace) })
	e.Self = e.User(t, "test", s.rights...)
	e.Config = rest.CopyConfig(e.Self.Config)
	if len(s.crds) > 0 {
		e.InstallCRDs(t, s.crds...)
	}
	return e
}

// planeFor returns the control plane that the settings ask for.
func planeFor(t testing.TB, s settings) (*plane, error) {
	t.Helper()
	if !s.own {
		return shared.get(t.Context(), s.crds)
	}
	plane, err := startPlane(t.Context(), s.crds, s.flags)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		log := plane.cluster.Log()
		if err := plane.cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("envtest: %v", err)
		}
		if t.Failed() {
			t.Logf("envtest: the cluster's own log:\n%s", log)
		}
	})
	return plane, nil
}

// cleanup runs f when the test ends, unless the test has its own cluster, which is removed as a whole.
func (e *Env) cleanup(t testing.TB, f func(ctx context.Context) error) {
	if e.own {
		return
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), stepTimeout)
		defer cancel()
		if err := f(ctx); err != nil {
			t.Errorf("envtest: cleaning up: %v", err)
		}
	})
}

// StopAPIServer stops the API server, as in an outage: connections break and new ones are refused. The test needs a
// cluster of its own; see [OwnCluster].
func (e *Env) StopAPIServer(t testing.TB) {
	t.Helper()
	e.act(t, devcluster.APIServer, e.plane.cluster.StopComponent)
}

// StartAPIServer starts the API server again, at the same port and with the same objects. It returns when the API
// server is ready.
func (e *Env) StartAPIServer(t testing.TB) {
	t.Helper()
	e.act(t, devcluster.APIServer, e.plane.cluster.StartComponent)
}

// StopEtcd stops the API server's storage. Connections to the API server and watches stay, but nothing can be written,
// and reads that aren't served from the API server's cache fail after a while. The test needs a cluster of its own; see
// [OwnCluster].
func (e *Env) StopEtcd(t testing.TB) {
	t.Helper()
	e.act(t, devcluster.Etcd, e.plane.cluster.StopComponent)
}

// StartEtcd starts the storage again, with its data, and returns when it is ready. The API server reconnects within a
// few seconds.
func (e *Env) StartEtcd(t testing.TB) {
	t.Helper()
	e.act(t, devcluster.Etcd, e.plane.cluster.StartComponent)
}

// act calls do for a component of the test's own cluster.
func (e *Env) act(t testing.TB, component string, do func(ctx context.Context, component string) error) {
	t.Helper()
	if !e.own {
		t.Fatalf("envtest: the %s of %s is shared with other tests: start with OwnCluster() to stop it", component, e.Dir)
	}
	ctx, cancel := context.WithTimeout(t.Context(), stepTimeout)
	defer cancel()
	if err := do(ctx, component); err != nil {
		t.Fatalf("envtest: %v", err)
	}
}
