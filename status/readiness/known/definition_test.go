package known_test

import (
	"testing"

	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

var widgets = schema.GroupKind{Group: "example.com", Kind: "Widget"}

func definition(t testing.TB, versions string, categories string) *unstructured.Unstructured {
	t.Helper()
	document := map[string]any{}
	require.NoError(t, utiljson.Unmarshal([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"metadata":{"name":"widgets.example.com"},
		"spec":{"group":"example.com","names":{"kind":"Widget","categories":[`+categories+`]},"versions":[`+versions+`]}}`), &document))
	return &unstructured.Unstructured{Object: document}
}

const (
	withConditions    = `{"name":"v1","served":true,"schema":{"openAPIV3Schema":{"properties":{"status":{"properties":{"conditions":{"type":"array"}}}}}}}`
	withoutConditions = `{"name":"v2","served":true,"schema":{"openAPIV3Schema":{"properties":{"status":{"type":"object"}}}}}`
	unserved          = `{"name":"v0","served":false}`
)

func TestConditions(t *testing.T) {
	t.Parallel()
	registry, err := known.Conditions(definition(t, withConditions+","+unserved, ""))
	require.NoError(t, err)
	run(t, readiness.Checker{Registry: registry}, "example.com/v1", "Widget", []cell{
		{name: "known 12: without a status", ageless: true, state: readiness.InProgress, reason: "ConditionsMissing", message: "its controller hasn't handled it"},
		{name: "known 12: without conditions", status: `{"phase":"New","conditions":[]}`, ageless: true, state: readiness.InProgress, reason: "ConditionsMissing"},
		{name: "known 2: ready for an older generation", status: conditions("", old("Ready", "True", "Done")), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "known 12: the usual rules judge what has conditions", status: conditions("", is("Ready", "False", "Working", "two of three")), ageless: true, state: readiness.InProgress, reason: "Working", message: "two of three"},
		{name: "known 12: ready", status: conditions("", is("Ready", "True", "Done", "all is well")), state: readiness.Ready, reason: "Done"},
		{name: "known 12: failed", status: conditions("", is("Failed", "True", "Broken", "no disk")), ageless: true, state: readiness.Failed, reason: "Broken"},
	})
	t.Run("known 12: a kind that wasn't passed in is judged as before", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, "Present", readiness.Checker{Registry: registry}.Of(object(t, "example.com/v1", "Gadget", "", "")).Reason)
	})
	for _, row := range []struct {
		name, want string
		definition *unstructured.Unstructured
	}{
		{"a served version without conditions", "widgets.example.com: version v2: the schema has no list status.conditions", definition(t, withConditions+","+withoutConditions, "")},
		{"no version", "widgets.example.com: no version is served", definition(t, unserved, "")},
		{"nil", "use a CustomResourceDefinition", nil},
		{"another kind", "use a CustomResourceDefinition", &unstructured.Unstructured{Object: map[string]any{"kind": "Widget"}}},
	} {
		t.Run("known 12: refuses "+row.name, func(t *testing.T) {
			t.Parallel()
			registry, err := known.Conditions(row.definition, definition(t, withConditions, ""))
			require.ErrorIs(t, err, known.ErrDefinition)
			assert.ErrorContains(t, err, row.want)
			assert.Contains(t, registry, widgets, "the other definition counts")
		})
	}
}

func TestManagedKinds(t *testing.T) {
	t.Parallel()
	t.Run("known 11: the category managed tells managed resources from others", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, []schema.GroupKind{widgets}, known.ManagedKinds(
			definition(t, withConditions, `"crossplane","managed","aws"`), definition(t, withConditions, `"crossplane","composite"`), definition(t, withConditions, ""),
		))
	})
}

func TestKinds(t *testing.T) {
	t.Parallel()
	certificates := schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}
	t.Run("known 13: an expectation of one's own replaces a rule", func(t *testing.T) {
		t.Parallel()
		mine := readiness.Checker{Registry: readiness.Registry{certificates: {}}}.Over(byName)
		document := object(t, "cert-manager.io/v1", "Certificate", "", "")
		assert.Equal(t, "Present", mine.Of(document).Reason)
		assert.Equal(t, "ConditionMissing", byName.Of(document).Reason)
		require.NoError(t, mine.Registry.Validate())
	})
	t.Run("known 13: each call returns a new Registry", func(t *testing.T) {
		t.Parallel()
		delete(known.Kinds(), certificates)
		assert.Contains(t, known.Kinds(), certificates)
	})
	t.Run("known 13: kinds of the same name in other groups aren't touched", func(t *testing.T) {
		t.Parallel()
		for _, other := range []string{"networking.internal.knative.dev/v1", "networking.istio.io/v1", "cluster.x-k8s.io/v1beta1", "app.k8s.io/v1beta1"} {
			for _, kind := range []string{"Certificate", "Gateway", "Cluster", "Application"} {
				assert.Equal(t, "Present", byName.Of(object(t, other, kind, "", "")).Reason, "%s %s", other, kind)
			}
		}
	})
}

// FuzzKinds judges any status of each kind: without a panic, without a change, and always with a state and a message.
func FuzzKinds(f *testing.F) {
	f.Add(`{"parentRefs":[{"name":"web"}],"instances":1}`, `{"phase":"Cluster in healthy state","readyInstances":1}`)
	f.Add(`{"sources":[1,{}],"source":[]}`, `{"sync":{"status":"Synced","comparedTo":{"sources":{}}},"health":[],"conditions":[null,{"type":3}]}`)
	f.Add(`{"parentRefs":[{"name":"web","port":"x"}]}`, `{"parents":[{"parentRef":null,"conditions":{}},7],"listeners":[{"name":1,"conditions":[[]]}]}`)
	f.Fuzz(func(t *testing.T, spec, status string) {
		for kind := range byName.Registry {
			document := map[string]any{"apiVersion": kind.Group + "/v1", "kind": kind.Kind, "metadata": map[string]any{"name": "it", "generation": int64(1)}}
			for key, source := range map[string]string{"spec": spec, "status": status} {
				var part map[string]any
				if utiljson.Unmarshal([]byte(source), &part) == nil && part != nil {
					document[key] = part
				}
			}
			result := byName.Of(document)
			if result.State == "" || result.Reason == "" || result.Message == "" {
				t.Fatalf("%s: %+v", kind, result)
			}
		}
	})
}
