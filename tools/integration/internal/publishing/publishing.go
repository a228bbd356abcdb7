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

// Published is what a stranger has.
type Published struct {
	// Env is an environment for the go command and programs that call it.
	Env []string
	// Operkit is the path of the program.
	Operkit string
}

// Publish fills a proxy below dir, an absolute path, with the modules of the repository at root, and installs the
// program from it. Who calls it first waits until what operators are made of is compiled, others wait for that: the go
// command would compile the same packages at the same time.
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
		// Without the names of folders, as the Dockerfile's program is, so that all programs are made of the same, and
		// without what nobody reads.
		Env: append(env, "GOMODCACHE="+cache, "GOFLAGS=-modcacherw -trimpath -gcflags=all=-dwarf=false", "CGO_ENABLED=0",
			"MAKEFLAGS=", "MAKELEVEL=", "KUBECONFIG=", "OPERKIT_DEVCLUSTER="),
		Operkit: filepath.Join(dir, "operkit"),
	}
	if err := p.run(ctx, dir, "env", "GOBIN="+dir, "go", "install", tool+"@"+versions[tool]); err != nil {
		return Published{}, err
	}
	return p, p.compile(ctx, dir)
}

// compile has the go command compile for one operator what all of them need.
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
