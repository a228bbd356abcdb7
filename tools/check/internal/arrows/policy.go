package arrows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Policy is what a repository's imports are held to.
type Policy struct {
	Rooms []Room
	Bans  []Ban
}

// Room is a row of the design's table: what the packages of one module may import directly.
//
// Patterns are import paths; one that ends in /... stands for the path and everything below it, an element that is a
// star stands for any one element, and a pattern that starts with a dot is a folder of this repository.
type Room struct {
	// Module is the folder of the module.
	Module string
	// Siblings are the other packages of this repository that it may import. Its tests may besides import tools.
	Siblings []string
	// Libraries are the packages of others, beside the standard library, that it may import outside of tests. Any lifts
	// that limit.
	Libraries []string
	Any       bool
	// Reason is why.
	Reason string
}

// Ban forbids imports.
type Ban struct {
	// From are the packages that it holds for, Except those among them that it does not hold for.
	From, Except []string
	// To are the packages that must not be imported, or with Links not be reached through any chain of imports.
	To    []string
	Links bool
	// Tests says that it holds for the imports of tests too.
	Tests bool
	// Reason is why.
	Reason string
}

// matches reports whether the import path fits one of the patterns.
func matches(path string, patterns []string) bool {
	for _, pattern := range patterns {
		if matchesOne(path, absolute(pattern)) {
			return true
		}
	}
	return false
}

func matchesOne(path, pattern string) bool {
	base, tree := strings.CutSuffix(pattern, "/...")
	if strings.Contains(base, "*") {
		base = fillStars(path, base)
	}
	return path == base || tree && strings.HasPrefix(path, base+"/")
}

// fillStars puts the elements of path in the place of the stars of pattern.
func fillStars(path, pattern string) string {
	elements, wanted := strings.Split(path, "/"), strings.Split(pattern, "/")
	for i := range wanted {
		if wanted[i] == "*" && i < len(elements) {
			wanted[i] = elements[i]
		}
	}
	return strings.Join(wanted, "/")
}

// absolute turns a folder of this repository into an import path.
func absolute(pattern string) string {
	if rest, local := strings.CutPrefix(pattern, "./"); local {
		return repository.Prefix + "/" + rest
	}
	return pattern
}

// ours reports whether the package is one of this repository.
func ours(path string) bool { return matchesOne(path, repository.Prefix+"/...") }

// Finding is an import that breaks a rule.
type Finding struct {
	// Chain leads from the package that the rule is about to the one that it must not import.
	Chain []string
	// Test says that the first of the chain imports the second in a test.
	Test   bool
	Reason string
}

// sameImport reports whether both findings are about the same chain.
func (f Finding) sameImport(other Finding) bool {
	return f.Test == other.Test && slices.Equal(f.Chain, other.Chain)
}

// String gives the chain and the reason on one line.
func (f Finding) String() string {
	first := f.Chain[0]
	if f.Test {
		first += " (test)"
	}
	chain := strings.Join(append([]string{first}, f.Chain[1:]...), " -> ")
	return fmt.Sprintf("%s: %s", chain, f.Reason)
}
