package templates

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"text/template"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// setup is a controller made of a function.
type setup func(ctx context.Context, s *reconcile.Session) error

func (setup) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
}

func (f setup) Setup(ctx context.Context, s *reconcile.Session) error { return f(ctx, s) }

func (setup) Defaults() reconcile.Defaults {
	return reconcile.Defaults{Resource: map[string]any{"spec": map[string]any{"sign": "open"}}}
}

// signSet has one component: the ConfigMap "sign", with these data.
func signSet(t *testing.T, data string, options ...Option) *Templates {
	t.Helper()
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ scopedName \"sign\" }}}\ndata:\n" + data
	parsed, err := Parse(fstest.MapFS{"sign/sign.yaml": {Data: []byte(text)}}, ".", options...)
	require.NoError(t, err)
	return parsed
}

func using(set *Templates, options ...Option) setup {
	return func(_ context.Context, s *reconcile.Session) error {
		s.Use("sign", set.Component("sign", options...))
		return nil
	}
}

const shop = "{apiVersion: example.dev/v1, kind: Shop, metadata: {name: tea}, spec: {}, configOverrides: {music: jazz}}"

func TestSession(t *testing.T) {
	t.Parallel()
	set := signSet(t, "  all: {{ list .Name .Kind .Spec.sign .Config.music (len .Metadata.uid | ne 0) .Values.a .Values.b.x .Values.b.y .Values.c | join \" \" }}\n  version: '{{ hasKey .Metadata \"resourceVersion\" }}{{ .Version }}'",
		Values(map[string]any{"a": 1, "b": map[string]any{"x": 1, "y": 1}, "c": "parse"}), Values(map[string]any{"a": 2}))
	h := reconciletest.New(t, using(set, Values(map[string]any{"b": map[string]any{"x": 2}}), ValuesFrom(func(_ context.Context, s *reconcile.Session) (any, error) {
		return struct {
			C string `json:"c"`
		}{s.Name()}, nil
	})))
	h.Apply(shop)
	h.RunUntilSettled()
	h.Created("ConfigMap tea-sign")
	h.Ready("Shop tea")
	assert.Equal(t, map[string]any{"all": "tea Shop open jazz true 2 2 1 tea", "version": "false"}, h.Get("ConfigMap tea-sign").Object["data"])
	h.RunUntilSettled()
	h.Writes(0)
}

func TestSessionMistakes(t *testing.T) {
	t.Parallel()
	fine := signSet(t, "  x: y")
	for _, row := range []struct {
		reason string
		setup  setup
		ready  string
		want   string
	}{
		{"the resource's", using(signSet(t, "  x: {{ required \"spec.size: say one\" (get .Spec \"size\") }}")), "ConfigError", "component sign: build: sign/sign.yaml:5:9: spec.size: say one"},
		{"the operator's", using(signSet(t, "  x: {{ .Spec.size }}")), "Errored", `component sign: build: sign/sign.yaml:5:14: map has no entry for key "size": in {{ .Spec.size }}`},
		{"no YAML", using(signSet(t, "  x: a: b")), "Errored", "component sign: build: sign/sign.yaml:5: the rendered text isn't YAML"},
		{"waiting for values", using(fine, ValuesFrom(func(context.Context, *reconcile.Session) (any, error) {
			return nil, request.Precondition("no address yet")
		})), "Initializing", "sign: build: values: no address yet"},
		{"a function that waits", using(signSet(t, "  x: {{ later }}", Funcs(template.FuncMap{"later": func() (string, error) {
			return "", request.Precondition("not before noon")
		}}))), "Initializing", "sign/sign.yaml:5:9: later: not before noon"},
		{"values that are none", using(fine, ValuesFrom(func(context.Context, *reconcile.Session) (any, error) { return []int{1}, nil })), "Errored", "values: a value of type []int isn't a map"},
		{"values that fail", using(fine, ValuesFrom(func(context.Context, *reconcile.Session) (any, error) { return nil, errors.New("no book") })), "Errored", "values: no book"},
		{"values that panic", using(fine, ValuesFrom(func(context.Context, *reconcile.Session) (any, error) { panic("oh") })), "Errored", "panic: oh"},
		{"an option of another place", using(fine, Delims("[[", "]]")), "Errored", "templates: Funcs and Delims are options of Parse"},
		{"an option that is none", using(fine, Values(1)), "Errored", "values: a value of type int isn't a map"},
		{"a spec that is no map", func(ctx context.Context, s *reconcile.Session) error {
			s.Use("sign", fine.Component("sign"))
			return nil
		}, "ConfigError", "spec is a list: a map is needed"},
		{"no component of that name", func(ctx context.Context, s *reconcile.Session) error {
			_, err := fine.Objects(ctx, s, "sing")
			return err
		}, "Errored", `templates: folder .: has no component "sing": it has sign`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			// With a version of its own the spec isn't looked at before the templates do.
			h := reconciletest.New(t, row.setup, reconciletest.With(reconcile.VersionOverride("1")))
			h.Apply(shop)
			if row.reason == "a spec that is no map" {
				h.Edit("Shop tea", func(o *unstructured.Unstructured) { o.Object["spec"] = []any{"x"} })
			}
			_, err := h.Reconcile("Shop tea")
			assert.Equal(t, row.ready != "Initializing", err != nil)
			assert.Equal(t, row.ready, h.Condition("Shop tea", "Ready").Reason)
			assert.Contains(t, h.Condition("Shop tea", "Updating").Message, row.want)
		})
	}
}

// A builder in a type of its own has that type's ways.
type patient struct{ reconcile.Builder }

func (patient) Verify(context.Context, *reconcile.Session, *reconcile.Component) error {
	return request.Precondition("not warm yet")
}

func TestBuilderIsEmbedded(t *testing.T) {
	t.Parallel()
	set := signSet(t, "  x: z")
	h := reconciletest.New(t, setup(func(_ context.Context, s *reconcile.Session) error {
		s.Use("sign", patient{set.Component("sign")})
		return nil
	}))
	h.Apply(shop)
	_, err := h.Reconcile("Shop tea")
	require.NoError(t, err)
	h.Created("ConfigMap tea-sign")
	assert.Contains(t, h.Condition("Shop tea", "Updating").Message, "not warm yet")
}
