package reconcile

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// configured is a controller with a configuration, which it keeps.
type configured struct {
	controller
	defaults map[string]any
	seen     map[string]any
}

func newConfigured(defaults map[string]any) *configured {
	c := &configured{defaults: defaults}
	c.setup = func(_ context.Context, s *Session) error {
		c.seen = s.Config()
		return nil
	}
	return c
}

func (c *configured) Defaults() Defaults { return Defaults{Config: c.defaults} }

// withConfig is the widget with an annotation and overrides.
func withConfig(annotation string, overrides any) *unstructured.Unstructured {
	w := widget()
	if annotation != "" {
		w.SetAnnotations(map[string]string{"operkit.dev/config-defaults": annotation})
	}
	if overrides != nil {
		w.Object["configOverrides"] = overrides
	}
	return w
}

func settingsMap(data map[string]any) *unstructured.Unstructured {
	obj := configMap("defaults")
	obj.SetNamespace("shop")
	obj.Object["data"] = data
	return obj
}

func TestConfigLayers(t *testing.T) {
	t.Parallel()
	defaults := map[string]any{"size": 1, "color": "red", "limits": map[string]any{"cpu": "1", "memory": "1Gi"}, "list": []any{"a", "b"}}
	for reason, row := range map[string]struct {
		annotation string
		overrides  any
		data       map[string]any
		want       map[string]any
	}{
		"reconcile 41: the controller's defaults alone": {want: map[string]any{
			"size": int64(1), "color": "red", "limits": map[string]any{"cpu": "1", "memory": "1Gi"}, "list": []any{"a", "b"},
		}},
		"reconcile 41, 54: the ConfigMap over them, the resource over both, maps merged, lists replaced": {
			annotation: "defaults", overrides: map[string]any{"limits": map[string]any{"cpu": "3"}, "list": []any{}},
			data: map[string]any{"color": "blue", "limits": "{cpu: '2', disk: 5}"},
			want: map[string]any{"size": int64(1), "color": "blue", "limits": map[string]any{"cpu": "3", "memory": "1Gi", "disk": int64(5)}, "list": []any{}},
		},
		"reconcile mistake 8: values are YAML, or text where they aren't": {
			annotation: "defaults", data: map[string]any{"size": "2", "on": "true", "color": "re: d: x", "empty": "", "word": "blue"},
			want: map[string]any{"size": int64(2), "on": true, "color": "re: d: x", "empty": "", "word": "blue",
				"limits": map[string]any{"cpu": "1", "memory": "1Gi"}, "list": []any{"a", "b"}},
		},
		"reconcile mistake 8: one key is a whole configuration": {
			annotation: "defaults/prod.yaml", data: map[string]any{"prod.yaml": "size: 9\nlimits:\n  cpu: '8'\n", "other": "x"},
			want: map[string]any{"size": int64(9), "color": "red", "limits": map[string]any{"cpu": "8", "memory": "1Gi"}, "list": []any{"a", "b"}},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			c := newConfigured(defaults)
			w := newWorldWith(t, withConfig(row.annotation, row.overrides), settingsMap(row.data))
			w.calm(w.reconciler(c))
			assert.Equal(t, row.want, c.seen)
			c.seen["size"] = "spoilt"
			w.calm(w.reconciler(c))
			assert.Equal(t, row.want, c.seen, "reconcile 54: it is the caller's own")
		})
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		annotation string
		overrides  any
		data       map[string]any
		want       string
	}{
		"no ConfigMap":              {annotation: "missing", want: `setup`},
		"no name":                   {annotation: "/key", want: `annotation operkit.dev/config-defaults: "/key": is neither <ConfigMap> nor <ConfigMap>/<key>`},
		"no key":                    {annotation: "defaults/", want: `"defaults/": is neither`},
		"a key that isn't there":    {annotation: "defaults/x", data: map[string]any{"y": ""}, want: "ConfigMap shop/defaults has no key x"},
		"a key that is no map":      {annotation: "defaults/x", data: map[string]any{"x": "- 1"}, want: "key x of ConfigMap shop/defaults is not a YAML map"},
		"no data":                   {annotation: "defaults", want: "ConfigMap shop/defaults has no data"},
		"overrides that are no map": {overrides: "x", want: "Widget shop/w: configOverrides is not a map: correct or remove it"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, withConfig(row.annotation, row.overrides), settingsMap(row.data))
			if row.data == nil {
				w = newWorldWith(t, withConfig(row.annotation, row.overrides), func() *unstructured.Unstructured {
					obj := settingsMap(nil)
					delete(obj.Object, "data")
					return obj
				}())
			}
			_, _, err := w.once(w.reconciler(newConfigured(nil)))
			if reason == "no ConfigMap" {
				row.want = `"missing": there is no ConfigMap shop/missing`
			}
			require.ErrorContains(t, err, row.want)
			assert.Equal(t, "ConfigError/Errored", w.verdict())
		})
	}
	_, err := New(newConfigured(map[string]any{"x": func() {}}), must(deploy.NewManager(newWorld(t))))
	require.ErrorContains(t, err, "its defaults can't be merged under a configuration")
}

func TestConfigInto(t *testing.T) {
	t.Parallel()
	c := newConfigured(map[string]any{"size": 1})
	type settings struct {
		Size int `json:"size"`
	}
	var ok settings
	var failed error
	c.setup = func(_ context.Context, s *Session) error {
		var wrong struct {
			Size []string `json:"size"`
		}
		failed = s.ConfigInto(&wrong)
		return s.ConfigInto(&ok)
	}
	w := newWorld(t)
	w.calm(w.reconciler(c))
	assert.Equal(t, settings{1}, ok)
	require.EqualError(t, failed, "configuration: size: number doesn't fit the type []string: correct it")
}

// The ConfigMap is watched, so that a settled resource costs no call for it.
func TestConfigIntoRefuses(t *testing.T) {
	t.Parallel()
	newWorld(t).inSetup(func(_ context.Context, s *Session) {
		s.config = map[string]any{"size": "many", "n": int64(3), "any": map[string]any{"n": int64(1)}}
		var target struct {
			N   int64          `json:"n"`
			Any map[string]any `json:"any"`
		}
		require.NoError(t, s.ConfigInto(&target))
		assert.Equal(t, int64(1), target.Any["n"], "integers stay what they are")
		err := s.ConfigInto(target)
		require.ErrorContains(t, err, "configuration: can't be decoded into a struct")
		assert.Equal(t, status.ErrorUnknown, request.ClassOf(err), "the operator's mistake")
		err = s.ConfigInto(&struct {
			Size int `json:"size"`
		}{})
		require.ErrorContains(t, err, "configuration: size: string doesn't fit the type int: correct it")
		assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
	})
}

func TestConfigIsWatched(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, withConfig("defaults", nil), settingsMap(map[string]any{"size": "2"}))
	watcher := &ownRecorder{}
	w.calm(w.reconciler(newConfigured(nil), WithWatcher(watcher)))
	assert.Equal(t, []string{"Widget follows ConfigMap"}, watcher.made())
}
