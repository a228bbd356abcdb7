package rules

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Report is the outcome of a comparison.
type Report struct {
	// Rules counts the rules, those that stand in two files once, and Proven those of them that a test proves.
	Rules, Proven int
	// Problems holds a line for each thing to mend.
	Problems []string
	// Notes says which tests have not run since they changed.
	Notes []string
}

// Check compares the rules of all modules with the names of the tests of the last complete run of every module.
func Check(ctx context.Context, r *repository.Repository) (Report, error) {
	places, problems, err := Read(r)
	if err != nil {
		return Report{}, err
	}
	report := Report{Problems: problems}
	old, err := report.readOld(r)
	if err != nil {
		return Report{}, err
	}
	if places = append(places, old...); len(places) == 0 {
		return report, nil
	}
	var results []gotest.Result
	for _, m := range r.Modules {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		ofModule, err := gotest.ReadResults(gotest.StreamFile(r, m))
		if err != nil {
			return Report{}, err
		}
		results = append(results, ofModule...)
	}
	report.compare(places, results, len(old) == 0)
	report.Notes = notes(r)
	return report, nil
}

// compare adds a problem for each rule that no test proves, and, when all files are read, for each test with the number of a
// rule that is in no file.
func (report *Report) compare(places []Place, results []gotest.Result, all bool) {
	topics, rules := map[string]bool{}, map[Rule]bool{}
	for _, p := range places {
		topics[p.Topic], rules[p.Rule] = true, true
	}
	passed, failed, unknown := map[Rule]bool{}, map[Rule]gotest.Result{}, map[Rule]bool{}
	for _, result := range results {
		for _, rule := range Named(result.Test) {
			if all && topics[rule.Topic] && !rules[rule] && !unknown[rule] {
				unknown[rule] = true
				report.Problems = append(report.Problems, fmt.Sprintf("%s: %s in %s carries this number, and no %s has it: write the rule down or rename the test",
					rule, result.Test, result.Package, FileName))
			}
			if result.Passed {
				passed[rule] = true
			} else {
				failed[rule] = result
			}
		}
	}
	for _, p := range places {
		if result, bad := failed[p.Rule]; bad {
			report.Problems = append(report.Problems, fmt.Sprintf("%s:%d: %s: %s in %s did not pass", p.File, p.Line, p.Rule, result.Test, result.Package))
		} else if !passed[p.Rule] {
			report.Problems = append(report.Problems, fmt.Sprintf("%s:%d: %s: no test that ran and passed has this in its name: name the test that proves it '%[3]s: …'",
				p.File, p.Line, p.Rule))
		} else if rules[p.Rule] {
			report.Proven++
			rules[p.Rule] = false // counted, should it stand in another file too
		}
	}
	report.Rules = len(rules)
}

// notes names the modules whose tests were not run yet, and those with Go files that are newer than the run.
func notes(r *repository.Repository) []string {
	var missing, old, found []string
	for _, m := range r.Modules {
		files, err := m.GoFiles(r.Root)
		if err != nil || len(files) == 0 {
			continue
		}
		run, err := os.Stat(gotest.StreamFile(r, m))
		if err != nil {
			missing = append(missing, m.Dir)
		} else if slices.ContainsFunc(files, func(file string) bool { return newer(file, run.ModTime()) }) {
			old = append(old, m.Dir)
		}
	}
	if len(missing) > 0 {
		found = append(found, "not run yet are the tests of "+strings.Join(missing, ", "))
	}
	if len(old) > 0 {
		found = append(found, "changed since its tests ran: "+strings.Join(old, ", "))
	}
	return found
}

func newer(file string, than time.Time) bool {
	info, err := os.Stat(file)
	return err == nil && info.ModTime().After(than)
}
