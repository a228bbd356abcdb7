package hygiene

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/operkit/operkit/tools/check/internal/process"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// marker is a line that registers a generator.
var marker = regexp.MustCompile(`(?m)^//go:generate `)

// Generators lists the modules in which a Go file asks for a generator with a line //go:generate.
func Generators(r *repository.Repository) ([]repository.Module, error) {
	var found []repository.Module
	for _, m := range r.Modules {
		files, err := m.GoFiles(r.Root)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if marker.Match(text) {
				found = append(found, m)
				break
			}
		}
	}
	return found, nil
}

// Generate runs every generator of the repository and prints the module it is at, and what the generators say, to out.
// Generators are compiled as operators are for their images, of which tests compile some: what both need is compiled once.
func Generate(ctx context.Context, r *repository.Repository, out io.Writer) error {
	modules, err := Generators(r)
	if err != nil {
		return err
	}
	for _, m := range modules {
		_, _ = fmt.Fprintf(out, "generate %s\n", m.Dir)
		var said bytes.Buffer
		env := repository.Setenv(repository.AddFlags(r.Environ(m), "-trimpath"), "CGO_ENABLED", "0")
		cmd := process.Command(ctx, r.Folder(m), env, "go", "generate", "./...")
		both := io.MultiWriter(out, &said)
		cmd.Stdout, cmd.Stderr = both, both
		if err := process.Run(ctx, cmd); err != nil {
			return fmt.Errorf("%s: %s: %w\n%s", m.Dir, process.Line(cmd), err, &said)
		}
	}
	return nil
}

// Generated runs every generator and gives the difference of each file that changed by that. It compares contents
// before and after, so it works while other changes are not committed yet, and it leaves the new contents in place.
func Generated(ctx context.Context, r *repository.Repository) ([]string, error) {
	modules, err := Generators(r)
	if err != nil || len(modules) == 0 {
		return nil, err
	}
	before, err := snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := Generate(ctx, r, io.Discard); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return []string{err.Error()}, nil
	}
	after, err := snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := untouch(r, before, after); err != nil {
		return nil, err
	}
	return differences(ctx, before, after)
}
