package dryrun_test

import (
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
)

// vectorEvents are the callbacks of a case: "w" for each event of a watch, "f" once for an
// object that begins to go.
type vectorEvents struct {
	mu    sync.Mutex
	lines [][2]string
}

func (e *vectorEvents) note(op vectorOp, event deploy.Event) {
	if !registered(op, event.New.GetNamespace(), event.New.GetName()) {
		return
	}
	mark := "w"
	if op.Op == "finalizer" {
		mark = "f"
		begun := event.New.GetDeletionTimestamp() != nil && (event.Old == nil || event.Old.GetDeletionTimestamp() == nil)
		gone := event.Type == deploy.Deleted && event.New.GetDeletionTimestamp() == nil
		if !begun && !gone {
			return
		}
	}
	e.add(mark, event.New.GetName())
}

func (e *vectorEvents) add(mark, name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, [2]string{mark, name})
}

func (e *vectorEvents) take() any {
	e.mu.Lock()
	defer e.mu.Unlock()
	result := []any{}
	for _, line := range slices.Clone(e.lines) {
		result = append(result, []any{line[0], line[1]})
	}
	e.lines = nil
	return result
}

// registered tells whether a callback is for an object: by kind, by namespace, or by
// namespace and name (spec: deploy 33).
func registered(op vectorOp, namespace, name string) bool {
	if op.Name != "" {
		return op.Name == name && op.Namespace == namespace
	}
	return op.Namespace == "" || op.Namespace == namespace
}
