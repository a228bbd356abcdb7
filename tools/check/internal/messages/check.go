package messages

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/repository"
)

// Page is the page, below the root of the repository.
const Page = "operator/guide/messages.md"

// rooms are the first elements of the folders whose messages people see.
var rooms = []string{"dag", "deploy", "operator", "reconcile", "smp", "status", "vcs"}

// Check compares the page with the code. Without an operator there is nothing to compare.
func Check(ctx context.Context, r *repository.Repository, _ repository.Options) (report repository.Report, err error) {
	text, err := os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(Page)))
	if errors.Is(err, fs.ErrNotExist) && !slices.ContainsFunc(r.Modules, func(m repository.Module) bool { return m.Dir == "operator" }) {
		return report, nil
	}
	if err != nil {
		return report, err
	}
	entries, problems := readPage(Page, string(text))
	all := newSource()
	for _, m := range r.Modules {
		if first, _, _ := strings.Cut(m.Dir, "/"); !slices.Contains(rooms, first) {
			continue
		}
		if err := all.readModule(ctx, r, m); err != nil {
			return report, err
		}
	}
	all.logged()
	report.Problems = append(problems, all.compare(entries)...)
	report.Summary = fmt.Sprintf("%d entries", len(entries))
	return report, nil
}

// compare returns a problem for each message without an entry, and for each entry without a message.
func (s *source) compare(entries []entry) (problems []string) {
	described := map[message]bool{}
	for _, e := range entries {
		described[message{e.section, e.name}] = true
		if _, found := s.found[message{e.section, e.name}]; !found {
			problems = append(problems, fmt.Sprintf("%s:%d: the code has no %q any more: remove the entry from operator/internal/messages", Page, e.line, e.name))
		}
		for _, text := range e.texts {
			if !s.says(text) {
				problems = append(problems, fmt.Sprintf("%s:%d: no text of the code contains %q: correct the entry %s in operator/internal/messages", Page, e.line, text, e.name))
			}
		}
	}
	missing := slices.DeleteFunc(slices.Collect(maps.Keys(s.found)), func(m message) bool { return described[m] })
	slices.SortFunc(missing, func(a, b message) int { return strings.Compare(s.found[a], s.found[b]) })
	for _, m := range missing {
		problems = append(problems, fmt.Sprintf("%s: %q has no entry in the section %q of %s: add it to operator/internal/messages, and run make generate",
			s.found[m], m.name, m.section, Page))
	}
	return problems
}

// says reports whether a string in the code contains text. The last word may be an argument of a format.
func (s *source) says(text string) bool {
	most := text
	if at := strings.LastIndexByte(text, ' '); at > 0 {
		most = text[:at]
	}
	for said := range s.strings {
		if strings.Contains(said, text) || strings.Contains(said, most+" %") {
			return true
		}
	}
	return false
}
