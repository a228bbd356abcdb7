package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// lengthVariable is the variable of the environment that sets how long each exploration of Run and Drive takes, such as
// 5m, in place of its bound.
const lengthVariable = "OPERKIT_EXPLORE"

// lengthened returns options with the length that the variable of the environment says, empty for none.
func lengthened(opts []Option, length string) ([]Option, error) {
	if length == "" {
		return opts, nil
	}
	d, err := time.ParseDuration(length)
	if err != nil || d <= 0 {
		return nil, fmt.Errorf("%s=%s: give a time such as 5m, or leave the variable out", lengthVariable, length)
	}
	return append(slices.Clone(opts), States(byDefault), For(d)), nil
}

// spent reports whether an exploration ends: it has used up its states or its time, or found enough.
func (e *explorer) spent() bool { return e.reason() != "" }

// reason returns the option, or the reconcile without an end, that ends the exploration; empty if it goes on.
func (e *explorer) reason() string {
	switch {
	case len(e.findings) >= e.options.findings || e.options.enough != nil && e.options.enough(e.report):
		return fmt.Sprintf("Findings(%d)", e.options.findings)
	case e.hangs:
		return neverEnds
	case e.visited >= e.options.states:
		return fmt.Sprintf("States(%d)", e.options.states)
	case e.options.timed && !time.Now().Before(e.ends):
		return fmt.Sprintf("For(%s)", e.options.limit)
	}
	return ""
}

// leftOut returns what the exploration hasn't tried because a bound ended it, empty for nothing.
func (e *explorer) leftOut() string {
	var parts []string
	if tried, possible := e.covered.sum(); tried < possible {
		parts = append(parts, fmt.Sprintf("%d of %d disturbances", possible-tried, possible))
	}
	if e.covered.edited < e.covered.edits {
		parts = append(parts, fmt.Sprintf("%d of %d edits", e.covered.edits-e.covered.edited, e.covered.edits))
	}
	reason := e.reason()
	if len(parts) == 0 || reason == "" || e.options.replay != "" {
		return ""
	}
	return fmt.Sprintf("left out by %s: %s: %s", reason, strings.Join(parts, ", "), remedy(reason))
}

// remedy returns what to do for a better coverage.
func remedy(reason string) string {
	if strings.HasPrefix(reason, "Findings") || reason == neverEnds {
		return "mend what was found first"
	}
	return "raise the bound to try them"
}
