package plan

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/operkit/operkit/tools/release/internal/changelog"
	"github.com/operkit/operkit/tools/release/internal/repository"
)

// Write prints the plan for people: the table, the changes of APIs, the tags, and what changelogs will say.
func (p Plan) Write(out io.Writer) error {
	var text strings.Builder
	if len(p.Modules) == 0 {
		text.WriteString("Nothing to release: no module has changed since its last tag.\n")
		_, err := io.WriteString(out, text.String())
		return err
	}
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "MODULE\tLAST\tNEXT\tCHANGE\tWHY") // a strings.Builder takes all
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
		name := strings.TrimPrefix(m.Module+"/"+repository.ChangelogName, "./")
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

// writeChanges prints the changes of the APIs of those modules that have any.
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
