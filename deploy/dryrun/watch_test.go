package dryrun_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// watch is record with options.
func watch(t testing.TB, cluster *dryrun.Cluster, options dryrun.WatchOptions) (*recorder, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		cluster.Wait()
	})
	r := &recorder{}
	subscription, err := cluster.Watch(ctx, configMap, options, r.handle)
	if err != nil {
		return nil, err
	}
	return r, subscription.Synced(t.Context())
}

func TestWatchContinues(t *testing.T) {
	t.Parallel()
	lived := func(t *testing.T) *dryrun.Cluster {
		t.Helper()
		cluster := newCluster(t, dryrun.History(4))
		for i := range 6 {
			apply(t, cluster, "m", settings(t, fmt.Sprintf("{a: '%d'}", i)))
		}
		require.NoError(t, cluster.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		return cluster
	}
	for name, test := range map[string]struct {
		since string
		want  []string
		check func(error) bool
	}{
		"deploy W23: after a version, with a deletion in between": {"4", []string{"MODIFIED settings 5", "MODIFIED settings 6", "DELETED settings 7", "ADDED settings 8"}, nil},
		"after the oldest that is kept":                           {"3", []string{"MODIFIED settings 4", "MODIFIED settings 5", "MODIFIED settings 6", "DELETED settings 7", "ADDED settings 8"}, nil},
		"nothing is new":                                          {"7", []string{"ADDED settings 8"}, nil},
		"deploy W23: before what is kept it is a 410":             {"2", nil, apierrors.IsResourceExpired},
		"a version that doesn't exist yet is a timeout":           {"8", nil, apierrors.IsTimeout},
		"a version that is none":                                  {"new", nil, func(err error) bool { return err != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := lived(t)
			events, err := watch(t, cluster, dryrun.WatchOptions{ResourceVersion: test.since})
			if test.check != nil {
				require.Error(t, err)
				assert.True(t, test.check(err), "%v", err)
				return
			}
			require.NoError(t, err)
			apply(t, cluster, "m", settings(t, "{}"))
			assert.Equal(t, test.want, events.wait(t, len(test.want)))
		})
	}
	_, err := watch(t, lived(t), dryrun.WatchOptions{ResourceVersion: "1"})
	var expired *dryrun.ExpiredError
	require.ErrorAs(t, err, &expired)
	assert.EqualError(t, err, "events since resourceVersion 1: not kept any more, list again: too old resource version: 1 (3)")
}

func TestWatchSelects(t *testing.T) {
	t.Parallel()
	web, err := labels.Parse("app=web")
	require.NoError(t, err)
	ref := settingsRef
	act := func(cluster *dryrun.Cluster) {
		merge(t, cluster, ref, "m", `{"metadata":{"labels":{"app":"web"}}}`)
		merge(t, cluster, ref, "m", `{"data":{"a":"1"}}`)
		merge(t, cluster, ref, "m", `{"metadata":{"labels":{"app":"db"}}}`)
		merge(t, cluster, ref, "m", `{"data":{"a":"2"}}`)
		// Every selection has the last one.
		apply(t, cluster, "m", object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: bank, labels: {app: web}}}"))
	}
	for name, test := range map[string]struct {
		options dryrun.WatchOptions
		want    []string
	}{
		"deploy W23: to begin to match is to be added, to cease is to be deleted": {
			dryrun.WatchOptions{Labels: web}, []string{"ADDED settings 3", "MODIFIED settings 4", "DELETED settings 5", "ADDED other 7"}},
		"deploy W23: by name": {dryrun.WatchOptions{Fields: fields.OneTermEqualSelector("metadata.name", "other")}, []string{"ADDED other 2", "ADDED other 7"}},
		"a namespace":         {dryrun.WatchOptions{Namespace: "bank"}, []string{"ADDED other 7"}},
		"everything":          {dryrun.WatchOptions{}, []string{"ADDED settings 1", "ADDED other 2", "MODIFIED settings 3", "MODIFIED settings 4", "MODIFIED settings 5", "MODIFIED settings 6", "ADDED other 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := settings(t, "{}")
			other.SetName("other")
			cluster := newCluster(t, dryrun.Objects(settings(t, "{}"), other))
			events, err := watch(t, cluster, test.options)
			require.NoError(t, err)
			act(cluster)
			assert.Equal(t, test.want, events.wait(t, len(test.want)))
		})
	}
	t.Run("an event that leaves the selection shows the last object that was in it", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.Objects(settings(t, "{}")))
		events, err := watch(t, cluster, dryrun.WatchOptions{Labels: web})
		require.NoError(t, err)
		act(cluster)
		events.wait(t, 4)
		last := events.all()[2]
		assert.Equal(t, map[string]string{"app": "web"}, last.New.GetLabels())
		assert.Equal(t, last.Old, last.New)
	})
	t.Run("deploy W23: what goes with its last finalizer goes as it was stored, whatever else that write says", func(t *testing.T) {
		t.Parallel()
		for before, want := range map[string][]string{"web": {"ADDED settings 1", "MODIFIED settings 2", "DELETED settings 3", "ADDED last 4"}, "db": {"ADDED last 4"}} {
			after := map[string]string{"web": "db", "db": "web"}[before]
			cluster := newCluster(t)
			events, err := watch(t, cluster, dryrun.WatchOptions{Labels: web})
			require.NoError(t, err)
			apply(t, cluster, "m", object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, labels: {app: "+before+"}, finalizers: [shop/hold]}}"))
			require.NoError(t, cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{}))
			written := merge(t, cluster, ref, "m", `{"metadata":{"labels":{"app":"`+after+`"},"finalizers":null}}`)
			assert.Equal(t, after, written.GetLabels()["app"], "whoever wrote it is answered what was written")
			assert.Equal(t, "3", written.GetResourceVersion())
			apply(t, cluster, "m", object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: last, namespace: shop, labels: {app: web}}}"))
			assert.Equal(t, want, events.wait(t, len(want)))
			if before == "web" {
				gone := events.all()[2]
				assert.Equal(t, gone.Old, gone.New)
				assert.Equal(t, []string{"shop/hold"}, gone.New.GetFinalizers())
			}
		}
	})
	t.Run("a field that nobody can select by", func(t *testing.T) {
		t.Parallel()
		_, err := watch(t, newCluster(t), dryrun.WatchOptions{Fields: fields.OneTermEqualSelector("data.a", "1")})
		var invalid *deploy.InvalidError
		require.ErrorAs(t, err, &invalid)
	})
}

func TestHistoryOfNothing(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, dryrun.History(0), dryrun.Objects(settings(t, "{}")))
	events, err := watch(t, cluster, dryrun.WatchOptions{ResourceVersion: "1"})
	require.NoError(t, err, "nothing has happened since")
	merge(t, cluster, settingsRef, "m", `{"data":{"a":"1"}}`)
	assert.Equal(t, []string{"MODIFIED settings 2"}, events.wait(t, 1))
	_, err = watch(t, cluster, dryrun.WatchOptions{ResourceVersion: "1"})
	var expired *dryrun.ExpiredError
	require.ErrorAs(t, err, &expired)
}
