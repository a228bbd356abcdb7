package deploy_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetry(t *testing.T) {
	t.Parallel()
	down := &deploy.UnavailableError{Err: errNo}
	for name, test := range map[string]struct {
		answers []error
		options []deploy.Option
		limit   time.Duration // of the context
		action  deploy.Action
		calls   int
		// It takes at least and at most so long.
		least, most time.Duration
	}{
		"deploy W9: no answer, then one":          {[]error{down, down}, nil, 0, deploy.Created, 3, 150 * time.Millisecond, 300 * time.Millisecond},
		"deploy W9: as long as the server asks":   {[]error{&deploy.UnavailableError{RetryAfter: 7 * time.Second, Err: errNo}}, nil, 0, deploy.Created, 2, 7 * time.Second, 7 * time.Second},
		"deploy W9: until the time is over":       {repeat(down, 100), nil, 0, deploy.Failed, 0, 15 * time.Second, deploy.DefaultRetryTime},
		"as long as is asked for":                 {repeat(down, 100), []deploy.Option{deploy.RetryFor(2 * time.Second)}, 0, deploy.Failed, 0, 700 * time.Millisecond, 2 * time.Second},
		"not at all":                              {[]error{down}, []deploy.Option{deploy.RetryFor(0)}, 0, deploy.Failed, 1, 0, 0},
		"not past the context's deadline":         {repeat(down, 100), nil, 3 * time.Second, deploy.Failed, 0, 700 * time.Millisecond, 3 * time.Second},
		"not for longer than the server lets one": {[]error{&deploy.UnavailableError{RetryAfter: time.Hour, Err: errNo}}, nil, 0, deploy.Failed, 1, 0, 0},
		"deploy W9: never what was refused":       {[]error{&deploy.InvalidError{Err: errNo}}, nil, 0, deploy.Failed, 1, 0, 0},
		"deploy W9: never what is forbidden":      {[]error{&deploy.ForbiddenError{Err: errNo}}, nil, 0, deploy.Failed, 1, 0, 0},
		"deploy W9: never what isn't there":       {[]error{&deploy.NotFoundError{Err: errNo}}, nil, 0, deploy.Failed, 1, 0, 0},
		"never what isn't known":                  {[]error{errNo}, nil, 0, deploy.Failed, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				cluster.before = failing("apply", test.answers...)
				m := must(deploy.NewManager(cluster, test.options...))
				ctx := t.Context()
				if test.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.limit)
					defer cancel()
				}
				start := time.Now()
				results, err := m.Apply(ctx, objects(settings(t, "{a: '1'}")))
				took := time.Since(start)
				require.Len(t, results, 1)
				assert.Equal(t, test.action, results[0].Action, err)
				assert.GreaterOrEqual(t, took, test.least)
				assert.LessOrEqual(t, took, test.most)
				assert.Len(t, cluster.take(), results[0].Calls)
				if test.calls > 0 {
					assert.Equal(t, test.calls, results[0].Calls)
				}
				if test.action == deploy.Failed {
					require.ErrorIs(t, err, test.answers[0], "the reason isn't hidden by the time that is over")
				}
			})
		})
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		down := &deploy.UnavailableError{RetryAfter: 20 * time.Second, Err: errNo}
		cluster.before = failing("apply", down)
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		time.AfterFunc(5*time.Second, func() { cancel(enough) })
		start := time.Now()
		_, err := must(deploy.NewManager(cluster)).Apply(ctx, objects(settings(t, "{a: '1'}"), named(settings(t, "{}"), "other")), deploy.Concurrency(1))
		assert.Equal(t, 5*time.Second, time.Since(start))
		require.ErrorIs(t, err, down)
		require.ErrorIs(t, err, enough, "why the other one wasn't begun")
	})
}

// A request may have been carried out although its answer is lost.
func TestRetryOfWhatWasDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		lost := &deploy.UnavailableError{Err: errNo}
		cluster.after = failing("", lost)
		m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c"))))
		assert.Equal(t, deploy.Created, apply(t, m, settings(t, "{a: '1'}")).Action)
		assert.Len(t, cluster.take(), 2)
		cluster.after = failing("", lost)
		results, err := m.Delete(t.Context(), objects(settings(t, "{}")))
		require.NoError(t, err)
		assert.Equal(t, deploy.Removed, results[0].Action)
		assert.Len(t, cluster.take(), 2)
	})
}

func repeat(err error, n int) []error {
	out := make([]error, n)
	for i := range out {
		out[i] = err
	}
	return out
}
