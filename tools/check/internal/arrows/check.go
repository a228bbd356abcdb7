package arrows

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/importgraph"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Check gives one line for every import of the repository that breaks the policy, for every package that cannot be
// loaded, and for every library module that the policy does not know. None means that all is well.
func Check(ctx context.Context, r *repository.Repository, policy Policy) ([]string, error) {
	graphs, problems, err := loadRepository(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, m := range r.Modules {
		if !strings.HasPrefix(m.Dir, "tools/") && !policy.knows(m.Dir) {
			problems = append(problems, fmt.Sprintf("%s: the design's table has no row for this module", m.Dir))
		}
	}
	for _, g := range graphs {
		for _, finding := range policy.findings(g) {
			problems = append(problems, finding.String())
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems), nil
}

func (p Policy) knows(module string) bool {
	return slices.ContainsFunc(p.Rooms, func(room Room) bool { return room.Module == module })
}

// findings holds a graph against the policy. An import that breaks several rules is told once, with the first reason.
func (p Policy) findings(g importgraph.Graph) []Finding {
	var found []Finding
	for _, path := range ourPackages(g) {
		of := p.findingsOf(g, path)
		for i, finding := range of {
			if !slices.ContainsFunc(of[:i], finding.sameImport) {
				found = append(found, finding)
			}
		}
	}
	return found
}

func (p Policy) findingsOf(g importgraph.Graph, path string) []Finding {
	var found []Finding
	if room, is := p.room(path); is {
		found = room.findings(g, path)
	}
	for _, ban := range p.Bans {
		if matches(path, ban.From) && !matches(path, ban.Except) {
			found = append(found, ban.findings(g, path)...)
		}
	}
	return found
}

// room is the row of the table for a package: of a module inside another one the inner one's.
func (p Policy) room(path string) (inner Room, is bool) {
	for _, room := range p.Rooms {
		if len(room.Module) > len(inner.Module) && matches(path, []string{"./" + room.Module + "/..."}) {
			inner, is = room, true
		}
	}
	return inner, is
}

// findings holds the direct imports of one package against a row of the table.
func (room Room) findings(g importgraph.Graph, path string) []Finding {
	var found []Finding
	for _, to := range g[path].Imports {
		if !room.allows(g, to) {
			found = append(found, Finding{Chain: []string{path, to}, Reason: room.Reason})
		}
	}
	for _, to := range g[path].Tests() {
		if ours(to) && !room.allows(g, to) && !matches(to, []string{tools}) {
			found = append(found, Finding{Chain: []string{path, to}, Test: true, Reason: room.Reason})
		}
	}
	return found
}

func (room Room) allows(g importgraph.Graph, to string) bool {
	switch {
	case ours(to):
		return matches(to, []string{"./" + room.Module + "/..."}) || matches(to, room.Siblings)
	case g[to].Standard || to == "C" || room.Any:
		return true
	}
	return matches(to, room.Libraries)
}

// findings holds one package against a ban. Of packages that import each other and are held to the same ban only the
// one next to the forbidden package is a finding, so that a wrong import is told once.
func (b Ban) findings(g importgraph.Graph, path string) []Finding {
	forbidden := func(to string) bool { return to != path && matches(to, b.To) }
	held := func(to string) bool { return matches(to, b.From) && !matches(to, b.Except) }
	var found []Finding
	check := func(paths []string, test bool) {
		for _, to := range paths {
			if forbidden(to) {
				found = append(found, Finding{Chain: []string{path, to}, Test: test, Reason: b.Reason})
				continue
			}
			if !b.Links || held(to) {
				continue
			}
			if chain := g.Chain([]string{to}, forbidden); chain != nil {
				found = append(found, Finding{Chain: append([]string{path}, chain...), Test: test, Reason: b.Reason})
			}
		}
	}
	check(g[path].Imports, false)
	if b.Tests {
		check(g[path].Tests(), true)
	}
	return found
}
