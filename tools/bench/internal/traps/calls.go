package traps

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/plane"
	"github.com/operkit/operkit/tools/envtest/audit"
)

// calls returns all requests of the operator so far.
func (st *stage) calls(ctx context.Context) (audit.Calls, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	more, err := st.tail.Next(ctx)
	st.seen = append(st.seen, more...)
	return slices.Clip(st.seen), err
}

// mark returns the number of the operator's requests so far.
func (st *stage) mark(ctx context.Context) (int, error) {
	calls, err := st.calls(ctx)
	return len(calls), err
}

// writes returns the operator's writes to the Bundle and its children since a mark.
func (s *scene) writes(ctx context.Context, mark int) (audit.Calls, error) {
	calls, err := s.calls(ctx)
	if err != nil {
		return nil, err
	}
	return calls[mark:].Writes().In(plane.Namespace).Filter(func(call audit.Call) bool {
		return call.Name == s.bundle || strings.HasPrefix(call.Name, s.bundle+"-")
	}), nil
}

// surplus returns the writes since a mark that edits of the message don't require.
func (s *scene) surplus(ctx context.Context, mark int) (audit.Calls, error) {
	writes, err := s.writes(ctx, mark)
	return writes.Filter(func(call audit.Call) bool {
		return call.Target() != "bundles.bench.operkit.dev/status" && call.Name != s.bundle+"-message"
	}), err
}

// awaitRest waits until the operator doesn't write the Bundle and its children any more.
func (s *scene) awaitRest(ctx context.Context) error {
	var writes audit.Calls
	return await(ctx, enough, func(ctx context.Context) (done bool, err error) {
		writes, err = s.writes(ctx, 0)
		return len(writes) == 0 || time.Since(writes[len(writes)-1].Received) > quiet, err
	}, func() string {
		return "it doesn't stop writing, at last " + writes[len(writes)-1].String()
	})
}

// counted returns a text with the number of calls for each target.
func counted(calls audit.Calls) string {
	total := fmt.Sprintf("%d writes", len(calls))
	if len(calls) == 1 {
		total = "1 write"
	}
	counts := calls.Count()
	if len(counts) == 0 {
		return total
	}
	var parts []string
	for _, call := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[call], call))
	}
	return total + " (" + strings.Join(parts, ", ") + ")"
}
