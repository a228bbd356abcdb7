package gotest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
)

// minimizing limits the time that the go command spends on shortening one interesting input: the target's time divided
// by minimizing. Meanwhile the go command tries no other inputs, and by default it takes up to a minute.
const minimizing = 12

// target is one fuzz target.
type target struct{ pkg, name string }

// Fuzz runs every fuzz target of modules for the given time, one after another. The error joins the errors of all
// targets that failed. The go command leaves a failing input in the testdata folder of the package.
func (r *Runner) Fuzz(ctx context.Context, modules []repository.Module, each time.Duration) error {
	var problems error
	for _, m := range modules {
		if !m.HasPackages(r.Repository.Root) {
			continue
		}
		targets, err := r.targets(ctx, m)
		problems = errors.Join(problems, err)
		for _, t := range targets {
			if ctx.Err() != nil {
				return errors.Join(problems, ctx.Err())
			}
			r.printf("fuzz %s %s for %s\n", t.pkg, t.name, each)
			problems = errors.Join(problems, r.fuzz(ctx, m, t, each))
		}
	}
	return problems
}

func (r *Runner) fuzz(ctx context.Context, m repository.Module, t target, each time.Duration) error {
	args := append([]string{"test"}, m.BuildFlags(false)...)
	args = append(args, "-run=^$", "-fuzz=^"+t.name+"$", "-timeout=0",
		"-fuzztime="+each.String(), "-fuzzminimizetime="+(each/minimizing).String(), t.pkg)
	cmd := process.Command(ctx, r.Repository.Folder(m), append(r.Repository.Environ(m), r.Env...), "go", args...)
	said, err := process.Combined(ctx, cmd, r.Stdout)
	if process.Failed(err) && timeWasUp.MatchString(said) {
		r.printf("fuzz %s %s: the time ended; no input failed\n", t.pkg, t.name)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", t.pkg, t.name, err)
	}
	return nil
}

// timeWasUp matches the output of a target that found no failing input and whose time ended while it tried an input. Up
// to Go 1.26 the coordinator can report its own deadline as a failure (https://go.dev/issue/75804). A real failure
// prints more.
var timeWasUp = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \([0-9.]+s\)\n    context deadline exceeded\nFAIL$`)

// targets lists the fuzz targets of a module.
func (r *Runner) targets(ctx context.Context, m repository.Module) ([]target, error) {
	args := append([]string{"test"}, m.BuildFlags(false)...)
	args = append(args, "-list=^Fuzz", "./...")
	out, err := process.Output(ctx, process.Command(ctx, r.Repository.Folder(m), r.Repository.Environ(m), "go", args...))
	if err != nil {
		return nil, fmt.Errorf("%s: fuzz targets: %w", m.Dir, err)
	}
	return parseTargets(string(out)), nil
}

// parseTargets reads what go test -list prints: the names of a package, then its line 'ok  <package>  0.1s'.
func parseTargets(out string) []target {
	var targets []target
	var names []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) > 1 && fields[0] == "ok":
			for _, name := range names {
				targets = append(targets, target{pkg: fields[1], name: name})
			}
			names = nil
		}
	}
	return targets
}
