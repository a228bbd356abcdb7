package name

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/gobuffalo/flect"
)

// Singular is how a kind is called in lower case.
func Singular(kind string) string { return strings.ToLower(kind) }

// Plural is how resources of a kind are called, just as controller-gen has it.
func Plural(kind string) string { return strings.ToLower(flect.Pluralize(kind)) }

// unfit are names that a package of a controller can't have: the program uses them, or Go gives them a meaning as a
// folder.
var unfit = []string{"full", "op", "main", "init", "internal", "vendor", "testdata"}

// Package is the Go package of a kind's controller, and its folder.
func Package(kind string) string {
	name := Singular(kind)
	if token.IsKeyword(name) || slices.Contains(unfit, name) {
		return name + "controller"
	}
	return name
}

// File is the file of a component, without ".go". It has no "_", so that Go sees neither a test nor an operating system
// in it.
func File(component string) string { return strings.ReplaceAll(component, "-", "") }

// Type is the Go type of a component. It isn't one of those that are taken, nor a name that Go itself uses.
func Type(component string, taken func(string) bool) string {
	exported := camel(component)
	name := strings.ToLower(exported[:1]) + exported[1:]
	if name != "init" && !token.IsKeyword(name) && types.Universe.Lookup(name) == nil && !taken(name) {
		return name
	}
	return unused(name+"Component", taken)
}

// Test is the test function of a component.
func Test(component string, taken func(string) bool) string {
	return unused("Test"+camel(component), taken)
}

// Import is the name under which a file imports a controller's package.
func Import(pkg string, taken func(string) bool) string {
	if !taken(pkg) {
		return pkg
	}
	return unused(pkg+"controller", taken)
}

// unused is a name, or that with a number behind it, that isn't taken.
func unused(name string, taken func(string) bool) string {
	free := name
	for n := 2; taken(free); n++ {
		free = name + strconv.Itoa(n)
	}
	return free
}
