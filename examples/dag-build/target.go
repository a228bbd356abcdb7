package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operkit/operkit/dag"
)

// target is a paragraph of a build file: a line "name: dependency dependency", and below it the
// commands, each on an indented line.
type target struct {
	name         string
	line         int
	dependencies []string
	commands     []string
}

// parse reads a build file. Empty lines and lines that begin with # are ignored. The error has all mistakes in the
// file.
func parse(file string, content io.Reader) ([]target, error) {
	var targets []target
	var errs []error
	lines := bufio.NewScanner(content)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimRight(lines.Text(), " \t\r")
		text := strings.TrimLeft(line, " \t")
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case text != line && len(targets) == 0:
			errs = append(errs, fmt.Errorf("%s:%d: command %q: there is no target above it", file, number, text))
		case text != line:
			last := &targets[len(targets)-1]
			last.commands = append(last.commands, text)
		default:
			name, rest, found := strings.Cut(text, ":")
			if name = strings.TrimSpace(name); !found || name == "" || strings.ContainsAny(name, " \t") {
				errs = append(errs, fmt.Errorf("%s:%d: %q: want a line \"name: dependency dependency\", or an indented command", file, number, text))
			}
			targets = append(targets, target{name: name, line: number, dependencies: strings.Fields(rest)})
		}
	}
	if err := lines.Err(); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", file, err))
	}
	return targets, errors.Join(errs...)
}

// graphOf returns the graph of a file's targets.
func graphOf(file string, targets []target) (*dag.Graph[target], error) {
	g := dag.New[target]()
	var errs []error
	for _, t := range targets {
		if err := g.Add(t.name, t); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, t.line, err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for _, t := range targets {
		for _, dependency := range t.dependencies {
			if err := g.Depend(t.name, dependency); err != nil {
				errs = append(errs, fmt.Errorf("%s:%d: target %s: %w", file, t.line, t.name, err))
			}
		}
	}
	return g, errors.Join(errs...)
}

// only removes all targets from the graph except for the wanted targets and their dependencies. Without wanted targets
// it keeps all.
func only(g *dag.Graph[target], wanted []string) error {
	if len(wanted) == 0 {
		return nil
	}
	var needed []string
	for _, name := range wanted {
		if _, found := g.Node(name); !found {
			return fmt.Errorf("target %q: not in the build file", name)
		}
		needed = append(append(needed, name), g.Descendants(name)...)
	}
	for _, name := range g.Names() {
		if !slices.Contains(needed, name) {
			g.Remove(name)
		}
	}
	return nil
}
