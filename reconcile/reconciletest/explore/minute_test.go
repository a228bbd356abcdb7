package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMinute(t *testing.T) {
	polling := func(again time.Duration) func() *manual {
		return func() *manual {
			m := newManual(careful, true, "ConfigMap")
			m.again = again
			return m
		}
	}
	t.Run("explore 56: it looks a hundred times a second", func(t *testing.T) {
		r := explored(t, polling(10*time.Millisecond), startDriven, Findings(1), States(300))
		require.Len(t, r.findings, 1, stories(r))
		assert.Equal(t, `explore: the operator never rests though nothing happens
  1. create Shop.explore.operkit.dev tea
  2. a minute passes
  => Shop.explore.operkit.dev test/tea: 300 reconciles in less than a minute, the last one ended with: again after 10ms
  replay: explore.Replay("Shop.explore.operkit.dev tea for a minute | without spec.sign")`, r.findings[0].story())
	})
	t.Run("explore 56: it looks once a second", func(t *testing.T) {
		r := explored(t, polling(time.Second), startDriven, States(200))
		assert.Empty(t, r.findings, stories(r))
	})
}
