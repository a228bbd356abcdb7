package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// commandGrace is how long an interrupted devcluster command may take to clean up.
const commandGrace = 15 * time.Second

// controlPlane is a running Kubernetes control plane. An attached one ends with this
// program, a detached one stays until `devcluster down`.
type controlPlane struct {
	program  string
	detached bool
	cluster  *devcluster.Cluster
}

// attachedPlane starts a control plane that knows the definitions in the folder crds.
func attachedPlane(ctx context.Context, program, crds string) (*controlPlane, error) {
	started, err := devcluster.Start(ctx, devcluster.StartOptions{CRDs: []string{crds}})
	if err != nil {
		return nil, err
	}
	return &controlPlane{program: program, cluster: started}, nil
}

// detachedPlane starts a control plane in the given folder that goes on running after the demo, so that you can look
// around.
func detachedPlane(ctx context.Context, program, crds, dir string) (*controlPlane, error) {
	plane := &controlPlane{program: program, detached: true}
	if _, err := plane.run(ctx, "up", "--detach", "--audit", "--crds", crds, "--dir", dir); err != nil {
		return nil, err
	}
	opened, err := devcluster.Open(dir, nil)
	if err != nil {
		_, down := plane.run(context.WithoutCancel(ctx), "down", "--dir", dir)
		return nil, errors.Join(err, down)
	}
	plane.cluster = opened
	return plane, nil
}

// run executes a command of the devcluster program.
func (c *controlPlane) run(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, c.program, args...)
	command.SysProcAttr = attached()
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = commandGrace
	return output(command)
}

func (c *controlPlane) dir() string { return c.cluster.Dir() }

// kubeconfigFor writes a kubeconfig file with a certificate for this user.
func (c *controlPlane) kubeconfigFor(ctx context.Context, user, path string) error {
	content, err := c.run(ctx, "kubeconfig", "--user", user, "--dir", c.dir())
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// describe returns a text with the version and the address of the control plane.
func (c *controlPlane) describe() (string, error) {
	state, err := c.cluster.State()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Kubernetes %s at %s", state.Version, state.Server), nil
}

// auditLog is the file with a line for each request to the API server.
func (c *controlPlane) auditLog() string { return filepath.Join(c.dir(), "audit.log") }

// stop stops the control plane.
func (c *controlPlane) stop(ctx context.Context) error {
	if !c.detached {
		return c.cluster.Stop(ctx)
	}
	_, err := c.run(ctx, "down", "--dir", c.dir())
	return err
}
