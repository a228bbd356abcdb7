package api

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"

	"github.com/operkit/operkit/tools/release/internal/version"
)

// Difference has the changes of a module's API, one line each, sorted.
type Difference struct {
	Breaking, Added []string
}

// Change returns the greatest change, or [version.None] if there are no lines.
func (d Difference) Change() version.Change {
	switch {
	case len(d.Breaking) > 0:
		return version.Breaking
	case len(d.Added) > 0:
		return version.Added
	}
	return version.None
}

// Compare compares two states of a module in two folders; the module must build in both. It leaves out packages that
// other modules can't import: commands and internal packages. It changes nothing in the folder after, but may change
// go.sum in the folder before. The go command uses the flags in GOFLAGS: with -race it uses packages that were compiled
// for tests under the race detector.
func Compare(ctx context.Context, modulePath, before, after string) (Difference, error) {
	old, err := load(ctx, modulePath, before, "-mod=mod")
	if err != nil {
		return Difference{}, fmt.Errorf("module %s before the change: %w", modulePath, err)
	}
	current, err := load(ctx, modulePath, after, "-mod=readonly")
	if err != nil {
		return Difference{}, fmt.Errorf("module %s: %w", modulePath, err)
	}
	var d Difference
	for _, change := range apidiff.ModuleChanges(old, current).Changes {
		if change.Compatible {
			d.Added = append(d.Added, change.Message)
		} else {
			d.Breaking = append(d.Breaking, change.Message)
		}
	}
	slices.Sort(d.Breaking)
	slices.Sort(d.Added)
	// apidiff reports a method of a generic type once for each instance.
	return Difference{Breaking: slices.Compact(d.Breaking), Added: slices.Compact(d.Added)}, nil
}

// load reads the exported types of packages from the compiler's export data. It compiles only importable packages: a
// command may be large.
func load(ctx context.Context, modulePath, folder, flag string) (*apidiff.Module, error) {
	config := packages.Config{
		Context: ctx, Dir: folder, Mode: packages.NeedName,
		Env: append(os.Environ(), "GOWORK=off", "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" "+flag)),
	}
	listed, err := packages.Load(&config, "./...")
	if err != nil {
		return nil, err
	}
	var public []string
	for _, p := range listed {
		if p.Name != "main" && !strings.Contains("/"+p.PkgPath+"/", "/internal/") {
			public = append(public, p.PkgPath)
		}
	}
	offered := &apidiff.Module{Path: modulePath}
	if len(public) == 0 {
		return offered, nil
	}
	config.Mode |= packages.NeedTypes
	loaded, err := packages.Load(&config, public...)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, p := range loaded {
		for _, problem := range p.Errors {
			problems = append(problems, problem)
		}
		if p.Types == nil {
			p.Types = types.NewPackage(p.PkgPath, p.Name)
		}
		offered.Packages = append(offered.Packages, p.Types)
	}
	return offered, errors.Join(problems...)
}
