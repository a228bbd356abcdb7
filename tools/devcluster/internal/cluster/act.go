package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/control"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

// stopGrace is how long a single component may take to end before it is killed. That is time to close its connections
// gracefully, as in a real cluster.
const stopGrace = 2 * time.Second

// needs maps a component to the component that it needs: without it the component ends by itself soon after its start.
var needs = map[component.Name]component.Name{
	component.APIServer:         component.Etcd,
	component.ControllerManager: component.APIServer,
	component.Scheduler:         component.APIServer,
	component.Kwok:              component.APIServer,
}

var errBusy = errors.New("the cluster is starting or ending: try again when it is ready")

// Act starts, stops or restarts one component, and returns when it is done: after a stop when the process is gone;
// after a start when the component is healthy and, unless another component is stopped, the cluster is ready. Stopping
// a stopped component does nothing, and neither does starting a running one. The component keeps its port and its data.
// If ctx ends first, the start continues; another call to start the component waits for it.
func (c *Cluster) Act(ctx context.Context, n component.Name, action control.Action) error {
	if !c.options.Components.Has(n) {
		return fmt.Errorf("component %s is not part of this cluster (%s)", n, c.options.Components)
	}
	c.actions.Lock()
	defer c.actions.Unlock()
	if !c.settled() {
		return errBusy
	}
	if needed, ok := needs[n]; ok && action != control.Stop && c.phaseOf(needed) != state.Ready {
		return fmt.Errorf("component %s cannot be started: %s is not running, start it first", n, needed)
	}
	if action != control.Start {
		if err := c.stopComponent(n); err != nil {
			return err
		}
	}
	if action != control.Stop {
		return c.startComponent(ctx, n)
	}
	return nil
}

func (c *Cluster) stopComponent(n component.Name) error {
	c.mu.Lock()
	m := c.members[n]
	if m.phase == state.Stopped || m.phase == state.Failed {
		c.mu.Unlock()
		return nil
	}
	c.setLocked(m, state.Stopping)
	err := c.degradeLocked(n, m.phase)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	m.process.Stop(stopGrace)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setLocked(m, state.Stopped)
	return c.degradeLocked(n, m.phase)
}

func (c *Cluster) startComponent(ctx context.Context, n component.Name) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.StartTimeout,
		&timeoutError{limit: c.options.StartTimeout, dir: c.options.Dir})
	defer cancel()
	if c.phaseOf(n) == state.Stopped {
		if n == component.Kwok {
			if err := c.releaseNode(ctx); err != nil {
				return err
			}
		}
		if err := c.launch(n); err != nil {
			return err
		}
	}
	if err := c.awaitComponent(ctx, n); err != nil {
		return err
	}
	// Other components may not be healthy meanwhile: for example the API server needs a while to reconnect to etcd.
	if c.complete() {
		if err := c.await(ctx, "cluster", c.check); err != nil {
			return err
		}
	}
	c.assess(ctx)
	return nil
}

// complete reports whether no component is stopped.
func (c *Cluster) complete() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members {
		if m.phase != state.Ready {
			return false
		}
	}
	return true
}

func (c *Cluster) phaseOf(n component.Name) state.Phase {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.members[n].phase
}

// degradeLocked records that the cluster isn't ready because of n.
func (c *Cluster) degradeLocked(n component.Name, phase state.Phase) error {
	if c.settledLocked() {
		c.phase, c.message = state.Degraded, fmt.Sprintf("%s is %s", n, phase)
	}
	return c.writeStateLocked()
}
