package gotest

import "fmt"

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

// String is the last line of a run.
func (t Tally) String() string {
	return fmt.Sprintf("TESTS passed=%d failed=%d skipped=%d", t.Passed, t.Failed, t.Skipped)
}
