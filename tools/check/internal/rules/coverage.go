package rules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/internal/repository"
)

// ClaimFile is the name of the files with claims.
const ClaimFile = "rules.txt"

// Report is the outcome of a comparison.
type Report struct {
	// Claimed counts the rules claimed, Proven those of them that a test proves.
	Claimed, Proven int
	// Problems holds one line for each claimed rule that is not proven.
	Problems []string
	// Notes says what a reader should know of the runs that were read.
	Notes []string
}

// Claims reads the claim files of all modules of the repository.
func Claims(r *repository.Repository) ([]Rule, error) {
	var claimed []Rule
	for _, m := range r.Modules {
		text, err := os.ReadFile(filepath.Join(r.Folder(m), ClaimFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rules, err := ParseClaims(m.Dir+"/"+ClaimFile, string(text))
		if err != nil {
			return nil, err
		}
		claimed = append(claimed, rules...)
	}
	slices.SortFunc(claimed, compare)
	return slices.Compact(claimed), nil
}

// Cover compares claims with the last complete test run of every module.
func Cover(ctx context.Context, r *repository.Repository, claimed []Rule) (Report, error) {
	report := Report{Claimed: len(claimed)}
	if len(claimed) == 0 {
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
	report.Problems = missing(claimed, results)
	report.Proven = report.Claimed - len(report.Problems)
	report.Notes = notes(r)
	return report, nil
}

// missing gives a line for each claimed rule without a test that passed, or with one that did not.
func missing(claimed []Rule, results []gotest.Result) []string {
	passed, failed := map[Rule]bool{}, map[Rule]gotest.Result{}
	for _, result := range results {
		for _, rule := range Named(result.Test) {
			if result.Passed {
				passed[rule] = true
			} else {
				failed[rule] = result
			}
		}
	}
	var problems []string
	for _, rule := range claimed {
		if result, bad := failed[rule]; bad {
			problems = append(problems, fmt.Sprintf("%s: %s in %s did not pass", rule, result.Test, result.Package))
		} else if !passed[rule] {
			problems = append(problems, fmt.Sprintf("%s: no test or subtest that ran and passed names it", rule))
		}
	}
	return problems
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
