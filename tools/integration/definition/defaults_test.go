package definition

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/tools/envtest"
)

// forms are fields of the spec of one kind, each with its schema, and values of them for which the API server's
// defaults and unknown fields are compared with ours.
var forms = []struct {
	field, schema string
	values        []string
}{
	{"plain", "{type: integer, default: 3}", []string{"", "0", "7", "null"}},
	{"text", `{type: string, default: ""}`, []string{"", `"a"`, "null"}},
	{"flag", "{type: boolean, default: true}", []string{"", "false"}},
	{"ratio", "{type: number, default: 1.5}", []string{"", "2", "2.0"}},
	{"whole", "{type: number, default: 2.0}", []string{"", "null"}},
	{"nullable", "{type: integer, default: 3, nullable: true}", []string{"", "null", "4"}},
	{"bare", "{type: integer}", []string{"", "null", "4"}},
	{"bareNullable", "{type: integer, nullable: true}", []string{"null"}},
	{"port", "{x-kubernetes-int-or-string: true, default: http}", []string{"", "80", `"web"`}},
	{"choice", "{type: string, enum: [red, blue], default: red}", []string{"", "blue"}},
	{"parent", "{type: object, properties: {size: {type: integer, default: 3}, color: {type: string}}}", []string{"", "{}", "null", "{color: red}", "{colour: red}", "{size: null}"}},
	{"born", "{type: object, default: {}, properties: {size: {type: integer, default: 3}}}", []string{"", "{}", "null", "{size: 1}"}},
	{"partly", "{type: object, default: {a: 1}, properties: {a: {type: integer}, b: {type: integer, default: 2}}}", []string{"", "{}", "{b: 1}"}},
	{"deep", "{type: object, properties: {x: {type: object, default: {}, properties: {y: {type: object, properties: {z: {type: integer, default: 1}}}}}}}", []string{"", "{}", "{x: {y: {}}}"}},
	{"list", "{type: array, items: {type: object, properties: {size: {type: integer, default: 3}}}}", []string{"", "[]", "[{}, {size: 1}, {seize: 1}]", "null"}},
	{"numbers", "{type: array, items: {type: integer, default: 5}}", []string{"[1, null]", "[]"}},
	{"holes", "{type: array, items: {type: integer, default: 5, nullable: true}}", []string{"[1, null]"}},
	{"filled", "{type: array, default: [{a: 1}], items: {type: object, properties: {a: {type: integer}, b: {type: integer, default: 2}}}}", []string{"", "[]"}},
	{"table", "{type: array, items: {type: array, items: {type: object, properties: {size: {type: integer, default: 3}}}}}", []string{"[[{}], []]", "[[{seize: 1}]]"}},
	{"keyed", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name, role], items: {type: object, required: [name], properties: {name: {type: string}, role: {type: string, default: all}}}}",
		[]string{"[{name: a}, {name: b, role: one}]"}},
	{"named", "{type: object, additionalProperties: {type: object, properties: {size: {type: integer, default: 3}}}}", []string{"{}", "{a: {}}", "{a: {seize: 1}}", "{a: null, b: {}}"}},
	{"counts", "{type: object, additionalProperties: {type: integer, default: 5}}", []string{"{a: null, b: 1}"}},
	{"notes", "{type: object, additionalProperties: {type: string}}", []string{"{a: null, b: x}"}},
	{"open", "{type: object, additionalProperties: true}", []string{"{a: 1, b: {c: 1}, d: [{e: 1}]}"}},
	{"kept", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {size: {type: integer, default: 3}, inner: {type: object, properties: {a: {type: integer, default: 1}}}}}",
		[]string{"{}", "{other: {deep: null, list: [null, {a: null}]}}", "{inner: {b: 1}, outer: {b: 1}}"}},
	{"anything", "{x-kubernetes-preserve-unknown-fields: true}", []string{"", "1", "{a: [1, {b: null}]}", "null"}},
	{"keptList", "{type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {a: {type: integer, default: 1}}}}", []string{"[{b: 1}]"}},
	{"embedded", "{type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object, properties: {size: {type: integer, default: 3}}}}}",
		[]string{"{apiVersion: v1, kind: X, metadata: {name: x}, spec: {}}", "{apiVersion: v1, kind: X, spec: {seize: 1}, more: 1}"}},
	{"bodiless", "{type: object, properties: {metadata: {type: object}, spec: {type: object, default: {}}}}", []string{"{metadata: {labels: {a: b}}}"}},
	{"dotted", "{type: object, properties: {a.b: {type: integer, default: 1}}}", []string{"{}", "{a.c: 1}"}},
}

