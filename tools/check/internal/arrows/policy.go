package arrows

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/importgraph"
	"github.com/operkit/operkit/tools/check/repository"
)

// Policy has the rules for the imports of a repository.
type Policy struct {
	Rooms []Room
	Bans  []Ban
}

// Room is a row of the design's table: what the packages of one module may import directly.
//
// A pattern is an import path. If it ends in /..., it stands for the path and everything below it. A star as an element
// stands for any one element. A pattern that starts with a dot is a folder of this repository.
type Room struct {
	// Module is the folder of the module.
	Module string
	// Siblings are the other packages of this repository that it may import. Its tests may also import tools.
	Siblings []string
	// Libraries are the packages of other repositories, besides the standard library, that it may import outside of
	// tests. With Any set it may import all of them.
	Libraries []string
	Any       bool
}

// Ban forbids imports.
type Ban struct {
	// From are the packages that the ban holds for, except for those in Except.
	From, Except []string
	// To are the packages that must not be imported. With Links set, indirect imports are forbidden, too.
	To    []string
	Links bool
	// Tests is set if the ban holds for the imports of tests, too.
	Tests bool
	// Reason explains the ban in findings.
	Reason string
}

// Check finds every import of the repository that breaks [House], every package that cannot be loaded, and every
// library module without a room in House. It leaves out the modules in uncoupled, which may link anything.
func Check(ctx context.Context, r *repository.Repository, _ repository.Options) (report repository.Report, err error) {
	coupled := slices.DeleteFunc(slices.Clone(r.Modules), func(m repository.Module) bool { return matches(m.Path, uncoupled) })
	for _, group := range r.Groups(coupled) {
		g, problems, err := importgraph.Load(ctx, group.Folder, group.Environ, group.Patterns...)
		if err != nil {
			return report, fmt.Errorf("%s: %w", group.Subject, err)
		}
		report.Problems = append(report.Problems, problems...)
		for from := range g {
			report.Problems = append(report.Problems, House.findings(g, from)...)
		}
	}
	for _, m := range r.Modules {
		known := slices.ContainsFunc(House.Rooms, func(room Room) bool { return room.Module == m.Dir })
		if !strings.HasPrefix(m.Dir, "tools/") && !known {
			report.Problems = append(report.Problems, m.Dir+": the design's table has no row for this module")
		}
	}
	slices.Sort(report.Problems)
	report.Problems = slices.Compact(report.Problems)
	return report, nil
}

// findings compares the imports of one package with the policy. It returns a line for each violation, with the chain of
// imports and the reason. An import that breaks several rules is reported once, with the first reason.
func (p Policy) findings(g importgraph.Graph, from string) (lines []string) {
	seen := map[string]bool{}
	add := func(reason string, test bool, to ...string) {
		first := from
		if test {
			first += " (test)"
		}
		chain := strings.Join(append([]string{first}, to...), " -> ")
		if !seen[chain] {
			lines = append(lines, chain+": "+reason)
		}
		seen[chain] = true
	}
	room := Room{Any: true}
	for _, r := range p.Rooms { // of nested modules, the room of the innermost one applies
		if len(r.Module) > len(room.Module) && matches(from, []string{"./" + r.Module + "/..."}) {
			room = r
		}
	}
	for _, to := range g[from].Imports {
		if room.Module != "" && !room.allows(g, to) {
			add(room.reason(), false, to)
		}
	}
	for _, to := range g[from].Tests() {
		if room.Module != "" && ours(to) && !room.allows(g, to) && !matches(to, []string{tools}) {
			add(room.reason(), true, to)
		}
	}
	for _, ban := range p.Bans {
		if ban.holds(from) {
			ban.findings(g, from, add)
		}
	}
	return lines
}

func (room Room) allows(g importgraph.Graph, to string) bool {
	switch {
	case ours(to):
		return matches(to, []string{"./" + room.Module + "/..."}) || matches(to, room.Siblings)
	case g[to].Standard || to == "C" || room.Any:
		return true
	}
	return matches(to, room.Libraries) || matches(to, []string{sync})
}

// reason returns the rule of the room as a text.
func (room Room) reason() string {
	others := append([]string{sync}, room.Libraries...)
	if room.Any {
		others = []string{"any library"}
	}
	allowed := slices.Concat([]string{"its own packages", "the standard library"}, room.Siblings, others)
	return room.Module + " may import only " + strings.Join(allowed, ", ")
}

func (b Ban) holds(path string) bool { return matches(path, b.From) && !matches(path, b.Except) }

// findings compares one package with a ban. If several packages on a chain violate the same ban, only the one next to
// the forbidden package is reported, so that a wrong import is reported once.
func (b Ban) findings(g importgraph.Graph, from string, add func(reason string, test bool, to ...string)) {
	forbidden := func(to string) bool { return to != from && matches(to, b.To) }
	check := func(imports []string, test bool) {
		for _, to := range imports {
			if forbidden(to) {
				add(b.Reason, test, to)
			} else if b.Links && !b.holds(to) {
				if chain := g.Chain([]string{to}, forbidden); chain != nil {
					add(b.Reason, test, chain...)
				}
			}
		}
	}
	check(g[from].Imports, false)
	if b.Tests {
		check(g[from].Tests(), true)
	}
}

// matches reports whether the import path fits one of the patterns.
func matches(importPath string, patterns []string) bool {
	elements := strings.Split(importPath, "/")
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		base, tree := strings.CutSuffix(absolute(pattern), "/...")
		count := strings.Count(base, "/") + 1
		if len(elements) < count || len(elements) > count && !tree {
			return false
		}
		fits, _ := path.Match(base, strings.Join(elements[:count], "/")) // fails only for a malformed pattern
		return fits
	})
}

// absolute returns the import path of a pattern that starts with a dot; other patterns are returned unchanged.
func absolute(pattern string) string {
	if rest, local := strings.CutPrefix(pattern, "./"); local {
		return repository.Prefix + "/" + rest
	}
	return pattern
}

// ours reports whether the package is one of this repository.
func ours(path string) bool { return strings.HasPrefix(path, repository.Prefix+"/") }
