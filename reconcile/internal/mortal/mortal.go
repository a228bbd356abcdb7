package mortal

import (
	"context"
	"errors"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ErrKilled is the panic by which a process ends.
var ErrKilled = errors.New("killed")

// Cluster is a cluster as a process sees it that is killed before or after one of its writes: the write panics with
// ErrKilled, and so does each later one, until the next process is connected. It is safe for concurrent use.
type Cluster struct {
	deploy.Cluster
	// At is the number of the write, counted from 1 over all processes, 0 for none. After says that the write reaches
	// the cluster.
	At    int
	After bool

	mu     sync.Mutex
	writes int
	dead   bool
}

// Connect connects the next process to a cluster.
func (c *Cluster) Connect(to deploy.Cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Cluster, c.dead = to, false
}

// Dead reports whether the present process was killed.
func (c *Cluster) Dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// Writes returns the number of writes of all processes.
func (c *Cluster) Writes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes
}

// Port implements deploy.Cluster.
func (c *Cluster) Port() deploy.Port { return port{c.Cluster.Port(), c} }

// send makes a write, unless the process is dead or is killed before it.
func (c *Cluster) send(write func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		panic(ErrKilled)
	}
	c.writes++
	c.dead = c.writes == c.At
	if !c.dead || c.After {
		write()
	}
	if c.dead {
		panic(ErrKilled)
	}
}

type port struct {
	deploy.Port
	c *Cluster
}

func (p port) Create(ctx context.Context, obj *unstructured.Unstructured, o deploy.CreateOptions) (made *unstructured.Unstructured, err error) {
	p.c.send(func() { made, err = p.Port.Create(ctx, obj, o) })
	return made, err
}

func (p port) Update(ctx context.Context, obj *unstructured.Unstructured, o deploy.UpdateOptions) (made *unstructured.Unstructured, err error) {
	p.c.send(func() { made, err = p.Port.Update(ctx, obj, o) })
	return made, err
}

func (p port) Apply(ctx context.Context, obj *unstructured.Unstructured, o deploy.ApplyOptions) (a deploy.Applied, err error) {
	p.c.send(func() { a, err = p.Port.Apply(ctx, obj, o) })
	return a, err
}

func (p port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (made *unstructured.Unstructured, err error) {
	p.c.send(func() { made, err = p.Port.Patch(ctx, ref, patch) })
	return made, err
}

func (p port) Delete(ctx context.Context, ref deploy.Ref, o deploy.DeleteOptions) (err error) {
	p.c.send(func() { err = p.Port.Delete(ctx, ref, o) })
	return err
}
