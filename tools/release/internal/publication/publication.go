package publication

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/git"
	"github.com/operkit/operkit/tools/release/internal/snapshot"
)

// Draft is a module that is being prepared for publication.
type Draft struct {
	Version string
	Files   snapshot.Files
	// Final is true if the files belong to a version that is published already.
	Final bool
}

// Module is a module as it is published.
type Module struct {
	repository.Module
	snapshot.Published
	// Files are the files of the version. Archive is the zip file with these files.
	Files   snapshot.Files
	Archive []byte
}

// Make publishes all released modules, each after the modules that it requires. draft returns the files and the version
// of a module. Make writes no files.
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
		// The modules that m requires come before m, so their imports are known already.
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

// isOurs reports whether a package belongs to one of the modules.
func isOurs(modules []repository.Module, importPath string) bool {
	return slices.ContainsFunc(modules, func(m repository.Module) bool {
		return importPath == m.Path || strings.HasPrefix(importPath, m.Path+"/")
	})
}

// FromTree returns the released modules of the working tree. versions are their versions by path. All modules that
// aren't in versions share one version, which depends on the time of the last commit and on the contents of all
// modules. With the same commit and contents the version is the same. It is lower than any release.
func FromTree(ctx context.Context, r *repository.Repository, versions map[string]string) ([]Module, error) {
	released, err := r.Released()
	if err != nil {
		return nil, err
	}
	if err := checkVersions(released, versions); err != nil {
		return nil, err
	}
	files := map[string]snapshot.Files{}
	for _, m := range released {
		if files[m.Path], err = snapshot.Tree(ctx, r, m); err != nil {
			return nil, err
		}
	}
	at, err := git.Dir(r.Root).Time(ctx)
	if err != nil {
		return nil, err
	}
	other := pseudo(at, files)
	return Make(ctx, r, func(_ context.Context, m repository.Module) (Draft, error) {
		version, given := versions[m.Path]
		if !given {
			_, major, _ := module.SplitPathVersion(m.Path)
			version = module.PseudoVersion(strings.TrimLeft(major, "/."), "", at, other)
		}
		return Draft{Version: version, Files: files[m.Path]}, nil
	})
}

// pseudo returns the last part of a pseudo-version: twelve digits that depend on the contents of modules.
func pseudo(at time.Time, files map[string]snapshot.Files) string {
	sum := sha256.New()
	fmt.Fprintln(sum, at.Unix())
	for _, path := range slices.Sorted(maps.Keys(files)) {
		for _, name := range slices.Sorted(maps.Keys(files[path])) {
			text := files[path][name]
			fmt.Fprintf(sum, "%s %s %d\n", path, name, len(text))
			_, _ = sum.Write(text) // a hash never returns an error
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

func checkVersions(released []repository.Module, versions map[string]string) error {
	for path, version := range versions {
		if !slices.ContainsFunc(released, func(m repository.Module) bool { return m.Path == path }) {
			return fmt.Errorf("version %s of %s: no released module has this path", version, path)
		}
		if semver.Canonical(version) != version {
			return fmt.Errorf("version %q of %s: want a version like v0.1.0", version, path)
		}
		if err := module.Check(path, version); err != nil {
			return fmt.Errorf("version %s of %s: %w", version, path, err)
		}
	}
	return nil
}
