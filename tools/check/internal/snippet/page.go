package snippet

import (
	"fmt"
	"regexp"
	"strings"
)

// block is a fenced block of a page that shows a part of a file.
type block struct {
	// source is what the comment names, line the number of its line.
	source string
	line   int
	// first and last are the lines inside of the fences, as indices into those of the page: first is the one after the
	// opening fence, last the closing fence.
	first, last int
	// indent stands before each line, fence is the opening fence without what follows it.
	indent, fence string
}

var (
	marker  = regexp.MustCompile(`^\s*<!--\s*file:\s*(\S+)\s*-->\s*$`)
	opening = regexp.MustCompile("^(\\s*)(```+|~~~+)([^`]*)$")
)

// blocks finds the blocks that show files. What stands in other blocks is no comment.
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

// closing gives the index of the line that closes a block which begins at index from; the number of lines when none does.
func closing(lines []string, from int, fence string) int {
	for i := from; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
			return i
		}
	}
	return len(lines)
}

// shown is the block's text.
func (b block) shown(lines []string) string { return strings.Join(lines[b.first:b.last], "\n") }

// wanted is the text of the source as it stands in the page. The error is for a text that would end the block.
func (b block) wanted(text string) (string, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if closing(lines, 0, b.fence) < len(lines) {
		return "", fmt.Errorf("%s holds a line that closes the block: open it with a longer fence", b.source)
	}
	for i, line := range lines {
		if line != "" {
			lines[i] = b.indent + line
		}
	}
	return strings.Join(lines, "\n"), nil
}
