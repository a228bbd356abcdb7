package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// Modules is how many modules an operator is compiled of, its own included.
func Modules(ctx context.Context, root, operator string) (int, error) {
	command := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./operators/"+operator)
	command.Dir = root
	command.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	out, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("operator %s: go list: %w", operator, err)
	}
	modules := map[string]bool{}
	for _, module := range strings.Fields(string(out)) {
		modules[module] = true
	}
	return len(modules), nil
}

// Lines counts the lines of an operator's own code that are neither empty nor comments.
func Lines(root, operator string) (int, error) {
	files, err := filepath.Glob(filepath.Join(root, "operators", operator, "*.go"))
	if err != nil {
		return 0, err
	}
	lines := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
	}
	if lines == 0 {
		return 0, fmt.Errorf("operator %s: it has no code in %s", operator, root)
	}
	return lines, nil
}
