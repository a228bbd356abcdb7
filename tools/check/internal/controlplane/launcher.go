package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

const (
	// FolderVariable names the folder of a running control plane for the tests. A run in which it is set already starts
	// none.
	FolderVariable = "OPERKIT_DEVCLUSTER"
	// BinaryVariable names the program that a control plane consists of. A run in which it is set builds none.
	BinaryVariable = "OPERKIT_DEVCLUSTER_BINARY"
)

// Launcher builds and starts control planes. Root, Dir, Env, Command and Stderr must be set; [ForRepository] does.
type Launcher struct {
	// Root is the folder of the repository, whose custom resource definitions are installed.
	Root string
	// Dir and Env are the working directory and the environment of the launcher.
	Dir string
	Env []string
	// Program is the path of the control plane's program, as [Launcher.Build] gives it: runs with another one get another
	// folder.
	Program string
	// Command is the command line of the launcher, to which a command (build, up) is added.
	Command []string
	// Stderr gets the progress of a build.
	Stderr io.Writer
	// StartTime is how long a control plane may take to become ready, StopTime how long to end by itself before it is
	// killed. Zero means three minutes and twenty seconds.
	StartTime, StopTime time.Duration
}

// ForRepository gives the launcher that tools/envtest of the repository holds.
func ForRepository(r *repository.Repository, stderr io.Writer) Launcher {
	return Launcher{
		Root:    r.Root,
		Dir:     r.Root,
		Env:     r.WorkspaceEnviron(),
		Command: []string{"go", "run", "./tools/envtest/cmd/devcluster"},
		Stderr:  stderr,
	}
}

// Build gives the path of the control plane's program, after building it when it is missing; progress goes to Stderr.
func (l Launcher) Build(ctx context.Context) (string, error) {
	var out strings.Builder
	args := append(l.Command[1:len(l.Command):len(l.Command)], "build")
	cmd := process.Command(ctx, l.Dir, process.Roomy(l.Env), l.Command[0], args...)
	cmd.Stdout, cmd.Stderr = &out, l.Stderr
	if err := process.Run(ctx, cmd); err != nil {
		return "", fmt.Errorf("control plane: %s: %w", process.Line(cmd), err)
	}
	path := strings.TrimSpace(out.String())
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return "", fmt.Errorf("control plane: %s: printed %q, which is not the path of a program", process.Line(cmd), path)
	}
	return path, nil
}

// Up starts a control plane and returns when it is ready. The caller must call Stop.
func (l Launcher) Up(ctx context.Context) (*ControlPlane, error) {
	crds, err := CRDs(l.Root)
	if err != nil {
		return nil, fmt.Errorf("control plane: custom resource definitions: %w", err)
	}
	dir, err := claimFolder(l.Root, l.Program)
	if err != nil {
		return nil, err
	}
	args := append(l.Command[1:len(l.Command):len(l.Command)], "up", "--until-eof", "--audit", "--dir", dir.path)
	for _, folder := range crds {
		args = append(args, "--crds", folder)
	}
	plane, err := start(process.Detached(l.Dir, l.Env, l.Command[0], args...), dir, cmp.Or(l.StopTime, stopTime))
	if err != nil {
		return nil, errors.Join(err, dir.remove())
	}
	if err := plane.waitReady(ctx, cmp.Or(l.StartTime, startTime)); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return plane, nil
}
