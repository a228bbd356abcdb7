package devcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Variable is the environment variable with the folder of a running cluster. If it is set, the devcluster program and
// package envtest use that cluster.
const Variable = "OPERKIT_DEVCLUSTER"

// killDelay is how long a devcluster command may take to end by itself after its context has ended.
const killDelay = 5 * time.Second

// Cluster is a running control plane. Its methods may be called concurrently.
type Cluster struct {
	dir        string
	progress   io.Writer
	program    string      // the devcluster program that runs the cluster; empty if unknown
	supervisor *supervisor // nil if another process started the cluster
}

// Open returns the cluster that runs in the folder dir, and an error if no cluster runs there. If a later call has to
// build the program, the progress of the build is written to progress, unless progress is nil.
func Open(dir string, progress io.Writer) (*Cluster, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", dir, err)
	}
	state, err := readState(absolute)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("cluster %s: there is none in this folder: %w", dir, err)
	case err != nil:
		return nil, err
	case state.SupervisorPID == 0:
		return nil, fmt.Errorf("cluster %s: it doesn't run: %s %s", dir, state.Phase, state.Message)
	}
	return &Cluster{dir: absolute, progress: progress, program: programOf(state.SupervisorPID)}, nil
}

// Dir returns the cluster's folder, by which other processes find it; see [Variable].
func (c *Cluster) Dir() string { return c.dir }

// State returns the present state of the cluster.
func (c *Cluster) State() (State, error) { return readState(c.dir) }

// Kubeconfig returns the path of the administrator's kubeconfig file.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// StopComponent stops one component until StartComponent or RestartComponent is called.
func (c *Cluster) StopComponent(ctx context.Context, name string) error {
	return c.component(ctx, "stop", name)
}

// StartComponent starts a component that was stopped, and waits until it answers.
func (c *Cluster) StartComponent(ctx context.Context, name string) error {
	return c.component(ctx, "start", name)
}

// RestartComponent stops and starts one component, and waits until it answers.
func (c *Cluster) RestartComponent(ctx context.Context, name string) error {
	return c.component(ctx, "restart", name)
}

func (c *Cluster) component(ctx context.Context, action, name string) error {
	binary := c.program
	if _, err := os.Stat(binary); err != nil { // the program is unknown, or a newer one has replaced it
		if binary, err = Binary(ctx, c.progress); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, binary, "component", action, name, "--dir", c.dir)
	cmd.WaitDelay = killDelay
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster %s: %s %s: %w: %s", c.dir, action, name, err, strings.TrimSpace(string(output)))
	}
	return nil
}

// programOf returns the program file of a process, or "" if the system doesn't report it.
func programOf(pid int) string {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return ""
	}
	return program
}

// Stop stops a cluster that [Start] started, and removes its folder. It does nothing to a cluster that [Open] returned.
func (c *Cluster) Stop(ctx context.Context) error {
	if c.supervisor == nil {
		return nil
	}
	return c.supervisor.stop(ctx)
}

// Log returns the last output of the supervisor of a started cluster, for error messages. It is empty for a cluster
// that [Open] returned.
func (c *Cluster) Log() string {
	if c.supervisor == nil {
		return ""
	}
	return c.supervisor.home.tail()
}
