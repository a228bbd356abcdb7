package bundles

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// bundleAt is a Bundle of a generation that is Ready at another one, 0 for not at all.
func bundleAt(n int, generation, ready int64) *v1.Bundle {
	bundle := &v1.Bundle{ObjectMeta: metav1.ObjectMeta{Name: Name(n), Generation: generation}}
	status := metav1.ConditionTrue
	if ready == 0 {
		status = metav1.ConditionFalse
	}
	bundle.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: status, ObservedGeneration: ready}}
	return bundle
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		last *v1.Bundle
		want bool
	}{
		"Ready at its generation":   {bundleAt(1, 2, 2), true},
		"at a later one":            {bundleAt(1, 3, 3), true},
		"at an earlier one":         {bundleAt(1, 2, 1), false},
		"not at that asked for yet": {bundleAt(1, 1, 1), false},
		"not Ready":                 {bundleAt(1, 2, 0), false},
		"one says nothing":          {&v1.Bundle{ObjectMeta: metav1.ObjectMeta{Name: Name(1), Generation: 2}}, false},
		"not there":                 {bundleAt(2, 2, 2), false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &Readiness{seen: map[string]state{}, changed: make(chan struct{}, 1)}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				r.take(watch.Added, bundleAt(0, 2, 2))
				time.Sleep(time.Minute)
				at := time.Now()
				go r.take(watch.Modified, row.last)
				last, err := r.Await(ctx, 0, 2, 2)
				if !row.want {
					require.ErrorIs(t, err, context.DeadlineExceeded)
					assert.ErrorContains(t, err, "bundle b00001 isn't Ready at generation 2")
					return
				}
				require.NoError(t, err)
				assert.Equal(t, at, last, "when the last one came to be")
			})
		})
	}
}

// That a Bundle is seen again, as after a new watch, doesn't make it Ready later than it was.
func TestReadinessKeepsItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &Readiness{seen: map[string]state{}, changed: make(chan struct{}, 1)}
		r.take(watch.Added, bundleAt(0, 1, 1))
		at := time.Now()
		time.Sleep(time.Minute)
		r.take(watch.Added, bundleAt(0, 1, 1))
		last, err := r.Await(t.Context(), 0, 1, 1)
		require.NoError(t, err)
		assert.Equal(t, at, last)
		r.take(watch.Deleted, bundleAt(0, 1, 1))
		assert.Empty(t, r.seen)
	})
}
