package name

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/gobuffalo/flect"
)

// Singular returns the name of a kind in lower case.
func Singular(kind string) string { return strings.ToLower(kind) }

// Plural returns the plural name of a kind, as controller-gen derives it.
func Plural(kind string) string { return strings.ToLower(flect.Pluralize(kind)) }

// unfit are names that a controller's package can't have: the program uses them, or they have a special meaning for Go.
var unfit = []string{"full", "op", "main", "init", "internal", "vendor", "testdata"}

// Package returns the name of the Go package of a kind's controller, and of its folder.
func Package(kind string) string {
	name := Singular(kind)
	if token.IsKeyword(name) || slices.Contains(unfit, name) {
		return name + "controller"
	}
	return name
}

// File returns the file name of a component, without ".go". It has no "_", because Go takes a suffix such as _test or
// _linux as a build constraint.
func File(component string) string { return strings.ReplaceAll(component, "-", "") }

// Type returns a name for the Go type of a component that isn't taken and that Go itself doesn't use.
func Type(component string, taken func(string) bool) string {
	exported := camel(component)
	name := strings.ToLower(exported[:1]) + exported[1:]
	if name != "init" && !token.IsKeyword(name) && types.Universe.Lookup(name) == nil && !taken(name) {
		return name
	}
	return unused(name+"Component", taken)
}

// Test returns the name of the test function of a component.
func Test(component string, taken func(string) bool) string {
	return unused("Test"+camel(component), taken)
}

// Import returns the name under which a file imports a controller's package.
func Import(pkg string, taken func(string) bool) string {
	if !taken(pkg) {
		return pkg
	}
	return unused(pkg+"controller", taken)
}

// A returns a word with the article before it.
func A(word string) string {
	if strings.ContainsAny(word[:1], "AEIOUaeiou") {
		return "an " + word
	}
	return "a " + word
}

// unused returns name. If name is taken, unused appends the first number that makes it unused.
func unused(name string, taken func(string) bool) string {
	free := name
	for n := 2; taken(free); n++ {
		free = name + strconv.Itoa(n)
	}
	return free
}
