package cluster

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

// Status returns the present state of the cluster. If the cluster counts as ready, its components are checked again.
func (c *Cluster) Status(ctx context.Context) state.State {
	c.assess(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stateLocked()
}

// Down requests the end of the cluster: Wait returns.
func (c *Cluster) Down() { c.end(errDown) }

// monitor keeps the state up to date while the cluster runs.
func (c *Cluster) monitor() {
	ticker := time.NewTicker(monitorInterval)
	defer ticker.Stop()
	for {
		select {
		case <-c.life.Done():
			return
		case <-ticker.C:
			c.assess(c.life)
		}
	}
}

// assess checks every component and sets the phase accordingly. If a component was started or stopped meanwhile, the
// result is dropped: that action has set the phase already.
func (c *Cluster) assess(ctx context.Context) {
	c.assessment.Lock()
	defer c.assessment.Unlock()
	if !c.settled() {
		return
	}
	c.mu.Lock()
	changes := c.changes
	c.mu.Unlock()
	err := c.check(ctx)
	if ctx.Err() != nil {
		return // the check was cancelled; the component didn't fail
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes || !c.settledLocked() {
		return
	}
	phase, message := state.Ready, ""
	if err != nil {
		phase, message = state.Degraded, err.Error()
	}
	if phase == c.phase && message == c.message {
		return
	}
	c.phase, c.message = phase, message
	_ = c.writeStateLocked() // the next change writes it again
}

// setLocked moves a member to another phase.
func (c *Cluster) setLocked(m *member, phase state.Phase) {
	m.phase = phase
	c.changes++
}

// settled reports whether the start is complete and the end has not begun.
func (c *Cluster) settled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settledLocked()
}

func (c *Cluster) settledLocked() bool { return c.phase == state.Ready || c.phase == state.Degraded }

// check returns why the cluster is not ready, or nil.
func (c *Cluster) check(ctx context.Context) error {
	for _, n := range c.options.Components {
		if phase := c.phaseOf(n); phase != state.Ready {
			return fmt.Errorf("%s is %s", n, phase)
		}
		if err := c.healthy(ctx, n); err != nil {
			return fmt.Errorf("%s does not answer: %w", n, err)
		}
	}
	return nil
}

// declareReady ends the phase of starting, unless the cluster has to end already.
func (c *Cluster) declareReady() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() != nil {
		return cause(c.life)
	}
	c.phase = state.Ready
	return c.writeStateLocked()
}

func (c *Cluster) writeState() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writeStateLocked()
}

func (c *Cluster) writeStateLocked() error {
	return state.Write(c.options.Dir.State(), c.stateLocked())
}

func (c *Cluster) stateLocked() state.State {
	dir := c.options.Dir
	s := state.State{
		Phase: c.phase, Ready: c.phase == state.Ready, Message: c.message, Temporary: c.options.Temporary,
		Version: c.options.Version, SupervisorPID: os.Getpid(), Server: c.server(),
		Kubeconfig: dir.Kubeconfig(), ControlSocket: dir.ControlSocket(),
		Components: []state.Component{},
	}
	if c.options.Audit {
		s.AuditLog = dir.AuditLog()
	}
	for _, n := range c.options.Components {
		s.Components = append(s.Components, c.members[n].describe(n, dir.Log(n)))
	}
	return s
}

func (m *member) describe(n component.Name, log string) state.Component {
	described := state.Component{Name: n, Phase: m.phase, Log: log}
	if m.process == nil {
		return described
	}
	select {
	case <-m.process.Done():
	default:
		described.PID = m.process.PID()
	}
	return described
}
