package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/tools/release/internal/repository"
)

// named is how many names a reason has before it counts the rest.
const named = 3

// reasons say why a module is released, the most important first.
func (p *planner) reasons(m repository.Module) []string {
	f := p.found[m.Path]
	var reasons []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			reasons = append(reasons, what+": "+few(names))
		}
	}
	if f.last == "" {
		reasons = append(reasons, "first release")
	}
	add("breaking", f.breaking)
	add("added", f.added)
	add("changed", f.files)
	if f.last != "" {
		add("requires", p.moved(m))
	}
	for _, companion := range p.repository.Companions(m.Path) {
		if other, _ := p.repository.Module(companion); companion != m.Path {
			reasons = append(reasons, "same version as "+other.Dir)
		}
	}
	return reasons
}

// moved lists the siblings that a module requires and that are released, with their versions.
func (p *planner) moved(m repository.Module) []string {
	var names []string
	for _, sibling := range p.repository.Siblings(m) {
		if p.moves(sibling.Path) {
			names = append(names, sibling.Dir+" "+p.found[sibling.Path].next)
		}
	}
	return names
}

func few(names []string) string {
	if len(names) <= named+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), len(names)-named)
}

// changelog gives the text of the section of the next version: what stands under Unreleased, or else the subjects of the
// commits, or else what the plan itself knows.
func (p *planner) changelog(ctx context.Context, m repository.Module) (string, error) {
	f := p.found[m.Path]
	if f.unreleased != "" {
		return f.unreleased, nil
	}
	if f.last == "" {
		return "- First release.", nil
	}
	var lines []string
	if len(f.files) > 0 {
		subjects, err := p.repository.Git().Subjects(ctx, tagOf(m, f.last), m.Dir, p.repository.Nested(m))
		if err != nil {
			return "", err
		}
		if lines = subjects; len(lines) == 0 { // they aren't committed yet
			lines = []string{"Changed: " + few(f.files) + "."}
		}
	}
	for _, sibling := range p.moved(m) {
		lines = append(lines, "Requires "+sibling+".")
	}
	if len(lines) == 0 {
		lines = []string{"No changes."}
	}
	return "- " + strings.Join(lines, "\n- "), nil
}
