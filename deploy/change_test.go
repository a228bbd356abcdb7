package deploy_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type changer = func(current *unstructured.Unstructured) (*unstructured.Unstructured, error)

// edited returns a changer that edits a copy.
func edited(edit func(obj *unstructured.Unstructured)) changer {
	return func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		obj := current.DeepCopy()
		edit(obj)
		return obj, nil
	}
}

func annotatedSettings(t testing.TB) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop, annotations: {a: '1', b: '2'}}\ndata: {color: red}\nstatus: {ready: true}\nextra: {none: null, list: [{none: null}], ratio: 0.5}")
}

func TestChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit func(obj *unstructured.Unstructured)
		// metadata and rest are parts of the patch that is sent, both empty: no call.
		metadata, rest string
	}{
		"nothing":                     {func(*unstructured.Unstructured) {}, "", ""},
		"an annotation more":          {func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{"a": "1", "b": "2", "c": "3"}) }, `"annotations":{"c":"3"},`, ""},
		"an annotation less":          {func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{"a": "1"}) }, `"annotations":{"b":null},`, ""},
		"no annotations":              {func(o *unstructured.Unstructured) { o.SetAnnotations(nil) }, `"annotations":null,`, ""},
		"a label":                     {func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"tier": "web"}) }, `"labels":{"tier":"web"},`, ""},
		"a field":                     {func(o *unstructured.Unstructured) { o.Object["data"] = map[string]any{"color": "blue"} }, "", `"data":{"color":"blue"},`},
		"a field that goes":           {func(o *unstructured.Unstructured) { delete(o.Object, "data") }, "", `"data":null,`},
		"a typed value":               {func(o *unstructured.Unstructured) { o.Object["data"] = map[string]string{"color": "red"} }, "", ""},
		"the status isn't its matter": {func(o *unstructured.Unstructured) { o.Object["status"] = map[string]any{"ready": false} }, "", ""},
		"nor are fields of the server": {func(o *unstructured.Unstructured) {
			o.SetResourceVersion("77")
			o.SetUID("other")
			o.SetManagedFields(nil)
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, annotatedSettings(t))
			m := must(deploy.NewManager(cluster))
			before := cluster.get(t, settingsRef)
			result, err := m.Change(t.Context(), settingsRef, edited(test.edit))
			require.NoError(t, err)
			assert.Equal(t, settingsRef, result.Ref)
			if test.metadata+test.rest == "" {
				assert.Equal(t, deploy.Unchanged, result.Action)
				assert.Zero(t, result.Calls)
				assert.Empty(t, cluster.take())
				assert.Equal(t, before, cluster.get(t, settingsRef))
				return
			}
			assert.Equal(t, deploy.Configured, result.Action)
			assert.Equal(t, 1, result.Calls)
			assert.Equal(t, []string{fmt.Sprintf(`patch %s {%s"metadata":{%s"resourceVersion":"1","uid":%q}}`,
				settingsName, test.rest, test.metadata, before.GetUID())}, cluster.take())
			assert.Equal(t, cluster.get(t, settingsRef), result.Object)
			result, err = m.Change(t.Context(), settingsRef, edited(test.edit))
			require.NoError(t, err)
			assert.Equal(t, deploy.Unchanged, result.Action)
			assert.Empty(t, cluster.take(), "one call is enough")
		})
	}
}

// taken is the annotation by which somebody takes an object.
const taken = "example.dev/taken-by"

// takes returns a changer that takes an object which nobody has taken.
func takes(who string) changer {
	return func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if current.GetAnnotations()[taken] != "" {
			return nil, nil
		}
		obj := current.DeepCopy()
		obj.SetAnnotations(map[string]string{taken: who})
		return obj, nil
	}
}

