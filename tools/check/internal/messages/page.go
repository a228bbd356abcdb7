package messages

import (
	"fmt"
	"regexp"
	"strings"
)

// The sections of the page.
const (
	conditions = "Reasons of conditions"
	events     = "Reasons of events"
	readiness  = "Reasons of readiness"
	lines      = "Lines in the log"
	typed      = "Errors"
)

// entry is an entry of the page.
type entry struct {
	section, name string
	line          int
	texts         []string
}

var (
	// qualifier is the end of a heading that tells two entries with the same name apart.
	qualifier = regexp.MustCompile(` \(of [^)]*\)$`)
	code      = regexp.MustCompile("`([^`]+)`")
)

// readPage returns the entries of a page, and a problem for each unknown section.
func readPage(file, text string) (entries []entry, problems []string) {
	section, at := "", 0
	met := false // the line with the texts of the entry is to come
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimSpace(line)
		switch title, level := strings.TrimLeft(line, "#"), len(line)-len(strings.TrimLeft(line, "#")); {
		case level == 2:
			section = strings.TrimSpace(title)
			if section != conditions && section != events && section != readiness && section != lines && section != typed {
				problems = append(problems, fmt.Sprintf("%s:%d: unknown section %q", file, at, section))
			}
		case level == 3:
			entries = append(entries, entry{section: section, name: qualifier.ReplaceAllString(strings.TrimSpace(title), ""), line: at})
			met = true
		case line != "" && met:
			met = false
			_, texts, found := strings.Cut(strings.ToLower(line[:1])+line[1:], "text: ")
			for _, part := range code.FindAllStringSubmatch(texts, -1) {
				if found {
					entries[len(entries)-1].texts = append(entries[len(entries)-1].texts, part[1])
				}
			}
		}
	}
	return entries, problems
}
