package handlers_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// played plays one pass over a new object with one handler.
func played(t *testing.T, script map[string]any) *play {
	script["id"], script["on"] = "a", "create"
	p := newPlay(t, map[string]any{
		"body": map[string]any{
			"apiVersion": "example.dev/v1", "kind": "Claim", "metadata": map[string]any{"name": "small", "namespace": "shop", "uid": "u"},
			"spec": map[string]any{"size": int64(1)},
		},
		"handlers": []any{script},
	})
	require.NoError(t, p.start())
	p.pass(false)
	return p
}

func TestLate(t *testing.T) {
	t.Run("handlers 18: a success after the deadline doesn't count, and the log says why", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := played(t, map[string]any{"timeout": int64(10), "outcomes": []any{map[string]any{"result": int64(1), "takes": int64(20)}}})
			assert.Equal(t, ending{true, 1, "given up after 10s: the handler took longer than 10s: context deadline exceeded", p.begin.UTC().Add(seconds(int64(10)))}, p.ended["a"])
			assert.Nil(t, p.live().Object["status"])
		})
	})
}

func TestStepResult(t *testing.T) {
	t.Run("handlers 72: a step has no result", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := played(t, map[string]any{"outcomes": []any{map[string]any{"result": int64(1)}}, "subs": []any{
				map[string]any{"id": "x", "outcomes": []any{map[string]any{"result": int64(2)}}},
			}})
			assert.Equal(t, map[string]any{"a": int64(1)}, p.live().Object["status"])
		})
	})
}
