package cluster

import (
	"context"
	"sync"

	"github.com/operkit/operkit/tools/devcluster/internal/process"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

// shutDown ends everything that start has started, even if start has failed.
func (c *Cluster) shutDown(phase state.Phase, message string) {
	c.stopping.Do(func() {
		c.end(errDown)
		processes := c.markStopping()
		var wait sync.WaitGroup
		for _, p := range processes {
			// SIGKILL instead of SIGTERM: nothing has to be saved, and it takes milliseconds instead of seconds.
			wait.Go(p.Kill)
		}
		wait.Wait()
		c.watchers.Wait()
		c.release(phase, message)
	})
}

// markStopping records that the components are being stopped, so that follow doesn't treat their end as a crash.
func (c *Cluster) markStopping() []*process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = state.Stopping
	var processes []*process.Process
	for _, m := range c.members {
		if m.process != nil {
			c.setLocked(m, state.Stopping)
			processes = append(processes, m.process)
		}
	}
	if len(c.members) > 0 {
		_ = c.writeStateLocked() // release writes it again
	}
	return processes
}

// release releases the cluster's resources, the directory last.
func (c *Cluster) release(phase state.Phase, message string) {
	if c.control != nil {
		c.control.Close(context.WithoutCancel(c.life))
	}
	if len(c.members) > 0 {
		c.mu.Lock()
		// An error is ignored: the processes are gone in any case.
		_ = state.Write(c.options.Dir.State(), c.stateLocked().Ended(phase, message))
		c.mu.Unlock()
	}
	if c.client != nil {
		c.client.Close()
	}
	for _, reservation := range c.ports {
		reservation.Release()
	}
	if c.line != nil {
		c.line.Close()
	}
	c.spawner.Close()
	c.lock.Release()
}
