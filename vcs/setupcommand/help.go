package setupcommand

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// examples are typical calls.
const examples = `  setup-vcs --source . --destination ../operator_vcs
  setup-vcs -s . -d ../vcs -b 'release/.*' --force --verify
  setup-vcs -s . -d ../vcs -t '2\.\d+\.\d+' --dry-run
  setup-vcs -s /src -d /versions --no-tags -b main -o json`

// description has paragraphs about what the command does.
var description = []string{
	`The new repository has one commit for each chosen tag or branch, with the same files, on an empty root commit. It has nothing else of the source: no other commit, ` +
		`no author, no message, no deleted file. The same source gives the same ids. The git program isn't needed.`,
	`The new repository is made beside the destination, and is moved there when it is complete. If anything fails, the destination is left as it was.`,
}

// chapter is a section of the help: paragraphs, and rows of two cells.
type chapter struct {
	title      string
	paragraphs []string
	rows       [][]string
}

var chapters = []chapter{
	{title: "Expressions", paragraphs: []string{
		`Expressions have the syntax of Go (RE2, without look-ahead). A name such as 1.2.0 or release/1.x is kept if an expression matches the whole name, or with ` +
			`--prefix its beginning. A comma is part of an expression: repeat the flag for several expressions. If a tag and a branch have the same name, the tag is kept. ` +
			`-te is understood as -t, as in oper8's command.`,
	}},
	{title: "Report", paragraphs: []string{
		`Kept and skipped references are printed to standard output, progress and warnings to standard error. The progress is a bar on a terminal, and plain lines elsewhere. ` +
			`With -o json the report is a document with the fields source, destination, dryRun, verified, root, kept (each with kind, name, sourceRef, ` +
			`sourceCommit, ref, commit, tree), skipped (kind, name, reason), warnings, objects, bytes, sourceBytes and seconds.`,
	}},
	{title: "Exit codes", rows: exitCodes},
	{title: "Environment", paragraphs: []string{
		`The output has no colours, so NO_COLOR changes nothing. With TERM=dumb there is no bar. The command reads no environment variables of git and no configuration of git.`,
	}},
}

const (
	// defaultColumns is the width of the help without a terminal. maxColumns is the maximum width on a terminal.
	defaultColumns, maxColumns = 80, 100
	// codeWidth is the width of the first cell of a row.
	codeWidth = 6
)

// help returns the help text of the command, columns wide.
func help(cmd *cobra.Command, columns int) string {
	columns = min(cmp.Or(columns, defaultColumns), maxColumns)
	var out strings.Builder
	paragraphs := func(texts []string, before string) {
		for i, text := range texts {
			if i > 0 {
				out.WriteString("\n")
			}
			for _, line := range wrap(text, columns-len(before)) {
				out.WriteString(before + line + "\n")
			}
		}
	}
	paragraphs([]string{cmd.Name() + " - " + cmd.Short}, "")
	fmt.Fprintf(&out, "\nUsage:\n%s%s\n\n", indent, cmd.UseLine())
	paragraphs(description, "")
	fmt.Fprintf(&out, "\nExamples:\n%s\n", strings.ReplaceAll(cmd.Example, "  setup-vcs", indent+cmd.CommandPath()))
	out.WriteString("\nFlags:\n")
	for line := range strings.Lines(cmd.LocalFlags().FlagUsagesWrapped(columns)) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	for _, c := range chapters {
		out.WriteString("\n" + c.title + ":\n")
		paragraphs(c.paragraphs, indent)
		for _, row := range c.rows {
			code := row[0]
			for _, line := range wrap(row[1], columns-len(indent)-codeWidth) {
				fmt.Fprintf(&out, "%s%-*s%s\n", indent, codeWidth, code, line)
				code = ""
			}
		}
	}
	if cmd.HasAvailableInheritedFlags() {
		out.WriteString("\n")
		paragraphs([]string{fmt.Sprintf("See '%s --help' for the flags that all commands have.", cmd.Root().CommandPath())}, "")
	}
	return out.String()
}
