package vcs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// CanonicalVersion is the number of a version as SupportedVersions has it, however it is spelled: without the letter v before it and zeros before its
// parts, with three parts at least, as semantic versions have them. So 1.2, v1.2.0 and 1.02.0 are 1.2.0. Text that is no number isn't ok.
func CanonicalVersion(text string) (number string, ok bool) {
	n, ok := parseNumber(text)
	return n.String(), ok
}

// number is a version: its parts, and what follows a hyphen and a plus.
type number struct {
	parts, before []string
	build         string
}

// versionText is what a version looks like.
var versionText = regexp.MustCompile(`^v?([0-9]+(?:\.[0-9]+)*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$`)

// leastParts is how many a number has.
const leastParts = 3

func parseNumber(text string) (n number, ok bool) {
	found := versionText.FindStringSubmatch(text)
	if found == nil || len(text) > longestName {
		return number{}, false
	}
	for part := range strings.SplitSeq(found[1], ".") {
		n.parts = append(n.parts, withoutZeros(part))
	}
	for len(n.parts) > leastParts && n.parts[len(n.parts)-1] == "0" {
		n.parts = n.parts[:len(n.parts)-1]
	}
	for len(n.parts) < leastParts {
		n.parts = append(n.parts, "0")
	}
	if found[2] != "" {
		for part := range strings.SplitSeq(found[2], ".") {
			n.before = append(n.before, withoutZeros(part))
		}
	}
	n.build = found[3]
	return n, true
}

// withoutZeros is a number as one writes it; other text stays.
func withoutZeros(text string) string {
	if !isNumber(text) {
		return text
	}
	return cmp.Or(strings.TrimLeft(text, "0"), "0")
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

func (n number) String() string {
	text := strings.Join(n.parts, ".")
	if len(n.before) > 0 {
		text += "-" + strings.Join(n.before, ".")
	}
	if n.build != "" {
		text += "+" + n.build
	}
	return text
}

// compare orders numbers as semantic versions are: what has something behind a hyphen is before what has nothing there.
func (n number) compare(other number) int {
	if c := slices.CompareFunc(n.parts, other.parts, comparePart); c != 0 {
		return c
	}
	if (len(n.before) == 0) != (len(other.before) == 0) {
		return cmp.Compare(len(other.before), len(n.before))
	}
	return cmp.Or(slices.CompareFunc(n.before, other.before, comparePart), cmp.Compare(n.build, other.build))
}

// comparePart has numbers before text.
func comparePart(a, b string) int {
	switch {
	case isNumber(a) && isNumber(b):
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case isNumber(a):
		return -1
	case isNumber(b):
		return 1
	}
	return cmp.Compare(a, b)
}
