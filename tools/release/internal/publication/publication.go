package publication

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/operkit/operkit/tools/release/internal/repository"
	"github.com/operkit/operkit/tools/release/internal/snapshot"
)

// Draft is a module on its way to be published.
type Draft struct {
	Version string
	Files   snapshot.Files
	// Final says that the files are those of a version that is published already.
	Final bool
}

// Module is one as it is published.
type Module struct {
	repository.Module
	snapshot.Published
	// Files are those of the version, Archive is the zip file of them.
	Files   snapshot.Files
	Archive []byte
}

// Make publishes all released modules, of which draft gives the files and the version, so that each comes after those
// that it requires. Nothing is written.
func Make(ctx context.Context, r *repository.Repository, draft func(context.Context, repository.Module) (Draft, error)) ([]Module, error) {
	released, err := r.Released()
	if err != nil {
		return nil, err
	}
	known, needs := map[string]snapshot.Published{}, imports{}
	var made []Module
	for _, m := range released {
		d, err := draft(ctx, m)
		if err != nil {
			return nil, err
		}
		// What a module needs comes before it, so that its imports are known.
		if err := needs.read(m.Path, d.Files, func(path string) bool { return isOurs(released, path) }); err != nil {
			return nil, err
		}
		if !d.Final {
			if d.Files, err = d.Files.Publish(m.Dir, known, needs.siblings(m.Path), r.Ours); err != nil {
				return nil, err
			}
		}
		p := Module{Module: m, Files: d.Files}
		p.Version = d.Version
		if p.Archive, err = p.Files.Zip(module.Version{Path: m.Path, Version: d.Version}); err != nil {
			return nil, err
		}
		if p.Sum, p.ModSum, err = p.Files.Sums(p.Archive); err != nil {
			return nil, err
		}
		known[m.Path] = p.Published
		made = append(made, p)
	}
	return made, nil
}

// isOurs tells whether a package belongs to one of the modules.
func isOurs(modules []repository.Module, importPath string) bool {
	return slices.ContainsFunc(modules, func(m repository.Module) bool {
		return importPath == m.Path || strings.HasPrefix(importPath, m.Path+"/")
	})
}
