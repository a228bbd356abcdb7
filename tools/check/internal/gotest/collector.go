package gotest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Collector reads the events of a run and counts them. When a package has ended, it prints it as go test does: first
// the output of tests that failed or were skipped, then the package's line.
//
// It is not safe for concurrent use.
type Collector struct {
	// Tally holds the counts of the packages that have ended, Results the runs of their tests.
	Tally   Tally
	Results []Result

	out      io.Writer
	packages map[string]*packageRun
}

// NewCollector returns a collector that prints to out.
func NewCollector(out io.Writer) *Collector {
	return &Collector{out: out, packages: map[string]*packageRun{}}
}

// outcome is how one run of one test ended. The zero value means that the run hasn't ended.
type outcome string

const (
	passed  outcome = "pass"
	failed  outcome = "fail"
	skipped outcome = "skip"
)

// Result is how one run of one test ended. With -count a test has several results. A test that was skipped or didn't
// end hasn't passed.
type Result struct {
	Package, Test string
	Passed        bool
}

type testRun struct {
	test    string
	outcome outcome
}

type output struct {
	test *testRun // nil: the package's own
	text string
}

type packageRun struct {
	running map[string]*testRun
	runs    []*testRun
	outputs []output
}

// Line reads one line of the output of go test -json. It prints a line that isn't an event unchanged.
func (c *Collector) Line(line []byte) {
	if event, ok := ParseEvent(line); ok {
		c.Event(event)
		return
	}
	_, _ = fmt.Fprintf(c.out, "%s\n", line)
}

// Event reads one event.
func (c *Collector) Event(e Event) {
	if e.Action == "build-output" {
		_, _ = io.WriteString(c.out, e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := c.packages[e.Package]
	if p == nil {
		p = &packageRun{running: map[string]*testRun{}}
		c.packages[e.Package] = p
	}
	if e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
		delete(c.packages, e.Package)
		c.end(e.Package, p, e.Action == "fail")
		return
	}
	p.event(e)
}

func (p *packageRun) event(e Event) {
	switch e.Action {
	case "run":
		run := &testRun{test: e.Test}
		p.running[e.Test] = run
		p.runs = append(p.runs, run)
	case "pass", "fail", "skip":
		if run := p.running[e.Test]; run != nil {
			run.outcome = outcome(e.Action)
		}
	case "output":
		p.outputs = append(p.outputs, output{test: p.running[e.Test], text: e.Output})
	}
}

// Close counts packages that haven't ended as failed. An interrupted run leaves such packages.
func (c *Collector) Close() {
	for name, p := range c.packages {
		delete(c.packages, name)
		c.end(name, p, true)
	}
}

func (c *Collector) end(name string, p *packageRun, failedPackage bool) {
	before := c.Tally.Failed
	for _, run := range p.runs {
		switch run.outcome {
		case passed:
			c.Tally.Passed++
		case skipped:
			c.Tally.Skipped++
		default:
			run.outcome = failed
			c.Tally.Failed++
		}
		c.Results = append(c.Results, Result{name, run.test, run.outcome == passed})
	}
	if failedPackage && c.Tally.Failed == before {
		c.Tally.Failed++
	}
	for _, o := range p.outputs {
		if wanted(o, failedPackage) {
			_, _ = io.WriteString(c.out, o.text)
		} else if found := figure.FindStringSubmatch(o.text); found != nil {
			_, _ = io.WriteString(c.out, found[1])
		}
	}
}

var (
	// figure matches a line in which a test reports what it has measured or counted. t.Log puts a position in the code
	// before that text.
	figure = regexp.MustCompile(`(?s)^ *(?:\S+\.go:\d+: )?((?:COUNT|RATIO|VECTORS) .*)$`)
	// progress matches a progress line of a verbose test run.
	progress = regexp.MustCompile(`^=== (?:RUN|PAUSE|CONT|NAME) `)
)

// wanted reports whether a line of output is printed. The output of a test is printed if the test didn't pass. Of the
// other output, all is printed if the package failed, otherwise only the last line. The seed of a long run is always
// printed.
func wanted(o output, failedPackage bool) bool {
	if o.test != nil {
		return o.test.outcome != passed && !progress.MatchString(o.text) || strings.Contains(o.text, ": SOAK ")
	}
	return failedPackage || strings.HasPrefix(o.text, "ok  \t") || strings.HasPrefix(o.text, "?   \t")
}

// Event is one line of the output of go test -json; see go doc test2json and go help buildjson.
type Event struct{ Action, Package, Test, Output string }

// ParseEvent reads one line. It returns false for a line that isn't an event; the go command prints such lines in rare
// cases.
func ParseEvent(line []byte) (Event, bool) {
	var event Event
	err := json.Unmarshal(line, &event)
	return event, err == nil && event.Action != ""
}

// lines is an io.Writer that calls each for each line that is written.
type lines struct {
	partial []byte
	each    func(line []byte)
}

func (l *lines) Write(p []byte) (int, error) {
	l.partial = append(l.partial, p...)
	for {
		end := bytes.IndexByte(l.partial, '\n')
		if end < 0 {
			return len(p), nil
		}
		l.each(l.partial[:end])
		l.partial = l.partial[end+1:]
	}
}

// flush passes on the text after the last line break.
func (l *lines) flush() {
	if len(l.partial) > 0 {
		l.each(l.partial)
		l.partial = nil
	}
}

// Tally counts how tests ended. The zero value is ready to use.
type Tally struct{ Passed, Failed, Skipped int }

// Add adds the counts of other.
func (t *Tally) Add(other Tally) {
	t.Passed += other.Passed
	t.Failed += other.Failed
	t.Skipped += other.Skipped
}

// OK reports whether a run with these counts is a success: tests ran, and all passed.
func (t Tally) OK() bool { return t.Passed > 0 && t.Failed == 0 && t.Skipped == 0 }

// String returns the last line of a run's output.
func (t Tally) String() string {
	return fmt.Sprintf("TESTS passed=%d failed=%d skipped=%d", t.Passed, t.Failed, t.Skipped)
}
