package rules

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/repository"
)

// Check compares the rules of all modules with the names of the tests of the last complete run of every module.
func Check(ctx context.Context, r *repository.Repository, _ repository.Options) (report repository.Report, err error) {
	places, problems, err := Read(r)
	if err != nil {
		return report, err
	}
	cited, err := cited(ctx, r)
	if err != nil {
		return report, err
	}
	report.Problems = append(problems, cited...)
	var results []gotest.Result
	for _, m := range r.Modules {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		ofModule, err := gotest.ReadResults(gotest.StreamFile(r, m))
		if err != nil {
			return report, err
		}
		results = append(results, ofModule...)
	}
	rules, proven, wrong := compareAll(places, results)
	report.Problems = append(report.Problems, wrong...)
	report.Summary = fmt.Sprintf("%d of %d rules are proven", proven, rules)
	if len(places) > 0 {
		report.Notes = notes(r)
	}
	return report, nil
}

// compareAll counts the rules, and the rules that a test proves. A rule counts once, even if two files have it. It
// returns a problem for each rule that no test proves, and for each rule in a test's name that no file has.
func compareAll(places []Place, results []gotest.Result) (count, proven int, problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	topics, rules := map[string]bool{}, map[Rule]bool{}
	for _, p := range places {
		topics[p.Topic], rules[p.Rule] = true, true
	}
	passed, failed, unknown := map[Rule]bool{}, map[Rule]gotest.Result{}, map[Rule]bool{}
	for _, result := range results {
		for _, rule := range Named(result.Test) {
			if topics[rule.Topic] && !rules[rule] && !unknown[rule] {
				unknown[rule] = true
				add("%s: %s in %s has this number in its name, but no %s has such a rule: add the rule or rename the test", rule, result.Test, result.Package, FileName)
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
			add("%s:%d: %s: %s in %s did not pass", p.File, p.Line, p.Rule, result.Test, result.Package)
		} else if !passed[p.Rule] {
			add("%s:%d: %s: no passed test has this rule in its name: begin the name of a test that proves the rule with '%[3]s: '", p.File, p.Line, p.Rule)
		} else if rules[p.Rule] {
			proven++
			rules[p.Rule] = false // don't count it again if another file has it, too
		}
	}
	return len(rules), proven, problems
}

// notes names the modules whose tests have not run yet, and the modules with Go files that are newer than the run.
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
		found = append(found, "the tests of these modules have not run yet: "+strings.Join(missing, ", "))
	}
	if len(old) > 0 {
		found = append(found, "these modules have changed since their tests ran: "+strings.Join(old, ", "))
	}
	return found
}

func newer(file string, than time.Time) bool {
	info, err := os.Stat(file)
	return err == nil && info.ModTime().After(than)
}
