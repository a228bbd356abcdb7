package cluster

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/process"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

// logTail is how many lines of a component's log go into a CrashError.
const logTail = 20

// launch starts the process of a component and follows it.
func (c *Cluster) launch(n component.Name) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() != nil {
		return cause(c.life)
	}
	dir := c.options.Dir
	started, err := process.Start(c.spawner, process.Spec{
		Path: c.options.Executable, Args: append([]string{n.Program()}, c.arguments(n)...),
		Dir: dir.Run(), Env: c.environment(), Log: dir.Log(n),
		// The processes inherit the lock: the directory stays locked until the last one is gone.
		Files: []*os.File{c.lock.File()}, Line: c.line,
	})
	if err != nil {
		return fmt.Errorf("component %s cannot be started: %w", n, err)
	}
	m := c.members[n]
	m.process = started
	c.setLocked(m, state.Starting)
	c.watchers.Go(func() { c.follow(n, started) })
	return c.writeStateLocked()
}

// environment returns the environment of this process without variables that would configure the components: etcd reads
// every flag from a variable, too.
func (c *Cluster) environment() []string {
	own := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "ETCD_") || strings.HasPrefix(variable, "KUBE") ||
			strings.HasPrefix(variable, "KWOK_")
	})
	return append(own, StateEnvironment+"="+c.options.Dir.State())
}

// follow ends the cluster if the process ends without being stopped.
func (c *Cluster) follow(n component.Name, p *process.Process) {
	<-p.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.members[n]
	if m.process != p || m.phase == state.Stopping || m.phase == state.Stopped {
		return
	}
	c.setLocked(m, state.Failed)
	tail, err := process.Tail(p.Log(), logTail)
	if err != nil {
		tail = err.Error()
	}
	crash := &CrashError{Component: n, Outcome: p.Outcome(), Log: p.Log(), Tail: tail}
	c.phase, c.message = state.Failed, crash.Error()
	// The cluster has to end even if the state file can't be written.
	_ = c.writeStateLocked()
	c.end(crash)
}
