package controlplane

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// Plane is a control plane that runs.
type Plane struct {
	// Dir is the folder of the control plane, by which tests find it. It is the same path in each run with the same
	// program, so that the go command sees the same environment and can use cached results. If another run uses that
	// path at the moment, Dir is a different path.
	Dir     string
	link    string // the symbolic link to the cluster's folder, if Dir is that link
	cluster *devcluster.Cluster
}

// Binary returns the path of the control plane's program, and builds the program if it isn't cached.
func Binary(ctx context.Context, progress io.Writer) (string, error) {
	if _, set := os.LookupEnv("GOGC"); !set { // as in process.Roomy
		_ = os.Setenv("GOGC", "400")
		defer func() { _ = os.Unsetenv("GOGC") }()
	}
	binary, err := devcluster.Binary(ctx, progress)
	if err != nil {
		return "", fmt.Errorf("control plane: %w", err)
	}
	return binary, nil
}

// Start starts a control plane from the program binary, with the custom resource definitions of the repository at root,
// and waits until it is ready. The caller must call Stop.
func Start(ctx context.Context, root, binary string, progress io.Writer) (*Plane, error) {
	crds, err := CRDs(root)
	if err != nil {
		return nil, fmt.Errorf("control plane: custom resource definitions: %w", err)
	}
	cluster, err := devcluster.Start(ctx, devcluster.StartOptions{Progress: progress, CRDs: crds})
	if err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	p := &Plane{Dir: cluster.Dir(), cluster: cluster}
	sum := sha256.Sum256([]byte(root + "\x00" + binary))
	link := filepath.Join(filepath.Dir(filepath.Dir(p.Dir)), fmt.Sprintf("operkit.%x", sum[:6]))
	if _, err := os.Stat(link); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(link) // left by a run that was killed
		if os.Symlink(p.Dir, link) == nil {
			p.Dir, p.link = link, link
		}
	}
	return p, nil
}

// Alive returns an error with the last output of the control plane if it has ended.
func (p *Plane) Alive() error {
	state, err := p.cluster.State()
	if err == nil && state.SupervisorPID != 0 {
		process, err := os.FindProcess(state.SupervisorPID)
		if err == nil && process.Signal(syscall.Signal(0)) == nil {
			return nil
		}
	}
	return fmt.Errorf("control plane: it ended during the run: its last output:\n%s", p.cluster.Log())
}

// Stop ends the control plane and removes its folder.
func (p *Plane) Stop(ctx context.Context) error {
	err := p.cluster.Stop(ctx)
	if p.link != "" {
		err = errors.Join(err, os.Remove(p.link))
	}
	return err
}

// CRDs lists the folders with custom resource definitions: each config/crd below examples and reconcile. The control
// plane gets all of them at its start, because its garbage collector takes a while to find kinds that are added later.
func CRDs(root string) ([]string, error) {
	var folders []string
	for _, top := range []string{"examples", "reconcile"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			if entry.Name() == "crd" && filepath.Base(filepath.Dir(path)) == "config" {
				folders = append(folders, path)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return folders, nil
}

// envtest is the package through which tests reach the control plane.
const envtest = repository.Prefix + "/tools/envtest"

// Needed reports whether a test of one of modules depends on tools/envtest. Packages that do not build are no error
// here: the test run reports them.
func Needed(ctx context.Context, r *repository.Repository, modules []repository.Module) (bool, error) {
	for _, group := range r.Groups(modules) {
		if needed, err := Used(ctx, group); needed || err != nil {
			return needed, err
		}
	}
	return false, nil
}

// Waits reports whether a module requires tools/envtest. Then its tests mostly wait for a control plane.
func Waits(m repository.Module) bool {
	return slices.ContainsFunc(m.Requires, func(other repository.Requirement) bool { return other.Path == envtest && !other.Indirect })
}

// Used reports whether a test of the group depends on tools/envtest. Packages that do not build are no error.
func Used(ctx context.Context, group repository.Group) (bool, error) {
	args := append([]string{"list", "-mod=readonly", "-e", "-deps", "-test", "-f", "{{.ImportPath}}"}, group.Patterns...)
	out, err := process.Output(ctx, process.Command(ctx, group.Folder, group.Environ, "go", args...))
	if err != nil {
		return false, fmt.Errorf("%s: dependencies of the tests: %w", group.Subject, err)
	}
	for line := range strings.Lines(string(out)) {
		path, _, _ := strings.Cut(strings.TrimSpace(line), " ") // after the space is the test that the package is compiled for
		if path == envtest {
			return true, nil
		}
	}
	return false, nil
}
