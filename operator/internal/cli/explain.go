package cli

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/internal/messages"
	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/spf13/cobra"
)

func (o *Operator) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain REASON | WORDS...",
		Short: "Explain a reason, a line of the log or an error: what it means, why it appears, and what to do",
		Example: fmt.Sprintf("  %[1]s explain ConfigError\n  %[1]s explain \"hasn't observed the object yet\"\n  %[1]s explain deploy.OwnedError",
			o.Called),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return Usage("explain needs a reason or words of a message: see '%s explain --help'", o.Called)
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return reasons(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(args, " ")
			found := messages.Find(text)
			if len(found) == 0 {
				return Usage("%q: there is no entry%s", text, cmp.Or(settings.Suggestion(text, reasons(), ""), ": try fewer words"))
			}
			return o.explain(cmd.OutOrStdout(), found)
		},
	}
}

// reasons returns the names of all entries without a space.
func reasons() (names []string) {
	for _, section := range messages.Sections() {
		for _, entry := range section.Entries {
			if !strings.Contains(entry.Name, " ") {
				names = append(names, entry.Name)
			}
		}
	}
	return names
}

// mostExplained limits the entries that are printed in full.
const mostExplained = 4

// link matches a link in Markdown.
var link = regexp.MustCompile(`\[([^]]+)\]\(([^)]+)\)`)

// explain prints entries, or only their headings if there are many. Commands and annotations are those of this operator.
func (o *Operator) explain(out io.Writer, found []messages.Found) error {
	if columnsOf(out) == 0 {
		out = paper{out, helpColumns}
	}
	if len(found) > mostExplained {
		rows := [][]string{{fmt.Sprintf("%d ENTRIES", len(found)), "EXPLAIN ONE OF THEM"}}
		for _, one := range found {
			rows = append(rows, []string{one.One, one.Heading()})
		}
		return writeWhole(out, rows)
	}
	own := strings.NewReplacer("`NAME ", "`"+o.Called+" ", "`"+deploy.Domain+"/", "`"+o.Domain+"/")
	for i, one := range found {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, strings.Join(wrap(one.Heading(), columnsOf(out)), "\n"))
		var rows [][]string
		for _, row := range [][]string{
			{"  Is", strings.Trim(one.One+"; "+one.Where, "; ")}, {"  Text", strings.Join(one.Texts, "; ")},
			{"  Meaning", one.Meaning}, {"  Cause", one.Cause}, {"  To do", one.Remedy}, {"  Page", page(one.Entry, columnsOf(out))},
		} {
			if row[1] != "" {
				rows = append(rows, []string{row[0], own.Replace(link.ReplaceAllString(row[1], "$1 ($2)"))})
			}
		}
		if err := writeWhole(out, rows); err != nil {
			return err
		}
	}
	return nil
}

// page returns the link to an entry, without its anchor if there is no room for it.
func page(entry messages.Entry, columns int) string {
	if len("  Meaning")+gap+len(entry.Anchor()) > columns {
		return messages.File
	}
	return entry.Anchor()
}
