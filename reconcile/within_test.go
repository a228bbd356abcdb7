package reconcile

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRequeueWithin(t *testing.T) {
	t.Parallel()
	not := request.Precondition("not yet")
	for reason, row := range map[string]struct {
		within  []time.Duration
		requeue time.Duration
		deploy  error
		want    time.Duration
	}{
		"time 1: shorter than the period":                      {within: []time.Duration{time.Minute}, want: time.Minute},
		"the period is shorter":                                {within: []time.Duration{time.Hour}, want: 10 * time.Minute},
		"the shortest of several counts":                       {within: []time.Duration{time.Minute, time.Second, time.Hour}, want: time.Second},
		"zero and negative times are ignored":                  {within: []time.Duration{0, -1}, want: 10 * time.Minute},
		"time 1: Requeue returns a longer time":                {within: []time.Duration{time.Minute}, requeue: time.Hour, want: time.Minute},
		"Requeue returns a shorter time":                       {within: []time.Duration{time.Minute}, requeue: time.Second, want: time.Second},
		"time 1: Requeue returns a negative time, for never":   {within: []time.Duration{time.Minute}, requeue: -1, want: time.Minute},
		"a component waits, and would be looked at later":      {within: []time.Duration{time.Second}, deploy: not, want: time.Second},
		"a component waits, and is looked at before that time": {within: []time.Duration{time.Hour}, deploy: not, want: time.Minute},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := &requeueing{after: row.requeue}
			r.setup = func(_ context.Context, s *Session) error {
				for _, after := range row.within {
					s.RequeueWithin(after)
				}
				s.Use("c", &particular{built: *building("a"), note: func(string) {}, deploy: row.deploy})
				return nil
			}
			_, result, err := w.once(w.reconciler(r))
			require.NoError(t, err)
			assert.Equal(t, row.want, result.RequeueAfter)
		})
	}
}

func TestNow(t *testing.T) {
	t.Parallel()
	t.Run("time 2: by the clock of the reconciler", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		at := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
		var now time.Time
		r := &requeueing{}
		r.setup = func(_ context.Context, s *Session) error {
			now = s.Now()
			return nil
		}
		_, _, err := w.once(w.reconciler(r, Clock(func() time.Time { return at })))
		require.NoError(t, err)
		assert.Equal(t, at, now)
	})
}
