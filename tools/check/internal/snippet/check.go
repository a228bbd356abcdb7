package snippet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/operkit/operkit/tools/check/repository"
)

// Check finds blocks that differ from the file that they show, and blocks whose file or part doesn't exist. With
// o.Write it fills in the blocks that differ.
func Check(ctx context.Context, r *repository.Repository, o repository.Options) (report repository.Report, err error) {
	files, err := r.Files(ctx, ".md")
	shown := 0
	for _, name := range files {
		path := filepath.Join(r.Root, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil {
			return report, err
		}
		page, found, count := compare(r.Root, string(text), o.Write)
		for _, problem := range found {
			report.Problems = append(report.Problems, name+":"+problem)
		}
		shown += count
		if page == string(text) {
			continue
		}
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			return report, err
		}
	}
	report.Summary = fmt.Sprintf("%d snippets", shown)
	return report, err
}

// compare compares one page with the files that it shows. It returns the page, with the blocks filled in if write is
// true.
func compare(root, text string, write bool) (page string, problems []string, shown int) {
	lines := strings.Split(text, "\n")
	found, problems := blocks(lines)
	var filled []string
	at := 0
	for _, b := range found {
		source, err := read(root, b.source)
		var wanted string
		if err == nil {
			wanted, err = b.wanted(source)
		}
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%d: %v", b.line, err))
		case wanted == b.shown(lines):
		case write:
			filled = append(append(filled, lines[at:b.first]...), wanted)
			at = b.last
		default:
			problems = append(problems, fmt.Sprintf("%d: the block differs from %s: run check snippets -w", b.line, b.source))
		}
	}
	return strings.Join(append(filled, lines[at:]...), "\n"), problems, len(found)
}

// block is a fenced block of a page that shows a part of a file.
type block struct {
	// source is the file and part that the comment names. line is the line number of the comment.
	source string
	line   int
	// first and last are indices into the lines of the page: first is the line after the opening fence, last is the
	// closing fence.
	first, last int
	// indent is the indent of each line. fence is the opening fence without the info string that follows it.
	indent, fence string
}

var (
	marker  = regexp.MustCompile(`^\s*<!--\s*file:\s*(\S+)\s*-->\s*$`)
	opening = regexp.MustCompile("^(\\s*)(```+|~~~+)([^`]*)$")
)

// blocks finds the blocks that show files. A comment inside of another block doesn't count.
func blocks(lines []string) ([]block, []string) {
	var found []block
	var problems []string
	for i := 0; i < len(lines); i++ {
		if fence := opening.FindStringSubmatch(lines[i]); fence != nil {
			i = closing(lines, i+1, fence[2])
			continue
		}
		named := marker.FindStringSubmatch(lines[i])
		if named == nil {
			continue
		}
		line := i + 1
		at := line
		if at < len(lines) && strings.TrimSpace(lines[at]) == "" {
			at++
		}
		var fence []string
		if at < len(lines) {
			fence = opening.FindStringSubmatch(lines[at])
		}
		if fence == nil {
			problems = append(problems, fmt.Sprintf("%d: no fenced block follows the comment that names %s", line, named[1]))
			continue
		}
		last := closing(lines, at+1, fence[2])
		if last == len(lines) {
			problems = append(problems, fmt.Sprintf("%d: the fenced block has no end", at+1))
		} else {
			found = append(found, block{source: named[1], line: line, first: at + 1, last: last, indent: fence[1], fence: fence[2]})
		}
		i = last
	}
	return found, problems
}

// closing returns the index of the line that closes the block that begins at index from. If no line closes it, closing
// returns the number of lines.
func closing(lines []string, from int, fence string) int {
	for i := from; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
			return i
		}
	}
	return len(lines)
}

// shown returns the block's text.
func (b block) shown(lines []string) string { return strings.Join(lines[b.first:b.last], "\n") }

// wanted returns the text of the source as it has to be in the page. It returns an error for a text that would end the
// block.
func (b block) wanted(text string) (string, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if closing(lines, 0, b.fence) < len(lines) {
		return "", fmt.Errorf("%s holds a line that closes the block: open the block with a longer fence", b.source)
	}
	for i, line := range lines {
		if line != "" {
			lines[i] = b.indent + line
		}
	}
	return strings.Join(lines, "\n"), nil
}
