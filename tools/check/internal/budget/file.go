package budget

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FileName is the name of the files with budgets.
const FileName = "budget.txt"

// Budget holds the limits that a module promises its importers, and the reasons for its requirements.
type Budget struct {
	// Modules is the largest number of other modules that an importer of this module has to compile, without the
	// standard library.
	Modules int
	// Never are paths, or beginnings of paths, of modules that importers must not compile.
	Never []string
	// Requirements are the direct requirements of go.mod.
	Requirements []Requirement
}

// Requirement is a direct requirement of go.mod with its reason.
type Requirement struct {
	Path, Why string
	// Tests reports whether only tests need it.
	Tests bool
}

// Parse reads the text of a budget file. name is the name of the file, for errors.
func Parse(name, text string) (Budget, error) {
	budget := Budget{Modules: -1}
	tests, number := false, 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if line == "tests:" {
			tests = true
			continue
		}
		if err := budget.add(line, tests); err != nil {
			return Budget{}, fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	if budget.Modules < 0 {
		return Budget{}, fmt.Errorf("%s: no line 'modules N'", name)
	}
	return budget, nil
}

func (b *Budget) add(line string, tests bool) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "modules":
		number, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil || number < 0 || b.Modules >= 0 {
			return fmt.Errorf("modules %q: write one line 'modules' with one number", rest)
		}
		b.Modules = number
		return nil
	case "never":
		path := strings.TrimSpace(rest)
		if path == "" || strings.ContainsAny(path, " \t") {
			return fmt.Errorf("never %q: write the path of a module, or the beginning of such paths", rest)
		}
		b.Never = append(b.Never, path)
		return nil
	}
	path, why, found := strings.Cut(line, ":")
	why = strings.TrimSpace(why)
	if !found || path == "" || why == "" || strings.ContainsAny(path, " \t") {
		return fmt.Errorf("%q: want 'modules N', 'never PATH', 'tests:' or 'PATH: WHY'", line)
	}
	if slices.ContainsFunc(b.Requirements, func(r Requirement) bool { return r.Path == path }) {
		return errors.New(path + ": it has a line already")
	}
	b.Requirements = append(b.Requirements, Requirement{Path: path, Why: why, Tests: tests})
	return nil
}
