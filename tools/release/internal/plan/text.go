package plan

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/changelog"
	"github.com/operkit/operkit/tools/release/internal/git"
	"github.com/operkit/operkit/tools/release/internal/publication"
	"github.com/operkit/operkit/tools/release/internal/snapshot"
)

// Write prints the plan for people: the table, the changes of APIs, the tags, and the new texts of the changelogs.
func (p Plan) Write(out io.Writer) error {
	if len(p.Modules) == 0 {
		_, err := io.WriteString(out, "Nothing to release: no module has changed since its last tag.\n")
		return err
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "MODULE\tLAST\tNEXT\tCHANGE\tWHY") // writing to a strings.Builder never fails
	for _, m := range p.Modules {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", m.Module, cmp.Or(m.Last, "-"), m.Next, m.Change, strings.Join(m.Reasons, "; "))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	p.writeAPI(&text)
	text.WriteString("\nTags, in this order:\n")
	for _, m := range p.Modules {
		text.WriteString("  " + m.Tag + "\n")
	}
	text.WriteString("\nChangelogs:\n")
	for _, m := range p.Modules {
		name := strings.TrimPrefix(m.Module+"/"+repository.ChangelogFile, "./")
		fmt.Fprintf(&text, "  %s\n%s", name, indent(changelog.Heading(m.Next, p.Day)+"\n\n"+m.Changelog+"\n", "    "))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (p Plan) writeAPI(text *strings.Builder) {
	changes := func(m Module) bool { return len(m.Breaking)+len(m.Added) > 0 }
	if slices.ContainsFunc(p.Modules, changes) {
		text.WriteString("\nChanges of APIs (- breaks callers, + is new):\n")
		writeChanges(text, p.Modules)
	}
}

// writeChanges prints the changes of the modules' APIs. It skips modules without changes.
func writeChanges(text *strings.Builder, modules []Module) {
	for _, m := range modules {
		if len(m.Breaking)+len(m.Added) > 0 {
			text.WriteString("  " + m.Module + "\n")
		}
		for _, line := range m.Breaking {
			text.WriteString("    - " + line + "\n")
		}
		for _, line := range m.Added {
			text.WriteString("    + " + line + "\n")
		}
	}
}

func indent(text, by string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			out.WriteString(by)
		}
		out.WriteString(line)
	}
	return out.String()
}

// named is how many names a reason lists. It has only the number of the other names.
const named = 3

// reasons returns the reasons why a module is released, the most important reason first.
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

// moved lists the siblings that a module requires and that the plan releases, with their new versions.
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

// changelog returns the section of the next version: the text under Unreleased, or else the subjects of the commits, or
// else the reasons of the plan.
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
		subjects, err := git.Dir(p.repository.Root).Subjects(ctx, tagOf(m, f.last), m.Dir, p.repository.Nested(m))
		if err != nil {
			return "", err
		}
		if lines = subjects; len(lines) == 0 { // the changes aren't committed yet
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

// Publish returns all released modules as they will be after the release. The modules of the plan come from the working
// tree, with their new changelogs; the others come from their tags.
func (p Plan) Publish(ctx context.Context, r *repository.Repository) ([]publication.Module, error) {
	return publication.Make(ctx, r, func(ctx context.Context, m repository.Module) (publication.Draft, error) {
		if kept, is := p.Kept[m.Path]; is {
			files, err := snapshot.Revision(ctx, r, m, tagOf(m, kept))
			return publication.Draft{Version: kept, Files: files, Final: true}, err
		}
		files, err := snapshot.Tree(ctx, r, m)
		if err != nil {
			return publication.Draft{}, err
		}
		for _, planned := range p.Modules {
			if planned.Path == m.Path {
				text := changelog.Release(string(files[repository.ChangelogFile]), planned.Next, p.Day, planned.Changelog)
				files[repository.ChangelogFile] = []byte(text)
				return publication.Draft{Version: planned.Next, Files: files}, nil
			}
		}
		return publication.Draft{}, fmt.Errorf("module %s: the plan doesn't know it: make the plan again", m.Dir)
	})
}
