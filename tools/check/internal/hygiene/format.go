package hygiene

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Format gives a line for every Go file that is not formatted as gofmt does. With write it formats these files instead
// and gives a line only for those that it can't.
func Format(ctx context.Context, r *repository.Repository, write bool) ([]string, error) {
	files, err := r.Files(ctx)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, name := range files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		problem, err := formatFile(filepath.Join(r.Root, filepath.FromSlash(name)), write)
		if err != nil {
			return nil, err
		}
		if problem != "" {
			problems = append(problems, name+": "+problem)
		}
	}
	return problems, nil
}

func formatFile(path string, write bool) (problem string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	formatted, err := format.Source(text)
	switch {
	case err != nil:
		return fmt.Sprintf("cannot be parsed: %v", err), nil
	case bytes.Equal(text, formatted):
		return "", nil
	case write:
		return "", os.WriteFile(path, formatted, 0o644)
	}
	return "not formatted; run make fmt", nil
}
