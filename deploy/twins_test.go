package deploy_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rival is a process that applies under the same name as another one.
type rival struct {
	m     *deploy.Manager
	obj   *unstructured.Unstructured
	wrote int
	err   error
}

func (r *rival) look(t *testing.T) {
	t.Helper()
	results, err := r.m.Apply(t.Context(), objects(r.obj))
	if results[0].Changed() {
		r.wrote++
	}
	r.err = err
}

func rivals(t *testing.T, cluster deploy.Cluster, options ...deploy.Option) (one, other *rival) {
	t.Helper()
	of := func(data string) *rival {
		return &rival{m: deploy.NewManager(cluster, append(options, deploy.RetryFor(0))...), obj: settings(t, data)}
	}
	return of("{a: one}"), of("{a: other}")
}

// Two processes that apply different content under one name write less and less often, say so, and go on once the other
// one has ended.
func TestTwoProcessesOfOneName(t *testing.T) {
	t.Parallel()
	for _, strategy := range []deploy.Strategy{deploy.ServerSideApply, deploy.Replace, deploy.Recreate} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				one, other := rivals(t, newCluster(t), deploy.By(strategy))
				for range 600 { // a minute
					one.look(t)
					other.look(t)
					time.Sleep(100 * time.Millisecond)
				}
				assert.LessOrEqual(t, one.wrote, 7)
				assert.LessOrEqual(t, other.wrote, 7)
				var replaced *deploy.ReplacedError
				if one.err == nil {
					one, other = other, one
				}
				require.ErrorAs(t, one.err, &replaced)
				require.EqualError(t, one.err, `ConfigMap shop/settings: another process keeps replacing what was applied, as the same field manager "operkit": `+
					"stop one of the two, or give them different names: is the operator installed twice, or are two of its versions running?")
				before := one.wrote + other.wrote
				for range 600 {
					one.look(t)
					other.look(t)
					time.Sleep(time.Second)
				}
				assert.LessOrEqual(t, one.wrote+other.wrote-before, 12, "in ten minutes")
				time.Sleep(10 * time.Minute)
				one.look(t)
				require.NoError(t, one.err, "the other one has ended")
				one.look(t)
				require.NoError(t, one.err)
			})
		})
	}
}

// What isn't a fight of two processes isn't held up.
func TestNoFight(t *testing.T) {
	t.Parallel()
	t.Run("one's own intent that changes all the time", func(t *testing.T) {
		cluster := newCluster(t)
		m := deploy.NewManager(cluster)
		for i := range 20 {
			apply(t, m, settings(t, []string{"{a: '1'}", "{a: '2'}"}[i%2]))
		}
	})
	t.Run("a release that takes over", func(t *testing.T) {
		cluster := newCluster(t)
		one, other := rivals(t, cluster)
		for range 5 {
			one.look(t)
		}
		other.look(t)
		other.look(t)
		require.NoError(t, other.err)
		assert.Equal(t, 1, other.wrote)
	})
	t.Run("an annotation that somebody edits", func(t *testing.T) {
		cluster := newCluster(t)
		m := deploy.NewManager(cluster)
		for range 10 {
			ref := apply(t, m, settings(t, "{a: '1'}")).Ref
			cluster.edit(t, ref, `{"metadata":{"annotations":{"operkit.dev/applied-operkit":"x"}}}`)
		}
	})
	t.Run("a value that somebody edits is for another rule", func(t *testing.T) {
		cluster := newCluster(t)
		m := deploy.NewManager(cluster)
		ref := apply(t, m, settings(t, "{a: '1'}")).Ref
		cluster.edit(t, ref, `{"data":{"a":"2"}}`)
		assert.Equal(t, deploy.Configured, apply(t, m, settings(t, "{a: '1'}")).Action)
	})
}
