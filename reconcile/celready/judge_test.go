package celready

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"cel.dev/cel-go/common/types"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var (
	_ reconcile.Judge = (*Rule)(nil).Judge
	_                 = readiness.Expectation{Func: (*Rule)(nil).Result}
)

var gameServer = Expressions{
	Ready:   "object.status.state in ['Ready', 'Allocated']",
	Failed:  "object.status.state in ['Error', 'Unhealthy'] || object.status.players > 10",
	Message: "'it is ' + object.status.state",
}

func TestJudge(t *testing.T) {
	t.Parallel()
	rule := compiled(t, gameServer)
	for _, row := range []struct {
		reason, object string
		waits          bool
		want           string // empty: ready
	}{
		{"ready", `{apiVersion: agones.dev/v1, kind: GameServer, status: {state: Ready}}`, false, ""},
		{"on the way", `{apiVersion: agones.dev/v1, kind: GameServer, status: {state: Starting}}`, true, "InProgress (it is Starting)"},
		{"new", `{apiVersion: agones.dev/v1, kind: GameServer}`, true, "InProgress (object.status.state isn't there yet)"},
		{"failed", `{apiVersion: agones.dev/v1, kind: GameServer, status: {state: Error}}`, false, "Failed (it is Error)"},
		{
			"being deleted", `{apiVersion: agones.dev/v1, kind: GameServer, metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, status: {state: Ready}}`, true,
			"Terminating (the object is being deleted)",
		},
		{
			"not observed", `{apiVersion: agones.dev/v1, kind: GameServer, metadata: {generation: 2}, status: {observedGeneration: 1, state: Ready}}`, true,
			"InProgress (generation 2 is not observed yet: the status is of generation 1)",
		},
		{
			"a message that is impossible", `{apiVersion: agones.dev/v1, kind: GameServer, status: {state: 7}}`, true,
			"InProgress (the expression ready is not true: object.status.state in ['Ready', 'Allocated']; the expression message, 1:10: \"it is \" + object.status.state can't be evaluated: no such overload)",
		},
		{
			"a mistake in the expression fails, so that it is seen", `{apiVersion: agones.dev/v1, kind: GameServer, status: {state: Ready, players: none}}`, false,
			"Unknown (GameServer.agones.dev: the expression failed, 1:72: object.status.players > 10 can't be evaluated: no such overload)",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			err := rule.Judge(t.Context(), read(t, row.object))
			if row.want == "" {
				assert.NoError(t, err)
				return
			}
			require.EqualError(t, err, row.want)
			assert.Equal(t, row.waits, request.IsWaiting(err))
		})
	}
	t.Run("an object without a kind", func(t *testing.T) {
		t.Parallel()
		err := rule.Judge(t.Context(), &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}})
		assert.EqualError(t, err, "Unknown (the object names no kind)")
		assert.False(t, request.IsWaiting(err))
	})
	t.Run("no object", func(t *testing.T) {
		t.Parallel()
		for _, none := range []*unstructured.Unstructured{nil, {}} {
			err := rule.Judge(t.Context(), none)
			assert.EqualError(t, err, "NotFound (there is no such object)")
			assert.True(t, request.IsWaiting(err))
		}
	})
}

func TestJudgeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	rule := compiled(t, Expressions{Ready: "object.list.all(n, n >= 0)"})
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	err := rule.Judge(ctx, large())
	assert.ErrorIs(t, err, enough)
	assert.EqualError(t, err, "Unknown (Large.example.dev: the expression ready was interrupted: enough)")
	assert.False(t, request.IsWaiting(err))
}

// A Rule is shared by all reconciles of a kind.
func TestRuleIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	rules := []*Rule{
		compiled(t, Expressions{Ready: "timestamp(object.spec.replicas * 999999999999) > timestamp(0)"}), // an error that cel-go shares
		compiled(t, Expressions{Ready: "object.spec.text.getHours() == 1"}),
		compiled(t, certificate), compiled(t, gateway),
		compiled(t, Expressions{Ready: "object.spec.text.matches('^L') && object.spec.list.all(n, n in [1, 3])", Message: "object.spec.list.map(n, string(n)).join()"}),
	}
	object := read(t, thing)
	results := make([][]readiness.Result, 8)
	var all sync.WaitGroup
	start := make(chan struct{})
	for n := range results {
		all.Go(func() {
			<-start
			for range 50 {
				for _, rule := range rules {
					results[n] = append(results[n], rule.Result(noTime, object.Object))
					_ = rule.Judge(t.Context(), object)
				}
			}
		})
	}
	for range 4 {
		all.Go(func() {
			_, err := Compile(knativeService)
			assert.NoError(t, err)
		})
	}
	close(start)
	all.Wait()
	for _, result := range results {
		for i := range result {
			require.Equal(t, rules[i%len(rules)].Result(noTime, object.Object), result[i])
		}
	}
}

// An error that cel-go shares between evaluations has a place before any has begun, so that none writes to it.
func TestSharedErrorsArePlaced(t *testing.T) {
	t.Parallel()
	_, err := environment()
	require.NoError(t, err)
	assert.EqualValues(t, nowhere, types.NoSuchOverloadErr().(*types.Err).NodeID())

	_, _, err = compiled(t, Expressions{Ready: "timestamp(object.number) > timestamp(0)"}).ready.program.Eval(activation{map[string]any{"number": int64(math.MaxInt64)}})
	var shared *types.Err
	require.ErrorAs(t, err, &shared)
	assert.EqualValues(t, nowhere, shared.NodeID())
}
