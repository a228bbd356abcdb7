package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build compiles the operator of a folder below root/operators and returns its program. All are built alike.
func Build(ctx context.Context, root, operator, folder string) (string, error) {
	path := filepath.Join(folder, operator)
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./operators/"+operator)
	command.Dir = root
	command.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("operator %s: go build: %w\n%s", operator, err, out)
	}
	return path, nil
}
