package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	create := func(t *testing.T, c *dryrun.Cluster, obj *unstructured.Unstructured, options deploy.CreateOptions) *unstructured.Unstructured {
		t.Helper()
		created, err := requests(c).Create(t.Context(), obj, options)
		require.NoError(t, err)
		return created
	}
	t.Run("what is created by POST is owned by an update, which no apply removes", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		manifest := settings(t, "{a: '1', b: '2'}")
		kept := manifest.DeepCopy()
		created := create(t, cluster, manifest, deploy.CreateOptions{FieldManager: "operkit"})
		assert.Equal(t, kept, manifest, "deploy W11: inputs aren't changed")
		assert.NotEmpty(t, created.GetUID())
		assert.Equal(t, `{"f:data":{".":{},"f:a":{},"f:b":{}}}`, owned(created, "operkit", "Update", ""))
		assert.Equal(t, created, get(t, cluster, deploy.RefOf(manifest)))
		applied := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		assert.Equal(t, map[string]string{"a": "1", "b": "2"}, data(applied))
	})
	t.Run("an object that exists is left alone", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		before := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		_, err := requests(cluster).Create(t.Context(), settings(t, "{a: '2'}"), deploy.CreateOptions{FieldManager: "operkit"})
		var exists *deploy.AlreadyExistsError
		require.ErrorAs(t, err, &exists)
		assert.Equal(t, deploy.RefOf(before), exists.Ref)
		assert.Equal(t, before, get(t, cluster, exists.Ref))
	})
	t.Run("generateName makes a name, another one each time, the same in another cluster", func(t *testing.T) {
		t.Parallel()
		manifest := settings(t, "{}")
		manifest.SetName("")
		manifest.SetGenerateName("settings-")
		var names [2][]string
		for i := range names {
			cluster := newCluster(t)
			for range 3 {
				names[i] = append(names[i], create(t, cluster, manifest, deploy.CreateOptions{FieldManager: "operkit"}).GetName())
			}
			assert.Len(t, cluster.Objects(), 3)
		}
		assert.Equal(t, names[0], names[1])
		assert.Regexp(t, "^settings-[a-z0-9]{5}$", names[0][0])
	})
	t.Run("a long generateName is cut", func(t *testing.T) {
		t.Parallel()
		manifest := settings(t, "{}")
		manifest.SetName("")
		manifest.SetGenerateName("a-very-long-beginning-of-a-name-that-leaves-no-room-for-any-more")
		assert.Len(t, create(t, newCluster(t), manifest, deploy.CreateOptions{}).GetName(), 63)
	})
	t.Run("a dry run stores nothing", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		created := create(t, cluster, settings(t, "{a: '1'}"), deploy.CreateOptions{FieldManager: "operkit", DryRun: true})
		assert.Equal(t, map[string]string{"a": "1"}, data(created))
		assert.Empty(t, cluster.Objects())
	})
	t.Run("the uid is the server's", func(t *testing.T) {
		t.Parallel()
		manifest := settings(t, "{}")
		manifest.SetUID("mine")
		assert.NotEqual(t, "mine", string(create(t, newCluster(t), manifest, deploy.CreateOptions{}).GetUID()))
	})
	t.Run("a resourceVersion is refused", func(t *testing.T) {
		t.Parallel()
		manifest := settings(t, "{}")
		manifest.SetResourceVersion("1")
		_, err := requests(newCluster(t)).Create(t.Context(), manifest, deploy.CreateOptions{})
		var invalid *deploy.InvalidManifestError
		require.ErrorAs(t, err, &invalid)
	})
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	t.Run("deploy W4: it replaces the whole object under its resourceVersion", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		read := apply(t, cluster, "operkit", settings(t, "{a: '1', b: '2'}"))
		edited := read.DeepCopy()
		edited.Object["data"] = map[string]any{"a": "9"}
		updated, err := requests(cluster).Update(t.Context(), edited, deploy.UpdateOptions{FieldManager: "kubectl"})
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"a": "9"}, data(updated))
		assert.Equal(t, read.GetUID(), updated.GetUID())
		assert.Equal(t, `{"f:data":{"f:a":{}}}`, owned(updated, "kubectl", "Update", ""))
		assert.Equal(t, updated, get(t, cluster, deploy.RefOf(read)))
	})
	t.Run("deploy W18: an outdated one is a *StaleError and changes nothing", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		read := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		now := merge(t, cluster, deploy.RefOf(read), "kubectl", `{"data":{"b":"2"}}`)
		_, err := requests(cluster).Update(t.Context(), read, deploy.UpdateOptions{FieldManager: "operkit"})
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
		assert.Equal(t, now, get(t, cluster, deploy.RefOf(read)))
	})
	t.Run("without a resourceVersion nothing is sent", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		calls := cluster.Record()
		_, err := requests(cluster).Update(t.Context(), settings(t, "{}"), deploy.UpdateOptions{})
		var invalid *deploy.InvalidManifestError
		require.ErrorAs(t, err, &invalid)
		assert.Empty(t, calls.Calls())
	})
	t.Run("an absent object is not found", func(t *testing.T) {
		t.Parallel()
		manifest := settings(t, "{}")
		manifest.SetResourceVersion("1")
		_, err := requests(newCluster(t)).Update(t.Context(), manifest, deploy.UpdateOptions{})
		var absent *deploy.NotFoundError
		require.ErrorAs(t, err, &absent)
	})
	t.Run("a dry run stores nothing", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		read := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		edited := read.DeepCopy()
		edited.Object["data"] = map[string]any{"a": "9"}
		updated, err := requests(cluster).Update(t.Context(), edited, deploy.UpdateOptions{FieldManager: "kubectl", DryRun: true})
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"a": "9"}, data(updated))
		assert.Equal(t, read, get(t, cluster, deploy.RefOf(read)))
	})
}
