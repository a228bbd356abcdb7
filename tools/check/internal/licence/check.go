package licence

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/consumer"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Report is the outcome of a check.
type Report struct {
	// Problems holds a line for each module whose licence is unknown or not allowed.
	Problems []string
	// Notes says which allowed licences ask for more than that their notice is kept.
	Notes []string
	// Licences are those of each module, by its path and version.
	Licences map[string][]string
}

// Check looks at the modules that the importers of released modules compile and that somebody gets who installs their
// programs. allowed maps the SPDX name of each allowed licence to what has to be known of it.
func Check(ctx context.Context, r *repository.Repository, allowed map[string]string) (Report, error) {
	report := Report{Licences: map[string][]string{}}
	for _, m := range r.Released() {
		build, err := consumer.Load(ctx, r, m)
		if err != nil {
			return Report{}, fmt.Errorf("%s: %w", m.Dir, err)
		}
		report.Problems = append(report.Problems, build.Problems...)
		report.look(build, allowed)
	}
	slices.Sort(report.Problems)
	slices.Sort(report.Notes)
	report.Problems, report.Notes = slices.Compact(report.Problems), slices.Compact(report.Notes)
	return report, nil
}

// look adds the modules of one build. Siblings have the licence of the repository.
func (report *Report) look(build consumer.Build, allowed map[string]string) {
	modules := build.Modules(build.Packages())
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		name := strings.TrimSpace(path + " " + modules[path].Version)
		if _, seen := report.Licences[name]; seen || strings.HasPrefix(path, repository.Prefix+"/") {
			continue
		}
		licences, err := Of(modules[path].Dir)
		report.Licences[name] = licences
		chain := strings.Join(build.Chain(build.Packages(), path), " -> ")
		if err != nil {
			report.Problems = append(report.Problems, fmt.Sprintf("%s: %v (%s)", name, err, chain))
		}
		for _, licence := range licences {
			note, is := allowed[licence]
			switch {
			case !is:
				report.Problems = append(report.Problems, fmt.Sprintf("%s: licence %s is not on the list of those allowed (%s)", name, licence, chain))
			case note != "":
				report.Notes = append(report.Notes, fmt.Sprintf("%s: licence %s: %s (%s)", name, licence, note, chain))
			}
		}
	}
}

// List gives a line for each module that was looked at, sorted.
func (report Report) List() []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(report.Licences)) {
		lines = append(lines, name+": "+strings.Join(report.Licences[name], ", "))
	}
	return lines
}
