package ratio

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// minRounds is how many rounds a median needs at least.
const minRounds = 7

// Main measures, prints one line for each goal and ends the program: with 0 if every goal is met, with 1 if a goal is
// missed or couldn't be measured, and with 2 if the command line is wrong.
//
// The lines are RATIO <name> <ours/peer> goal <bound> <ok|MISSED> for pairs and COUNT <name> <got> goal <bound>
// <ok|MISSED> for counts, on standard output. Hints after a miss go to standard error. With -v the times, allocations
// and metrics of both sides go there, too. The other flags are -run with a regular expression for names, -rounds
// (default 9), and -time for one measurement.
//
// A benchmark that fails has no ratio: it is an error with its name.
func Main(pairs []Pair, counts []Count) {
	testing.Init()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, benchmark, pairs, counts))
}

// settings are the values of the command line.
type settings struct {
	chosen  *regexp.Regexp
	rounds  int
	each    time.Duration
	verbose bool
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{chosen: regexp.MustCompile("")}
	flags := flag.NewFlagSet("ratios", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("run", "measure only what this regular expression matches", func(text string) (err error) {
		s.chosen, err = regexp.Compile(text)
		return err
	})
	flags.IntVar(&s.rounds, "rounds", 9, fmt.Sprintf("how often both sides are measured, at least %d", minRounds))
	flags.DurationVar(&s.each, "time", 200*time.Millisecond, "how long one measurement takes, about")
	flags.BoolVar(&s.verbose, "v", false, "print times, allocations and metrics of both sides as well")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	var problem error
	switch {
	case flags.NArg() > 0:
		problem = fmt.Errorf("argument %q: there are only flags", flags.Arg(0))
	case s.rounds < minRounds:
		problem = fmt.Errorf("-rounds %d: a median needs at least %d", s.rounds, minRounds)
	case s.each <= 0:
		problem = fmt.Errorf("-time %s: it must be more than nothing", s.each)
	}
	if problem != nil {
		_, _ = fmt.Fprintln(stderr, problem)
	}
	return s, problem
}

func run(args []string, stdout, stderr io.Writer, measure meter, pairs []Pair, counts []Count) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	r := report{stdout: stdout, stderr: stderr}
	for _, pair := range pairs {
		if !s.chosen.MatchString(pair.Name) {
			continue
		}
		got, err := pair.compare(measure, s.rounds, s.each)
		r.line("RATIO", pair.Name, got.ratio, pair.Goal, pair.Hint, err)
		if s.verbose && err == nil {
			r.detail("ours", got.ours)
			r.detail("peer", got.peer)
		}
	}
	for _, count := range counts {
		if !s.chosen.MatchString(count.Name) {
			continue
		}
		got, err := count.Measure()
		if err != nil {
			err = fmt.Errorf("%s: %w", count.Name, err)
		}
		r.line("COUNT", count.Name, got, count.Goal, count.Hint, err)
	}
	return r.finish()
}

// report prints results and records misses and errors.
type report struct {
	stdout, stderr io.Writer
	lines          int
	failed         bool
	hints          []string
}

func (r *report) line(kind, name string, got, goal float64, hint string, err error) {
	r.lines++
	if err != nil {
		r.failed = true
		_, _ = fmt.Fprintln(r.stderr, err)
		return
	}
	verdict := "ok"
	if !(got <= goal) { // NaN misses every goal
		verdict, r.failed = "MISSED", true
		r.hints = append(r.hints, fmt.Sprintf("%s missed its goal: %s", name, hint))
	}
	_, _ = fmt.Fprintf(r.stdout, "%s %s %s goal %s %s\n", kind, name, rounded(got), strconv.FormatFloat(goal, 'f', -1, 64), verdict)
}

func (r *report) detail(side string, s sample) {
	var reported strings.Builder
	for _, unit := range slices.Sorted(maps.Keys(s.metrics)) {
		_, _ = fmt.Fprintf(&reported, " %s %s", rounded(s.metrics[unit]), unit)
	}
	_, _ = fmt.Fprintf(r.stderr, "  %s %s ns/op %s allocs/op%s, %d iterations a round\n", side, rounded(s.nanos), rounded(s.allocs), reported.String(), s.iterations)
}

// finish prints the hints after all lines and returns the exit code.
func (r *report) finish() int {
	if r.lines == 0 {
		r.failed = true
		_, _ = fmt.Fprintln(r.stderr, "nothing has such a name: -run leaves nothing to measure")
	}
	for _, hint := range r.hints {
		_, _ = fmt.Fprintln(r.stderr, hint)
	}
	if r.failed {
		return 1
	}
	return 0
}

// rounded formats a value without an exponent: with three digits below 1, and with at least four digits above.
func rounded(value float64) string {
	digits := 3
	if magnitude := math.Abs(value); magnitude >= 1000 || value == math.Trunc(value) {
		digits = 0
	}
	return strconv.FormatFloat(value, 'f', digits, 64)
}