// formDefinition declares the kind Form with all forms.
func formDefinition(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	var fields strings.Builder
	for _, form := range forms {
		fields.WriteString("                " + form.field + ": " + form.schema + "\n")
	}
	definition := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: forms.definition.operkit.dev}
spec:
  group: definition.operkit.dev
  scope: Namespaced
  names: {kind: Form, plural: forms}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          metadata: {type: object}
          spec:
            type: object
            properties:
`+fields.String()+`  - name: v2
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, default: {}, properties: {plain: {type: integer, default: 7}}}
`), &definition.Object))
	return definition
}

// warnings keeps the warnings of the API server.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func TestDefaultsAsTheAPIServer(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	definition := formDefinition(t)
	admin, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	crds := admin.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	_, err = crds.Create(t.Context(), definition, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, crds.Delete(context.WithoutCancel(t.Context()), definition.GetName(), metav1.DeleteOptions{}))
	})
	memory, err := dryrun.New(dryrun.Objects(definition), dryrun.Namespaces(env.Namespace))
	require.NoError(t, err)

	heard := &warnings{}
	config := rest.CopyConfig(env.Admin)
	config.WarningHandlerWithContext = heard
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	compare := func(t *testing.T, version, content string) {
		t.Helper()
		given := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte("{apiVersion: definition.operkit.dev/"+version+", kind: Form, metadata: {name: it, namespace: "+env.Namespace+", labels: {a: b}, lables: {a: b}}"+content+"}"), &given.Object))
		heard.texts = nil
		resource := client.Resource(schema.GroupVersionResource{Group: "definition.operkit.dev", Version: version, Resource: "forms"}).Namespace(env.Namespace)
		var stored *unstructured.Unstructured
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			var err error
			stored, err = resource.Create(context.Background(), given, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationWarn})
			require.NoError(t, err)
		}, time.Minute, 100*time.Millisecond, "the kind is served")
		completed, err := memory.Complete(given)
		require.NoError(t, err)
		assert.Equal(t, stored.Object["spec"], completed.Object.Object["spec"])
		assert.Equal(t, stored.GetLabels(), completed.Object.GetLabels())
		var unknown []string
		for _, one := range completed.Unknown {
			unknown = append(unknown, `unknown field "`+one.Path+`"`)
		}
		slices.Sort(heard.texts)
		slices.Sort(unknown)
		assert.Equal(t, heard.texts, unknown, "our unknown fields are the server's warnings")
	}
	for _, form := range forms {
		for _, value := range form.values {
			t.Run(form.field+"="+value, func(t *testing.T) {
				if value == "" {
					compare(t, "v1", ", spec: {}")
					return
				}
				compare(t, "v1", ", spec: {"+form.field+": "+value+"}")
			})
		}
	}
	t.Run("no spec", func(t *testing.T) { compare(t, "v1", "") })
	t.Run("no spec in a version with a default for it", func(t *testing.T) { compare(t, "v2", "") })
	t.Run("a field of another version", func(t *testing.T) { compare(t, "v2", ", spec: {plain: 1, text: a}") })
	t.Run("unknown fields at the top", func(t *testing.T) { compare(t, "v1", ", sepc: {plain: 1}") })
}