func TestChangeConflict(t *testing.T) {
	t.Parallel()
	t.Run("compute declines after a conflict", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		beaten := false
		cluster.before = func(string) error {
			if !beaten {
				beaten = true
				_, err := must(deploy.NewManager(cluster.memory)).Change(t.Context(), settingsRef, takes("them"))
				assert.NoError(t, err)
			}
			return nil
		}
		result, err := must(deploy.NewManager(cluster)).Change(t.Context(), settingsRef, takes("us"))
		require.NoError(t, err)
		assert.Equal(t, deploy.Unchanged, result.Action)
		assert.Equal(t, "them", result.Object.GetAnnotations()[taken])
		assert.Equal(t, 2, result.Calls, "the refused patch and the read")
		assert.Len(t, cluster.take(), 2)
	})
	t.Run("it ends", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		stale := &deploy.StaleError{Ref: settingsRef, Err: errNo}
		cluster.before = failing("patch", stale, stale, stale, stale, stale, stale, stale)
		result, err := must(deploy.NewManager(cluster)).Change(t.Context(), settingsRef, takes("us"))
		require.ErrorIs(t, err, stale)
		assert.Equal(t, deploy.Failed, result.Action)
		assert.Equal(t, 9, result.Calls, "five attempts, four reads between them")
	})
	for name, gone := range map[string]bool{"gone meanwhile": true, "never there": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			if gone {
				cluster = newCluster(t, settings(t, "{}"))
				cluster.before = func(call string) error {
					if strings.HasPrefix(call, "patch") {
						require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
					}
					return nil
				}
			}
			result, err := must(deploy.NewManager(cluster)).Change(t.Context(), settingsRef, takes("us"))
			require.NoError(t, err)
			assert.Equal(t, deploy.Skipped, result.Action)
		})
	}
	t.Run("compute fails", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		result, err := must(deploy.NewManager(cluster)).Change(t.Context(), settingsRef,
			func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return nil, errors.New("not today")
			})
		require.EqualError(t, err, "not today")
		assert.Equal(t, deploy.Failed, result.Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("compute fails as a request does", func(t *testing.T) {
		t.Parallel()
		for _, other := range []error{&deploy.NotFoundError{Ref: deploy.Ref{Name: "other"}}, &deploy.StaleError{Ref: deploy.Ref{Name: "other"}, Err: errNo}} {
			cluster := newCluster(t, settings(t, "{}"))
			result, err := must(deploy.NewManager(cluster)).Change(t.Context(), settingsRef,
				func(*unstructured.Unstructured) (*unstructured.Unstructured, error) { return nil, other })
			assert.Equal(t, other, err)
			assert.Equal(t, deploy.Failed, result.Action)
			assert.Empty(t, cluster.take())
		}
	})
	t.Run("compute returns an object without content", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		result, err := must(deploy.NewManager(cluster)).Change(t.Context(), settingsRef,
			func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return &unstructured.Unstructured{}, nil
			})
		require.NoError(t, err)
		assert.Equal(t, deploy.Unchanged, result.Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("it is deleted and made anew meanwhile", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		before := cluster.get(t, settingsRef)
		once := sync.OnceFunc(func() {
			require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
			_, err := cluster.memory.Port().Create(t.Context(), settings(t, "{}"), deploy.CreateOptions{FieldManager: "other"})
			require.NoError(t, err)
		})
		cluster.before = func(string) error { once(); return nil }
		result, err := must(deploy.NewManager(cluster)).Change(t.Context(), settingsRef, takes("us"))
		require.NoError(t, err)
		assert.Equal(t, deploy.Configured, result.Action)
		assert.NotEqual(t, before.GetUID(), result.Object.GetUID())
	})
	t.Run("a dry run", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		result, err := must(deploy.NewManager(cluster, deploy.DryRun())).Change(t.Context(), settingsRef, takes("us"))
		require.NoError(t, err)
		assert.Equal(t, "us", result.Object.GetAnnotations()[taken])
		assert.Empty(t, cluster.get(t, settingsRef).GetAnnotations())
	})
}
