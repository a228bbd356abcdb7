package envtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// plane is a control plane, with the clients of its administrator.
type plane struct {
	cluster *devcluster.Cluster
	admin   *rest.Config
	client  dynamic.Interface
	raw     *rest.RESTClient
	log     audit.Log // has no path if the cluster keeps no audit log
	// temporary reports whether the cluster ends with the process that started it, such as this one.
	temporary bool

	mu        sync.Mutex      // held while definitions are installed
	collected map[string]bool // ids of definitions for which garbage collection works
}

// sharedPlane is the one control plane of this process. If the control plane can't be started, each test fails with
// that error.
type sharedPlane struct {
	once  sync.Once
	plane *plane
	err   error
}

var shared sharedPlane

// get returns the control plane. The first call opens the control plane that the environment names, or else starts a
// new one with crds.
func (s *sharedPlane) get(ctx context.Context, crds []string) (*plane, error) {
	s.once.Do(func() {
		if dir := os.Getenv(devcluster.Variable); dir != "" {
			s.plane, s.err = openPlane(ctx, dir)
			return
		}
		s.plane, s.err = startPlane(ctx, crds, nil)
	})
	return s.plane, s.err
}

func openPlane(ctx context.Context, dir string) (*plane, error) {
	cluster, err := devcluster.Open(dir, os.Stderr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", devcluster.Variable, err)
	}
	plane, err := connect(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", devcluster.Variable, err)
	}
	return plane, nil
}

func startPlane(ctx context.Context, crds, flags []string) (*plane, error) {
	cluster, err := devcluster.Start(ctx, devcluster.StartOptions{Progress: os.Stderr, CRDs: crds, Flags: flags})
	if err != nil {
		return nil, err
	}
	plane, err := connect(ctx, cluster)
	if err != nil {
		return nil, errors.Join(err, cluster.Stop(context.WithoutCancel(ctx)))
	}
	return plane, nil
}

// connect makes the administrator's clients and checks that the API server is ready.
func connect(ctx context.Context, cluster *devcluster.Cluster) (*plane, error) {
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("cluster %s: kubeconfig: %w", cluster.Dir(), err)
	}
	config.QPS = -1 // no client-side rate limit
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", cluster.Dir(), err)
	}
	raw, err := rest.UnversionedRESTClientFor(dynamic.ConfigFor(config))
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", cluster.Dir(), err)
	}
	state, err := cluster.State()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if _, err := raw.Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
		return nil, fmt.Errorf("cluster %s: its API server isn't ready: %w", cluster.Dir(), err)
	}
	return &plane{
		cluster: cluster, admin: config, client: client, raw: raw, temporary: state.Temporary,
		log: audit.Log{Path: state.AuditLog}, collected: map[string]bool{},
	}, nil
}

// closeIdle closes idle connections, so that a leak detector doesn't find their goroutines.
func (p *plane) closeIdle() {
	client, err := rest.HTTPClientFor(p.admin)
	if err != nil {
		return
	}
	utilnet.CloseIdleConnectionsFor(client.Transport)
}
