package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/unixsocket"
)

const (
	pollInterval    = 10 * time.Millisecond
	monitorInterval = time.Second
	// healthTimeout is how long a health check may take. On a busy machine a healthy component may be slow.
	healthTimeout = 10 * time.Second
)

// await calls check until it succeeds. It gives up when ctx or the life of the cluster ends. After a timeout the error
// contains the last error of check.
func (c *Cluster) await(ctx context.Context, subject string, check func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var wrong error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if wrong == nil || ctx.Err() == nil {
			wrong = err // after the end of ctx err only reports that end
		}
		select {
		case <-c.life.Done():
			return cause(c.life)
		case <-ctx.Done():
			return c.abandoned(ctx, subject, wrong)
		case <-ticker.C:
		}
	}
}

func (c *Cluster) abandoned(ctx context.Context, subject string, wrong error) error {
	if c.life.Err() != nil {
		return cause(c.life)
	}
	if late := new(timeoutError); errors.As(cause(ctx), &late) {
		return fmt.Errorf("%s: %w: %w", subject, late, wrong)
	}
	return fmt.Errorf("start: %w", cause(ctx))
}

func (c *Cluster) awaitComponent(ctx context.Context, n component.Name) error {
	check := func(ctx context.Context) error { return c.healthy(ctx, n) }
	if n == component.Kwok {
		check = c.nodeLeased
	}
	err := c.await(ctx, string(n), check)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[n]; m.phase == state.Starting {
		c.setLocked(m, state.Ready)
	}
	return c.writeStateLocked()
}

// healthy checks the health of a component.
func (c *Cluster) healthy(ctx context.Context, n component.Name) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	switch n {
	case component.Etcd:
		conn, err := unixsocket.Dial(ctx, c.options.Dir.RunFile(etcdSocket))
		if err != nil {
			return err
		}
		return conn.Close()
	case component.APIServer, component.Scheduler:
		return c.client.Healthy(ctx, "https://"+c.ports[n].Address()+"/readyz")
	case component.ControllerManager:
		return c.client.Healthy(ctx, "https://"+c.ports[n].Address()+"/healthz")
	default:
		// kwok has no endpoint that is safe to serve. nodeLeased checks at its start that it works, and its end is
		// noticed like that of every component.
		return nil
	}
}
