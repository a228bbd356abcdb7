package operkit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/release/proxy"
)

const tool = "github.com/operkit/operkit/tools/operkit"

// published is what a stranger has: an environment in which the go command finds all modules, and the program itself.
var published struct {
	env     []string
	operkit string
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "operkit-published-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }() // nobody needs it any more
		err = publish(context.Background(), dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "publish the working tree:", err)
		return 1
	}
	return m.Run()
}

// publish fills a proxy below dir, and installs the program from it.
func publish(ctx context.Context, dir string) error {
	root, err := filepath.Abs("../../..")
	if err != nil {
		return err
	}
	served := filepath.Join(dir, "proxy")
	versions, err := proxy.Fill(ctx, root, served)
	if err != nil {
		return err
	}
	env, err := proxy.Environ(ctx, served)
	if err != nil {
		return err
	}
	cache := filepath.Join(root, ".cache", "operkit", "mod")
	if err := forget(cache, versions[tool]); err != nil {
		return err
	}
	published.env = append(env, "GOMODCACHE="+cache, "GOFLAGS=-modcacherw", "CGO_ENABLED=0", "GOBIN="+dir, "MAKEFLAGS=", "MAKELEVEL=", "KUBECONFIG=", "OPERKIT_DEVCLUSTER=")
	published.operkit = filepath.Join(dir, "operkit")
	install := exec.CommandContext(ctx, "go", "install", tool+"@"+versions[tool])
	install.Dir, install.Env = dir, published.env
	if output, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(install.Args, " "), err, output)
	}
	return nil
}
