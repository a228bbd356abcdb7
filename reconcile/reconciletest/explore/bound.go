package explore

import (
	"fmt"
	"strings"
	"time"
)

// spent reports whether an exploration ends: it has used up its states or its time, or found enough.
func (e *explorer) spent() bool { return e.reason() != "" }

// reason returns the option that ends the exploration, empty if it goes on.
func (e *explorer) reason() string {
	switch {
	case len(e.findings) >= e.options.findings || e.options.enough != nil && e.options.enough(e.report):
		return fmt.Sprintf("Findings(%d)", e.options.findings)
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
	if strings.HasPrefix(reason, "Findings") {
		return "mend what was found first"
	}
	return "raise the bound to try them"
}
