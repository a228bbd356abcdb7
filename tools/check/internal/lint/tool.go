package lint

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Folder is that of the module which requires the tools, each at one version.
const Folder = "tools/lint"

// build compiles the tool of a package into .cache/bin and gives its path. If nothing has changed that takes no time.
func build(ctx context.Context, r *repository.Repository, pkg string) (string, error) {
	program := filepath.Join(r.Root, ".cache", "bin", path.Base(pkg))
	env := repository.Setenv(os.Environ(), "GOWORK", "off")
	cmd := process.Command(ctx, filepath.Join(r.Root, Folder), process.Roomy(env), "go", "build", "-o", program, pkg)
	if _, err := process.Output(ctx, cmd); err != nil {
		return "", fmt.Errorf("%s: %w", Folder, err)
	}
	return program, nil
}
