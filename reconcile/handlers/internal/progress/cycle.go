package progress

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
)

// Record is what is known about a handler in the present cycle. The zero value is a handler that wasn't called yet.
type Record struct {
	// Purpose is the reason of the cycle, and Seen identifies the essence of the last attempt, empty before the first.
	Purpose cause.Reason `json:"purpose"`
	Seen    string       `json:"seen,omitempty"`
	// Started is the time of the first attempt, Due the time before which there is no other attempt, and Ended the time
	// at which the handler succeeded or failed for good.
	Started time.Time `json:"started,omitzero"`
	Due     time.Time `json:"due,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Attempts counts the calls that have returned, and Waited those among them that have only waited for something.
	// Waiting: the last one has.
	Attempts int  `json:"attempts,omitempty"`
	Waited   int  `json:"waited,omitempty"`
	Waiting  bool `json:"waiting,omitempty"`
	// Failed: the handler has ended without success. Message is the text of the last error.
	Failed  bool   `json:"failed,omitempty"`
	Message string `json:"message,omitempty"`
}

// HasEnded reports whether the handler isn't called any more in this cycle.
func (r Record) HasEnded() bool { return !r.Ended.IsZero() }

// Cycle has the records of the handlers that are called for one cause, by id. The id of a step is that of its handler,
// a slash and its name. The zero value is no cycle. Methods don't change a Cycle: they return another one.
type Cycle map[string]Record

// For returns the cycle for a cause: reason and seen, which identifies the essence of the object. ids are the handlers
// that are called for the cause. A cycle that lasts goes on:
//
//   - Handlers that aren't called for the cause are dropped, with their steps. Without ids there is no cycle.
//   - A handler that has ended for another essence or another reason is called again: it must see what is there now.
//   - A handler that waits for its next attempt keeps its attempts. A new essence ends the wait. A deletion begins
//     anew: attempts for other causes don't count.
func (c Cycle) For(reason cause.Reason, seen string, ids []string) Cycle {
	next := make(Cycle, len(ids))
	for _, id := range ids {
		next[id] = c[id].adopted(reason, seen)
	}
	for id, record := range c {
		if parent, _, isStep := strings.Cut(id, "/"); isStep && slices.Contains(ids, parent) && !next[parent].isAnew(c[parent]) {
			next[id] = record.adopted(reason, seen)
		}
	}
	return next
}

// adopted returns the record for a cause.
func (r Record) adopted(reason cause.Reason, seen string) Record {
	other := r.Seen != "" && r.Seen != seen
	if r.HasEnded() && (other || r.Purpose != reason) || reason == cause.Delete && r.Purpose != reason {
		return Record{Purpose: reason}
	}
	r.Purpose = reason
	if other {
		r.Due = time.Time{}
	}
	return r
}

// ActedOnOther reports whether the handler has succeeded for another essence.
func (r Record) ActedOnOther(seen string) bool {
	return r.HasEnded() && !r.Failed && r.Seen != "" && r.Seen != seen
}

// ActedOnOther reports whether a handler or a step has succeeded for another essence. Then the object isn't as it was
// handled last, even if its essence is.
func (c Cycle) ActedOnOther(seen string) bool {
	for _, record := range c {
		if record.ActedOnOther(seen) {
			return true
		}
	}
	return false
}

// ActedIn reports whether a handler, or one of its steps, has succeeded for another essence.
func (c Cycle) ActedIn(id, seen string) bool {
	for each, record := range c {
		if parent, _, _ := strings.Cut(each, "/"); parent == id && record.ActedOnOther(seen) {
			return true
		}
	}
	return false
}

// Updates reports whether handlers are called for an update to an essence: one of them was called, and not all have
// ended.
func (c Cycle) Updates(seen string) bool {
	if c.Done() {
		return false
	}
	for _, record := range c {
		if record.Purpose == cause.Update && record.Seen == seen {
			return true
		}
	}
	return false
}

// UpdatesIn reports whether a handler is among those that are called for an update to an essence.
func (c Cycle) UpdatesIn(id, seen string) bool {
	record := c[id]
	return record.Purpose == cause.Update && (record.Seen == "" || record.Seen == seen) && c.Updates(seen)
}

// Without returns the cycle without the handlers that have ended for a reason.
func (c Cycle) Without(reason cause.Reason) Cycle {
	next := maps.Clone(c)
	maps.DeleteFunc(next, func(_ string, r Record) bool { return r.Purpose == reason && r.HasEnded() })
	return next
}

// isAnew reports whether a record begins again that had ended as before.
func (r Record) isAnew(before Record) bool { return before.HasEnded() && !r.HasEnded() }

// Ready returns the handlers that are to be called now, sorted by id. Steps are called by their handlers.
func (c Cycle) Ready(now time.Time) (ids []string) {
	for id, record := range c {
		if !strings.Contains(id, "/") && !record.HasEnded() && !record.Due.After(now) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Done reports whether all handlers have ended. It is true for no cycle.
func (c Cycle) Done() bool {
	for id, record := range c {
		if !strings.Contains(id, "/") && !record.HasEnded() {
			return false
		}
	}
	return true
}

// Next returns the time at which the first handler that waits is to be called, and false if none waits.
func (c Cycle) Next() (due time.Time, ok bool) {
	for id, record := range c {
		if strings.Contains(id, "/") || record.HasEnded() {
			continue
		}
		if !ok || record.Due.Before(due) {
			due, ok = record.Due, true
		}
	}
	return due, ok
}

// With returns the cycle with another record of one handler or step.
func (c Cycle) With(id string, record Record) Cycle {
	next := maps.Clone(c)
	if next == nil {
		next = Cycle{}
	}
	next[id] = record
	return next
}

// Renamed returns the cycle with the records of a handler and its steps under another id, unless that has records.
func (c Cycle) Renamed(from, to string) Cycle {
	if _, known := c[from]; !known {
		return c
	}
	if _, taken := c[to]; taken {
		return c
	}
	next := make(Cycle, len(c))
	for id, record := range c {
		if parent, step, isStep := strings.Cut(id, "/"); isStep && parent == from {
			id = to + "/" + step
		} else if id == from {
			id = to
		}
		next[id] = record
	}
	return next
}
