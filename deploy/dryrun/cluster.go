package dryrun

import (
	"context"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Cluster is one cluster in memory. It is safe for concurrent use, and independent of every
// other one. What goes in and out is copied: nobody holds a part of it.
type Cluster struct {
	clock  func() time.Time
	scopes scopes
	fields *fieldManagers

	mu            sync.RWMutex
	storage       *storage
	subscriptions map[*subscription]struct{}
	running       sync.WaitGroup
}

var _ deploy.Cluster = (*Cluster)(nil)

// Option sets up a new Cluster.
type Option func(*options)

type options struct {
	seeds         []*unstructured.Unstructured
	clusterScoped []schema.GroupKind
	clock         func() time.Time
}

// Objects are in the cluster from the start, as they are given: status, uid, managedFields,
// owner references and finalizers included. What is missing of uid, creationTimestamp and
// generation is filled in; resourceVersion is always new. Several Objects options add up.
func Objects(objects ...*unstructured.Unstructured) Option {
	return func(o *options) { o.seeds = append(o.seeds, objects...) }
}

// ClusterScoped declares kinds whose objects live in no namespace, beside those of
// Kubernetes itself. All other kinds are namespaced.
func ClusterScoped(kinds ...schema.GroupKind) Option {
	return func(o *options) { o.clusterScoped = append(o.clusterScoped, kinds...) }
}

// Clock sets where timestamps come from. Default: time.Now.
func Clock(now func() time.Time) Option { return func(o *options) { o.clock = now } }

// New returns a cluster that holds the given Objects and nothing else. An object that no
// cluster could hold is a *deploy.InvalidManifestError.
func New(opts ...Option) (*Cluster, error) {
	o := options{clock: time.Now}
	for _, option := range opts {
		option(&o)
	}
	fields, err := newFieldManagers()
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		clock:         o.clock,
		scopes:        newScopes(o.clusterScoped),
		fields:        fields,
		storage:       newStorage(),
		subscriptions: map[*subscription]struct{}{},
	}
	if err := c.seed(o.seeds); err != nil {
		return nil, err
	}
	return c, nil
}

// Port returns the requests of the cluster.
func (c *Cluster) Port() deploy.Port { return port{c} }

// View returns the reads of the cluster.
func (c *Cluster) View() deploy.View { return view{c} }

// Objects returns all objects in the order in which they were created. Given to another
// cluster by the option of the same name they continue there.
func (c *Cluster) Objects() []*unstructured.Unstructured {
	c.mu.RLock()
	stored := c.storage.all()
	c.mu.RUnlock()
	objects := make([]*unstructured.Unstructured, len(stored))
	for i, obj := range stored {
		objects[i] = obj.DeepCopy()
	}
	return objects
}

// Wait returns when every subscription has ended, which each does after its context has.
func (c *Cluster) Wait() { c.running.Wait() }

// timestamp is the present as metadata holds it.
func (c *Cluster) timestamp() string { return c.clock().UTC().Format(time.RFC3339) }

// interrupted answers a request whose context has ended as one to a server would be.
func interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &deploy.UnavailableError{Err: context.Cause(ctx)}
}
