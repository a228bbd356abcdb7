package vcs

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Version is a version that can be checked out.
type Version struct {
	// Number is the canonical number, see CanonicalVersion. Ref is the tag or branch whose name is this number, in any
	// spelling.
	Number string
	Ref    Ref
}

// String returns the number.
func (v Version) String() string { return v.Number }

// SupportedVersions returns the versions of a repository in ascending order. Versions are references that have a
// version number as their name and point to a commit. kinds selects the kinds of references, Tag and Branch; the
// default is both. Other references, such as main, can be checked out by name but aren't versions. If several
// references have the same number, such as v1.2.0 and 1.2.0, it returns one of them: a tag rather than a branch, and
// then a name that is spelled like the number. It returns a *ConfigError for any other kind. If a version can't be
// read, it returns a *RuntimeError, so that no version gets lost.
func (r *Repository) SupportedVersions(ctx context.Context, kinds ...Kind) ([]Version, error) {
	if len(kinds) == 0 {
		kinds = []Kind{Tag, Branch}
	}
	if at := slices.IndexFunc(kinds, func(kind Kind) bool { return kind != Tag && kind != Branch }); at >= 0 {
		err := fmt.Errorf("kind %q: only tags and branches can be versions: use %s or %s", kinds[at], Tag, Branch)
		return nil, &ConfigError{"list versions of", r.path, err}
	}
	numberOf := func(ref Ref) (number, bool) {
		if !slices.Contains(kinds, ref.Kind) {
			return number{}, false
		}
		return parseNumber(ref.Name)
	}
	refs, err := r.refs(ctx, func(ref Ref) bool {
		_, is := numberOf(ref)
		return is
	})
	if err != nil {
		return nil, err
	}
	var found []numbered
	for _, ref := range refs {
		if ref.Commit == "" {
			continue
		}
		if n, is := numberOf(ref); is {
			found = append(found, numbered{n, ref})
		}
	}
	slices.SortFunc(found, numbered.compare)
	var versions []Version
	for _, one := range found {
		if number := one.number.String(); len(versions) == 0 || versions[len(versions)-1].Number != number {
			versions = append(versions, Version{number, one.ref})
		}
	}
	return versions, nil
}

type numbered struct {
	number number
	ref    Ref
}

func (n numbered) compare(other numbered) int {
	spelling := func(n numbered) int {
		rank := 0
		if n.ref.Kind != Tag {
			rank += 2
		}
		if n.ref.Name != n.number.String() {
			rank++
		}
		return rank
	}
	return cmp.Or(n.number.compare(other.number), cmp.Compare(spelling(n), spelling(other)), cmp.Compare(n.ref.Name, other.ref.Name))
}

// CanonicalVersion returns the number of a version as SupportedVersions spells it: without a leading v, without leading
// zeros, and with at least three parts. So 1.2, v1.2.0 and 1.02.0 are all 1.2.0. ok is false for text that isn't a
// version number.
func CanonicalVersion(text string) (number string, ok bool) {
	n, ok := parseNumber(text)
	return n.String(), ok
}

// number is a version number: its parts, the text after a hyphen (before), and the text after a plus (build).
type number struct {
	parts, before []string
	build         string
}

// versionText matches version numbers.
var versionText = regexp.MustCompile(`^v?([0-9]+(?:\.[0-9]+)*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$`)

// minParts is the minimum number of parts in a canonical number.
const minParts = 3

func parseNumber(text string) (n number, ok bool) {
	found := versionText.FindStringSubmatch(text)
	if found == nil || len(text) > maxName {
		return number{}, false
	}
	for part := range strings.SplitSeq(found[1], ".") {
		n.parts = append(n.parts, withoutZeros(part))
	}
	for len(n.parts) > minParts && n.parts[len(n.parts)-1] == "0" {
		n.parts = n.parts[:len(n.parts)-1]
	}
	for len(n.parts) < minParts {
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

// withoutZeros removes the leading zeros of a number, and returns other text unchanged.
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

// compare orders numbers like semantic versions: 1.2.0-rc comes before 1.2.0.
func (n number) compare(other number) int {
	if c := slices.CompareFunc(n.parts, other.parts, comparePart); c != 0 {
		return c
	}
	if (len(n.before) == 0) != (len(other.before) == 0) {
		return cmp.Compare(len(other.before), len(n.before))
	}
	return cmp.Or(slices.CompareFunc(n.before, other.before, comparePart), cmp.Compare(n.build, other.build))
}

// comparePart orders numbers before text.
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
