package publishing

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/release/proxy"
)

const tool = "github.com/operkit/operkit/tools/operkit"

// Published is the environment of a user without this repository.
type Published struct {
	// Env is an environment for the go command and programs that call it.
	Env []string
	// Operkit is the path of the program.
	Operkit string
}

// Publish fills a proxy below dir, an absolute path, with the modules of the repository at root, and installs the
// program from it. The first caller compiles the packages that operators need, and other callers wait for it. Otherwise
// several go commands would compile the same packages at the same time.
func Publish(ctx context.Context, root, dir string) (Published, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return Published{}, err
	}
	served := filepath.Join(dir, "proxy")
	versions, err := proxy.Fill(ctx, root, served)
	if err != nil {
		return Published{}, err
	}
	env, err := proxy.Environ(ctx, served)
	if err != nil {
		return Published{}, err
	}
	folder := filepath.Join(root, ".cache", "operkit")
	release, err := lock(ctx, folder)
	if err != nil {
		return Published{}, err
	}
	defer release()
	cache := filepath.Join(folder, "mod")
	if err := forget(cache, versions[tool]); err != nil {
		return Published{}, err
	}
	p := Published{
		// -trimpath as in the Dockerfile, so that all programs share compiled packages, and no debug information, which
		// nobody reads. Compilers use more memory and collect less garbage, which saves a tenth of the time.
		Env: append(env, "GOGC=400", "GOMODCACHE="+cache, "GOFLAGS=-modcacherw -trimpath -gcflags=all=-dwarf=false", "CGO_ENABLED=0",
			"MAKEFLAGS=", "MAKELEVEL=", "KUBECONFIG=", "OPERKIT_DEVCLUSTER="),
		Operkit: filepath.Join(dir, "operkit"),
	}
	if err := p.run(ctx, dir, "env", "GOBIN="+dir, "go", "install", tool+"@"+versions[tool]); err != nil {
		return Published{}, err
	}
	return p, p.compile(ctx, dir)
}

// compile compiles one operator, and so the packages that all operators need.
func (p Published) compile(ctx context.Context, dir string) error {
	if err := p.run(ctx, dir, p.Operkit, "init", "warm", "--kind", "Warm", "--group", "example.com"); err != nil {
		return err
	}
	operator := filepath.Join(dir, "warm")
	for _, command := range [][]string{
		{"go", "build", "./..."}, {"go", "vet", "./..."}, {"make", "test"}, {"make", "generate"}, {"go", "tool", "devcluster", "--help"},
	} {
		if err := p.run(ctx, operator, command...); err != nil {
			return err
		}
	}
	return nil
}

func (p Published) run(ctx context.Context, dir string, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, p.Env
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, output)
	}
	return nil
}
