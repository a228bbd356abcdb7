package snapshot

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Changed lists the files that differ between two moments of a module, as far as that is a reason to release it again:
// tests and their data are none, and neither is what the release itself changes, which are versions of siblings in go.mod
// and go.sum and the lines that replace them.
func Changed(before, after Files, ours func(modulePath string) bool) ([]string, error) {
	names := map[string]bool{}
	for _, files := range []Files{before, after} {
		for name := range files {
			names[name] = true
		}
	}
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if isTest(name) || bytes.Equal(before[name], after[name]) {
			continue
		}
		same := false
		var err error
		switch name {
		case "go.mod":
			same, err = sameRequirements(before[name], after[name], ours)
		case "go.sum":
			same = bytes.Equal(newSums(before[name], ours).format(), newSums(after[name], ours).format())
		}
		if err != nil {
			return nil, err
		}
		if !same {
			changed = append(changed, name)
		}
	}
	return changed, nil
}

func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || slices.Contains(strings.Split(name, "/"), "testdata")
}

func sameRequirements(before, after []byte, ours func(string) bool) (bool, error) {
	a, err := facts(before, ours)
	if err != nil {
		return false, err
	}
	b, err := facts(after, ours)
	return slices.Equal(a, b), err
}

// facts are the lines of a go.mod in a form that doesn't depend on how they are arranged, without versions of siblings
// and what replaces them.
func facts(text []byte, ours func(string) bool) ([]string, error) {
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, statement := range file.Syntax.Stmt {
		if line, single := statement.(*modfile.Line); single && !isListed(line.Token[0]) {
			lines = append(lines, strings.Join(line.Token, " "))
		}
	}
	for _, r := range file.Require {
		version := r.Mod.Version
		if ours(r.Mod.Path) {
			version = ""
		}
		lines = append(lines, fmt.Sprintf("require %s %s %v", r.Mod.Path, version, r.Indirect))
	}
	for _, r := range file.Replace {
		if !ours(r.Old.Path) {
			lines = append(lines, fmt.Sprintf("replace %v %v", r.Old, r.New))
		}
	}
	for _, e := range file.Exclude {
		lines = append(lines, fmt.Sprintf("exclude %v", e.Mod))
	}
	for _, r := range file.Retract {
		lines = append(lines, fmt.Sprintf("retract %v %s", r.VersionInterval, r.Rationale))
	}
	for _, t := range file.Tool {
		lines = append(lines, "tool "+t.Path)
	}
	for _, g := range file.Godebug {
		lines = append(lines, "godebug "+g.Key+" "+g.Value)
	}
	slices.Sort(lines)
	return lines, nil
}

// isListed tells whether the statements of a kind are in a list of their own, whether they stand in a block or not.
func isListed(verb string) bool {
	return slices.Contains([]string{"require", "replace", "exclude", "retract", "tool", "godebug"}, verb)
}
