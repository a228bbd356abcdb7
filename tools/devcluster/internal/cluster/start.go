package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/api"
	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/control"
	"github.com/operkit/operkit/tools/devcluster/internal/crd"
	"github.com/operkit/operkit/tools/devcluster/internal/lifeline"
	"github.com/operkit/operkit/tools/devcluster/internal/port"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

// crashNotice is how long to wait, after a failed request, for the news that a component has ended.
const crashNotice = 200 * time.Millisecond

// start starts everything. If it fails, shutDown ends what was started.
func (c *Cluster) start(ctx context.Context, definitions []crd.Definition) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.StartTimeout,
		&timeoutError{limit: c.options.StartTimeout, dir: c.options.Dir})
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	if err := c.prepare(ctx); err != nil {
		return err
	}
	if err := c.startComponents(ctx, definitions); err != nil {
		return c.explain(err)
	}
	if err := c.declareReady(); err != nil {
		return err
	}
	c.progress("all components are ready")
	c.watchers.Go(c.monitor)
	return nil
}

func (c *Cluster) startComponents(ctx context.Context, definitions []crd.Definition) error {
	c.progress("starting %s in %s", c.options.Components, c.options.Dir)
	if err := c.startServers(ctx); err != nil {
		return err
	}
	c.progress("the API server answers at %s", c.server())
	if len(definitions) > 0 {
		if err := crd.Install(ctx, c.client, definitions); err != nil {
			return err
		}
		c.progress("CustomResourceDefinitions that are established: %d", len(definitions))
	}
	return c.startOthers(ctx)
}

// explain returns the reason for the cluster's end if it ends, and err otherwise: a failed request may be the first
// sign that a component has ended.
func (c *Cluster) explain(err error) error {
	var answer *api.StatusError
	if errors.As(err, &answer) {
		return err
	}
	timer := time.NewTimer(crashNotice)
	defer timer.Stop()
	select {
	case <-c.life.Done():
		return cause(c.life)
	case <-timer.C:
		return err
	}
}

// prepare creates everything that the first process needs.
func (c *Cluster) prepare(ctx context.Context) error {
	var err error
	if c.line, err = lifeline.New(); err != nil {
		return err
	}
	if err := c.reservePorts(ctx); err != nil {
		return err
	}
	if err := c.createCredentials(); err != nil {
		return err
	}
	if err := c.createConfiguration(); err != nil {
		return err
	}
	for _, n := range c.options.Components {
		c.members[n] = &member{phase: state.Starting}
	}
	if err := c.writeState(); err != nil {
		return err
	}
	c.control, err = control.Listen(c.options.Dir.ControlSocket(), c)
	return err
}

func (c *Cluster) reservePorts(ctx context.Context) error {
	for _, n := range []component.Name{component.APIServer, component.ControllerManager, component.Scheduler} {
		number := 0
		if n == component.APIServer {
			number = c.options.Port
		}
		reservation, err := port.Reserve(ctx, number)
		if err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
		c.ports[n] = reservation
	}
	return nil
}

func (c *Cluster) progress(format string, arguments ...any) {
	c.options.Progress(fmt.Sprintf("%5.1fs %s", time.Since(c.begin).Seconds(), fmt.Sprintf(format, arguments...)))
}

// startServers starts etcd and the API server together; the API server waits for etcd by itself.
func (c *Cluster) startServers(ctx context.Context) error {
	for _, n := range []component.Name{component.Etcd, component.APIServer} {
		if err := c.launch(n); err != nil {
			return err
		}
	}
	for _, n := range []component.Name{component.Etcd, component.APIServer} {
		if err := c.awaitComponent(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// startOthers starts the other components and waits for their results: a Ready fake node and a default ServiceAccount.
// The StorageClasses come first, since the API server needs a moment to notice which one is the default.
func (c *Cluster) startOthers(ctx context.Context) error {
	rest := c.options.Components[2:] // a component.Set is in the order of the start
	if c.options.Components.Has(component.ControllerManager) {
		if err := c.createStorageClasses(ctx); err != nil {
			return err
		}
	}
	for _, n := range rest {
		if err := c.launch(n); err != nil {
			return err
		}
	}
	if c.options.Components.Has(component.Kwok) {
		if err := c.client.Create(ctx, nodePath, fakeNode(), nil); err != nil {
			return fmt.Errorf("fake node: %w", err)
		}
	}
	for _, n := range rest {
		if err := c.awaitComponent(ctx, n); err != nil {
			return err
		}
	}
	return c.awaitFixtures(ctx)
}
