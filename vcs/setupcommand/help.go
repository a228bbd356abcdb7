package setupcommand

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// examples are how it is called most.
const examples = `  setup-vcs --source . --destination ../operator_vcs
  setup-vcs -s . -d ../operator_vcs -b 'release/.*' --force --verify
  setup-vcs -s . -d ../operator_vcs -t '2\.\d+\.\d+' --dry-run
  setup-vcs -s /src -d /versions --no-tags -b main -o json`

// description are the paragraphs that say what it does.
var description = []string{
	`It keeps, for each tag or branch that is chosen, one commit on an empty root, with the same files, and nothing else of the source: no other commit, ` +
		`no author, no message, no file that was deleted. The same source gives the same ids. The git program isn't needed.`,
	`The result is made beside the destination, and takes its place when it is complete: whatever fails leaves what was there.`,
}

// chapter is a part of the help: paragraphs, and rows of two cells.
type chapter struct {
	title      string
	paragraphs []string
	rows       [][]string
}

var chapters = []chapter{
	{title: "Expressions", paragraphs: []string{
		`An expression is one of Go (RE2: there is nothing that looks ahead). One has to match all of a name such as 1.2.0 or release/1.x, or with ` +
			`--prefix its beginning. A comma belongs to it: for several repeat the flag. Of a tag and a branch of one name the tag is kept. ` +
			`-te is understood as -t, as oper8's command has it.`,
	}},
	{title: "Report", paragraphs: []string{
		`What is kept and what is skipped, and why, is printed to standard output, progress and warnings to standard error: a bar on a terminal, plain lines elsewhere. ` +
			`With -o json it is a document with the fields source, destination, dryRun, verified, root, kept (each with kind, name, sourceRef, ` +
			`sourceCommit, ref, commit, tree), skipped (kind, name, reason), warnings, objects, bytes, sourceBytes and seconds.`,
	}},
	{title: "Exit codes", rows: exitCodes},
	{title: "Environment", paragraphs: []string{
		`There are no colours, so NO_COLOR changes nothing; with TERM=dumb there is no bar. No variable and no configuration of git is read.`,
	}},
}

const (
	// usual is how many columns the help has where there is no terminal, most how many on a wide one.
	usual, most = 80, 100
	// longestCode is how many columns the first cell of a row has.
	longestCode = 6
)

// help is the page about the command, in so many columns.
func help(cmd *cobra.Command, columns int) string {
	if columns == 0 {
		columns = usual
	}
	columns = min(columns, most)
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
			for _, line := range wrap(row[1], columns-len(indent)-longestCode) {
				fmt.Fprintf(&out, "%s%-*s%s\n", indent, longestCode, code, line)
				code = ""
			}
		}
	}
	if cmd.HasAvailableInheritedFlags() {
		out.WriteString("\n")
		paragraphs([]string{fmt.Sprintf("The flags that all commands have are told by '%s --help'.", cmd.Root().CommandPath())}, "")
	}
	return out.String()
}
