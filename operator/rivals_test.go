package operator_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flavour is an operator of gadgets that gives their ConfigMaps a content of its own.
type flavour struct {
	settings
	mode string
}

func (f flavour) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("store").Add("settings", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name()}, "data": map[string]any{"mode": f.mode},
	})
	return nil
}

// One operator that is installed twice, in two versions: each install replaces what the other one applies, by the same
// name.
func TestOperatorInstalledTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	mark := w.Mark(t)
	var installs []*running
	for _, mode := range []string{"vanilla", "mint"} {
		op := operator.New("gadget-operator")
		op.Control(flavour{settings{gadgets}, mode})
		installs = append(installs, w.run(mode, op, w.replica(mode, rightsIn(t, "## Events\n")...), "--namespace", w.Namespace))
	}
	w.gadget("one", "nothing")
	both := func(condition func(r *running) bool) func() bool {
		return func() bool { return !slices.ContainsFunc(installs, func(r *running) bool { return !condition(r) }) }
	}
	w.eventually("both back off", both(func(r *running) bool { return len(r.log.lines("is the operator installed twice?")) > 0 }))
	w.eventually("the condition says so", func() bool {
		updating, _ := status.Conditions(w.get(gadgets, "one")).Get(status.ConditionUpdating)
		return updating.Reason == string(status.UpdatingClusterError) &&
			strings.Contains(updating.Message, `another process applies this object as the same field manager "gadget-operator"`)
	})
	w.eventually("an event says so", func() bool {
		return slices.ContainsFunc(w.events(), func(e string) bool {
			return strings.HasPrefix(e, "Warning Contested one") && strings.Contains(e, "is the operator installed twice?")
		})
	})
	writes := w.CallsSince(t, mark, installs[0].user, installs[1].user).Of("configmaps").With("patch")
	assert.LessOrEqual(t, len(writes), 16, "before they back off: %s", writes)
	require.NotEmpty(t, writes)

	time.Sleep(time.Second) // the events and statuses of the fight
	mark = w.Mark(t)
	const watched = 20 * time.Second
	time.Sleep(watched)
	calm := w.CallsSince(t, mark, installs[0].user, installs[1].user).Writes()
	assert.LessOrEqual(t, len(calm), 4, "in %s: %s", watched, calm)
}
