package playbook

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	kjson "sigs.k8s.io/json"
)

const (
	// maxEvents is the size of all events of a run, in bytes.
	maxEvents = 32 << 20
	// maxEvent is the size of one event, in bytes.
	maxEvent = 64 << 10
	// maxName and maxMessage are how much of a task's name and message is kept, in bytes.
	maxName, maxMessage = 256, 4 << 10
	// maxCount is the largest count.
	maxCount = 1 << 30
)

// event is a line that the plugin writes.
type event struct {
	// Event is task or stats.
	Event string `json:"event"`

	// Of a task.
	Name    string `json:"name,omitempty"`
	Action  string `json:"action,omitempty"`
	Status  string `json:"status,omitempty"`
	Ignored bool   `json:"ignored,omitempty"`
	Rescued bool   `json:"rescued,omitempty"`
	Message string `json:"message,omitempty"`
	// Period is the time that requeue_after sets.
	Period string `json:"period,omitempty"`

	// Of the stats.
	OK          int `json:"ok,omitempty"`
	Changed     int `json:"changed,omitempty"`
	Failures    int `json:"failures,omitempty"`
	Skipped     int `json:"skipped,omitempty"`
	Unreachable int `json:"unreachable,omitempty"`
	RescuedAll  int `json:"rescuedTasks,omitempty"`
	IgnoredAll  int `json:"ignoredTasks,omitempty"`
	// StatusData is the status that tasks have set. IsStatusLarge: it is too large to be written.
	StatusData    map[string]any `json:"statusData,omitempty"`
	IsStatusLarge bool           `json:"isStatusLarge,omitempty"`
}

// readEvents reads the events of a run. hasStats reports whether the playbook has come to its end: its stats are the
// last event then. An event that isn't as the plugin writes it is an error with the number of its line.
func readEvents(from io.Reader) (result *Result, hasStats bool, err error) {
	result = &Result{}
	lines := bufio.NewScanner(io.LimitReader(from, maxEvents+1))
	lines.Buffer(nil, maxEvent)
	size := 0
	for n := 1; lines.Scan(); n++ {
		if size += len(lines.Bytes()) + 1; size > maxEvents {
			return nil, false, fmt.Errorf("events: larger than %d bytes: run fewer tasks", maxEvents)
		}
		var e event
		unknown, err := kjson.UnmarshalStrict(lines.Bytes(), &e)
		if err = errors.Join(append(unknown, err)...); err == nil {
			err = result.add(&e, hasStats)
		}
		if err != nil {
			return nil, false, fmt.Errorf("events: line %d: %w", n, err)
		}
		hasStats = hasStats || e.Event == "stats"
	}
	if err := lines.Err(); err != nil {
		return nil, false, fmt.Errorf("events: %w", err)
	}
	return result, hasStats, nil
}

// add adds an event.
func (r *Result) add(e *event, isOver bool) error {
	switch {
	case isOver:
		return fmt.Errorf("event %q after the end", printable(e.Event, maxName))
	case e.Event == "stats":
		return r.addStats(e)
	case e.Event != "task":
		return fmt.Errorf("unknown event %q", printable(e.Event, maxName))
	}
	if e.Period != "" && e.Status != "failed" && r.RequeueAfter == nil {
		period, err := time.ParseDuration(e.Period)
		if err != nil || period < 0 {
			return fmt.Errorf("task %q: period %q: must be a time, such as 30s", printable(e.Name, maxName), printable(e.Period, maxName))
		}
		r.RequeueAfter = &period
	}
	switch e.Status {
	case "ok", "changed", "skipped":
	case "failed", "unreachable":
		if !e.Ignored && !e.Rescued && len(r.Failed) < MaxFailed {
			r.Failed = append(r.Failed, FailedTask{
				printable(e.Name, maxName), printable(e.Action, maxName), printable(e.Message, maxMessage), e.Status == "unreachable",
			})
		}
	default:
		return fmt.Errorf("task %q: unknown status %q", printable(e.Name, maxName), printable(e.Status, maxName))
	}
	return nil
}

func (r *Result) addStats(e *event) error {
	counts := []int{e.OK, e.Changed, e.Failures, e.Skipped, e.Unreachable, e.RescuedAll, e.IgnoredAll}
	for i, to := range []*int{&r.OK, &r.Changed, &r.Failures, &r.Skipped, &r.Unreachable, &r.Rescued, &r.Ignored} {
		if counts[i] < 0 || counts[i] > maxCount {
			return fmt.Errorf("stats: %d is no count", counts[i])
		}
		*to = counts[i]
	}
	if r.Failures == 0 { // Ansible knows best which failures were rescued
		r.Failed = slices.DeleteFunc(r.Failed, func(task FailedTask) bool { return !task.Unreachable })
	}
	if e.IsStatusLarge {
		return errors.New("stats: the status that set_stats has set is larger than 32 KiB: set less")
	}
	if _, has := e.StatusData["conditions"]; has {
		return errors.New("stats: set_stats has set conditions in the status, which are those of the operator: set other fields")
	}
	r.Status = e.StatusData
	return nil
}

// printable returns a text without control characters other than line breaks and tabs, of at most so many bytes.
func printable(from string, longest int) string {
	if len(from) > longest {
		from = from[:longest] + "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(from, ""))
}
