package licence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"

	"github.com/operkit/operkit/tools/check/internal/consumer"
	"github.com/operkit/operkit/tools/check/repository"
)

// Check checks the licences of the modules that importers of released modules compile, and of the modules that programs
// of released modules link. allowed maps the SPDX name of each allowed licence to a note for users.
func Check(ctx context.Context, r *repository.Repository, allowed map[string]string, o repository.Options) (report repository.Report, err error) {
	seen := map[string]bool{}
	for _, m := range r.Modules {
		if !m.Released {
			continue
		}
		build, err := consumer.Load(ctx, r, m)
		if err != nil {
			return report, fmt.Errorf("%s: %w", m.Dir, err)
		}
		report.Problems = append(report.Problems, build.Problems...)
		modules := build.Modules(build.Packages())
		for _, path := range slices.Sorted(maps.Keys(modules)) {
			name := strings.TrimSpace(path + " " + modules[path].Version)
			if seen[name] || strings.HasPrefix(path, repository.Prefix+"/") { // modules of this repository aren't checked
				continue
			}
			seen[name] = true
			licences, err := Of(modules[path].Dir)
			chain := strings.Join(build.Chain(build.Packages(), path), " -> ")
			if err != nil {
				report.Problems = append(report.Problems, fmt.Sprintf("%s: %v (%s)", name, err, chain))
			}
			for _, licence := range licences {
				note, is := allowed[licence]
				if !is {
					report.Problems = append(report.Problems, fmt.Sprintf("%s: licence %s isn't allowed (%s)", name, licence, chain))
				} else if note != "" {
					report.Notes = append(report.Notes, fmt.Sprintf("%s: licence %s: %s (%s)", name, licence, note, chain))
				}
			}
			if o.Verbose {
				report.Notes = append(report.Notes, name+": "+strings.Join(licences, ", "))
			}
		}
	}
	slices.Sort(report.Problems)
	slices.Sort(report.Notes)
	report.Problems = slices.Compact(report.Problems)
	report.Summary = fmt.Sprintf("%d modules", len(seen))
	return report, nil
}

// known is the percentage of a licence file that has to be the text of known licences. The rest may be names, years and
// headings.
const known = 75

// Of returns the SPDX names of the licences in the files at the root of dir, sorted and each once. It returns an error
// if the folder has no licence file, or if a file isn't the text of a known licence.
func Of(dir string) ([]string, error) {
	files, err := texts(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no licence file")
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		found := licensecheck.Scan(text)
		if found.Percent < known || len(found.Match) == 0 {
			return nil, fmt.Errorf("%s: only %.0f %% of it is the text of a known licence: a person has to read it", file, found.Percent)
		}
		for _, match := range found.Match {
			names = append(names, match.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// texts returns the licence files of a folder, which it recognizes by their names. A licence of the documentation
// (.docs) is left out, because documentation isn't compiled.
func texts(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		named := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE"}, func(prefix string) bool {
			return strings.HasPrefix(name, prefix)
		})
		if named && entry.Type().IsRegular() && !strings.HasSuffix(name, ".GO") && !strings.HasSuffix(name, ".DOCS") {
			files = append(files, entry.Name())
		}
	}
	return files, nil
}
