package changelog

import (
	"regexp"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/release/internal/version"
)

// unreleased matches the heading of the changes since the last version.
var unreleased = regexp.MustCompile(`(?i)^##[ \t]+\[?unreleased\]?[ \t]*$`)

// heading matches the heading of any section.
var heading = regexp.MustCompile(`^##[ \t]`)

// group matches the heading of one kind of changes in a section.
var group = regexp.MustCompile(`(?i)^###[ \t]+(added|removed)[ \t]*$`)

// Unreleased returns the text of the section Unreleased without empty lines around it. It returns "" if there is no
// such section.
func Unreleased(text string) string {
	_, body, _, _ := split(text)
	return strings.Trim(body, "\r\n")
}

// Change returns the change that the headings of a section declare: "### Removed" a breaking change, "### Added" an
// addition. Other headings don't count.
func Change(section string) version.Change {
	change := version.None
	for line := range strings.Lines(section) {
		if found := group.FindStringSubmatch(strings.TrimRight(line, "\r\n")); found != nil {
			said := version.Added
			if strings.EqualFold(found[1], "removed") {
				said = version.Breaking
			}
			change = max(change, said)
		}
	}
	return change
}

// Release turns the section Unreleased into the section of a version, and puts an empty section Unreleased above it. If
// Unreleased has no text, the new section gets the text in otherwise. If there is no section Unreleased, the new
// section is inserted before all other sections.
func Release(text, release string, day time.Time, otherwise string) string {
	before, body, after, found := split(text)
	if body = strings.Trim(body, "\r\n"); body == "" {
		body = strings.Trim(otherwise, "\r\n")
	}
	if !found && before != "" {
		before = strings.TrimRight(before, "\r\n") + "\n\n"
	}
	section := "\n" + Heading(release, day) + "\n\n" + body + "\n"
	if after != "" {
		section += "\n"
	}
	return before + "## Unreleased\n" + section + after
}

// Heading returns the heading of the section of a version.
func Heading(release string, day time.Time) string {
	return "## " + release + " - " + day.Format(time.DateOnly)
}

// split cuts the text at the section Unreleased: the text before its heading, its body, and the sections after it. If
// there is no such section, all sections are in after.
func split(text string) (before, body, after string, found bool) {
	at := &before
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\r\n")
		switch {
		case at == &before && unreleased.MatchString(bare):
			at, found = &body, true
			continue
		case at != &after && heading.MatchString(bare):
			at = &after
		}
		*at += line
	}
	return before, body, after, found
}
