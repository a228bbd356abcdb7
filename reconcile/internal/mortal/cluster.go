package mortal

import (
	"context"
	"errors"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Cluster is a cluster as processes see it, one after the other, of which one is killed at a write: the write panics
// with ErrKilled, and so does each later one of that process. It is safe for concurrent use.
type Cluster struct {
	deploy.Cluster
	// At is the number of the write, counted from 1 over all processes, 0 for none. After says that the write reaches
	// the cluster.
	At    int
	After bool

	mu      sync.Mutex
	process *Process
	// earlier are the writes of earlier processes.
	earlier int
}

// Connect connects the next process to a cluster.
func (c *Cluster) Connect(to deploy.Cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil {
		c.earlier += c.process.Writes()
	}
	c.Cluster, c.process = to, &Process{}
	if c.At > c.earlier {
		c.process.Kill(c.At-c.earlier, c.After)
	}
}

// Dead reports whether the present process was killed.
func (c *Cluster) Dead() bool { return c.present().Dead() }

// Writes returns the number of writes of all processes.
func (c *Cluster) Writes() int {
	process := c.present()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.earlier + process.Writes()
}

// Port implements deploy.Cluster. It is the port of the present process.
func (c *Cluster) Port() deploy.Port { return port{c.Cluster.Port(), c.present()} }

func (c *Cluster) present() *Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

type port struct {
	deploy.Port
	process *Process
}

// send makes a write.
func (p port) send(write func() error) error {
	err := p.process.Send(write)
	if errors.Is(err, ErrKilled) {
		panic(ErrKilled) //nolint:forbidigo // in a test: the process of the operator ends at this write
	}
	return err
}

func (p port) Create(ctx context.Context, obj *unstructured.Unstructured, o deploy.CreateOptions) (made *unstructured.Unstructured, err error) {
	err = p.send(func() (err error) {
		made, err = p.Port.Create(ctx, obj, o)
		return err
	})
	return made, err
}

func (p port) Update(ctx context.Context, obj *unstructured.Unstructured, o deploy.UpdateOptions) (made *unstructured.Unstructured, err error) {
	err = p.send(func() (err error) {
		made, err = p.Port.Update(ctx, obj, o)
		return err
	})
	return made, err
}

func (p port) Apply(ctx context.Context, obj *unstructured.Unstructured, o deploy.ApplyOptions) (a deploy.Applied, err error) {
	err = p.send(func() (err error) {
		a, err = p.Port.Apply(ctx, obj, o)
		return err
	})
	return a, err
}

func (p port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (made *unstructured.Unstructured, err error) {
	err = p.send(func() (err error) {
		made, err = p.Port.Patch(ctx, ref, patch)
		return err
	})
	return made, err
}

func (p port) Delete(ctx context.Context, ref deploy.Ref, o deploy.DeleteOptions) error {
	return p.send(func() error { return p.Port.Delete(ctx, ref, o) })
}
