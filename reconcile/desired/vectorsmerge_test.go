package desired_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// things is the kind of the children of the vectors. Its schema has keys for the lists that Kubernetes has keys for.
var things = schema.GroupVersionKind{Group: "vectors.dev", Version: "v1", Kind: "Thing"}

const thingsDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.vectors.dev}
spec:
  group: vectors.dev
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties:
          data: {type: object, additionalProperties: {type: string}}
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              containers:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  x-kubernetes-preserve-unknown-fields: true
                  required: [name]
                  properties:
                    name: {type: string}
                    env:
                      type: array
                      x-kubernetes-list-type: map
                      x-kubernetes-list-map-keys: [name]
                      items: {type: object, x-kubernetes-preserve-unknown-fields: true, required: [name], properties: {name: {type: string}}}
                    ports:
                      type: array
                      x-kubernetes-list-type: map
                      x-kubernetes-list-map-keys: [containerPort]
                      items: {type: object, x-kubernetes-preserve-unknown-fields: true, required: [containerPort], properties: {containerPort: {type: integer}}}
              hostAliases:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [ip]
                items: {type: object, x-kubernetes-preserve-unknown-fields: true, required: [ip], properties: {ip: {type: string}}}
              m:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [mountPath]
                items: {type: object, x-kubernetes-preserve-unknown-fields: true, required: [mountPath], properties: {mountPath: {type: string}}}
`

// childOf returns a child with the content of a vector.
func childOf(fields map[string]any) *unstructured.Unstructured {
	child := &unstructured.Unstructured{Object: map[string]any{}}
	if fields != nil {
		child.Object = runtime.DeepCopyJSON(fields)
	}
	child.SetGroupVersionKind(things)
	child.SetNamespace("n")
	child.SetName("c")
	return child
}

func withoutNulls(content map[string]any) map[string]any {
	kept := map[string]any{}
	for key, value := range content {
		switch v := value.(type) {
		case nil:
		case map[string]any:
			kept[key] = withoutNulls(v)
		default:
			kept[key] = value
		}
	}
	return kept
}

// merged lets an operator apply last, somebody else make observed of it, and the operator apply the wanted child. It
// returns the child, without what only the cluster sets. Without observed, the child doesn't exist yet.
func merged(t *testing.T, last, observed, wanted map[string]any) (map[string]any, error) {
	t.Helper()
	var definition map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(thingsDefinition), &definition))
	cluster, err := dryrun.New(dryrun.Namespaces("n"), dryrun.Objects(&unstructured.Unstructured{Object: definition}))
	require.NoError(t, err)
	manager, err := deploy.NewManager(cluster)
	require.NoError(t, err)
	if observed != nil {
		results, err := manager.Apply(t.Context(), []*unstructured.Unstructured{childOf(last)})
		if err != nil {
			return nil, err
		}
		edited := edited(results[0].Object, childOf(observed))
		if _, err = cluster.Port().Update(t.Context(), edited, deploy.UpdateOptions{FieldManager: "somebody"}); err != nil {
			return nil, err
		}
	}
	rules := answer.Rules{
		Parent: deploy.Ref{Namespace: "n", Name: "p"}, Kinds: map[schema.GroupKind]schema.GroupVersionKind{things.GroupKind(): things},
		Scopes: map[schema.GroupVersionKind]deploy.Scope{things: deploy.Namespaced},
	}
	children, faults := rules.Read([]any{childOf(wanted)}, func(deploy.Ref) *unstructured.Unstructured { return nil })
	require.Empty(t, faults)
	results, err := manager.Apply(t.Context(), []*unstructured.Unstructured{children[0].Object})
	if err != nil {
		return nil, err
	}
	assert.NotContains(t, intentOf(results[0].Object), "f:status", "what is ignored isn't recorded either")
	return contentOf(results[0].Object), nil
}

// edited returns a child as somebody else edits it.
func edited(live, observed *unstructured.Unstructured) *unstructured.Unstructured {
	next := observed.DeepCopy()
	next.SetResourceVersion(live.GetResourceVersion())
	next.SetUID(live.GetUID())
	next.SetCreationTimestamp(live.GetCreationTimestamp())
	next.SetManagedFields(live.GetManagedFields())
	annotations := live.GetAnnotations()
	applied := annotations[hashKey]
	annotations = next.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[hashKey] = applied
	next.SetAnnotations(annotations)
	return next
}

// hashKey is the annotation with the hash of what was applied.
const hashKey = "operkit.dev/applied-operkit"

// intentOf returns the fields that the operator has applied.
func intentOf(child *unstructured.Unstructured) string {
	for _, entry := range child.GetManagedFields() {
		if entry.Operation == "Apply" {
			return entry.FieldsV1.GetRawString()
		}
	}
	return ""
}

// contentOf returns the content of a child in the form of the vectors.
func contentOf(child *unstructured.Unstructured) map[string]any {
	content := child.DeepCopy().Object
	metadata, kept := content["metadata"].(map[string]any), map[string]any{}
	for _, field := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if value, ok := metadata[field]; ok {
			kept[field] = value
		}
	}
	if annotations, ok := kept["annotations"].(map[string]any); ok {
		delete(annotations, hashKey)
	}
	delete(content, "apiVersion")
	delete(content, "kind")
	content["metadata"] = kept
	return content
}

// ownerless completes the references to owners, which the vectors cut.
func ownerless(content any) map[string]any {
	fields, _ := content.(map[string]any)
	if fields == nil {
		return nil
	}
	fields = withoutNulls(runtime.DeepCopyJSON(fields))
	metadata, _ := fields["metadata"].(map[string]any)
	references, _ := metadata["ownerReferences"].([]any)
	for _, item := range references {
		reference := item.(map[string]any)
		reference["apiVersion"] = "v1"
		if _, named := reference["name"]; !named {
			reference["name"] = "n"
		}
	}
	return fields
}

// The rules by which the result of a server-side apply differs from what metacontroller merges.
const (
	byKeys    = "keys-by-schema"
	byTypes   = "typed-keys"
	byOrder   = "desired-order"
	byLists   = "desired 22: lists without keys in the schema are replaced as a whole"
	byOthers  = "desired 21: fields of others stay, also what others have made of a value that isn't wanted any more"
	byDamaged = "damaged-last-applied"
	byName    = "name-must-match"
)

func mergeCase(t *testing.T, c *vectortest.Case) {
	last, observed, wanted := ownerless(c.Input["last_applied"]), ownerless(c.Input["observed"]), ownerless(c.Input["desired"])
	got, err := merged(t, last, observed, wanted)
	if hasUnkeyed(nil, last) || hasUnkeyed(nil, observed) || hasUnkeyed(nil, wanted) {
		c.Deviates(byKeys)
		assert.True(t, err != nil || len(got) > 0) // an error, or the item is one
		return
	}
	require.NoError(t, err)
	compare(t, c, got, expected(nil, last, observed, wanted), ownerless(c.Output))
}

// compare compares what came with what a server-side apply makes of it, and with what was recorded.
func compare(t *testing.T, c *vectortest.Case, got, want, recorded map[string]any) {
	assert.Equal(t, sorted(nil, want), sorted(nil, got))
	if assert.ObjectsAreEqual(sorted(nil, got), sorted(nil, recorded)) && c.Rule != byOrder {
		return
	}
	switch {
	case c.Doubtful:
		c.Deviates(c.Rule)
	case hasList(recorded) || hasList(got):
		c.Deviates(byLists)
	default:
		c.Deviates(byOthers)
	}
}

func applyCase(t *testing.T, c *vectortest.Case) {
	original, update := c.Input["original"].(map[string]any), c.Input["update"].(map[string]any)
	observed, wanted, last := inner(t, original), inner(t, update), map[string]any{}
	annotations, _ := observed["metadata"].(map[string]any)["annotations"].(map[string]any)
	const record = "metacontroller.k8s.io/last-applied-configuration"
	if text, ok := annotations[record].(string); ok {
		var content map[string]any
		if err := json.Unmarshal([]byte(text), &content); err == nil {
			last = inner(t, content)
		} else if text != "" {
			c.Deviates(byDamaged)
		}
		delete(annotations, record)
	}
	status := observed["status"]
	delete(observed, "status") // it is written by somebody else, through its subresource
	got, err := merged(t, last, observed, wanted)
	require.NoError(t, err)
	delete(wanted, "status")
	want := expected(nil, last, observed, wanted)
	if c.Rule == byName {
		c.Deviates(byName)
		assert.NotEqual(t, original["metadata"].(map[string]any)["name"], update["metadata"].(map[string]any)["name"], "it is another child, and the original stays")
		return
	}
	if c.Error {
		require.Equal(t, byDamaged, c.Rule)
		assert.Equal(t, sorted(nil, want), sorted(nil, got), "a record that can't be read is none")
		return
	}
	recorded := inner(t, c.Output.(map[string]any)["object"].(map[string]any))
	assert.Equal(t, status, recorded["status"], "it stays")
	delete(recorded, "status")
	compare(t, c, got, want, recorded)
	if c.Doubtful {
		c.Deviates(c.Rule)
	}
}

// inner returns the content of an object of a vector without its names and without what only the cluster sets.
func inner(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	copied := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	status := copied.Object["status"]
	content := contentOf(copied)
	if status != nil {
		content["status"] = status
	}
	return withoutNulls(content)
}

func TestOthers(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	t.Run("desired 21: fields of others stay, and what they have made of a value that isn't wanted any more", func(t *testing.T) {
		t.Parallel()
		got, err := merged(t, fields{"data": fields{"a": "1", "b": "1"}}, fields{"data": fields{"a": "1", "b": "theirs", "c": "theirs"}}, fields{})
		require.NoError(t, err)
		assert.Equal(t, fields{"b": "theirs", "c": "theirs"}, got["data"])
	})
	t.Run("desired 22: a list without keys in the schema is replaced as a whole", func(t *testing.T) {
		t.Parallel()
		item := func(name string) any { return fields{"name": name} }
		spec := func(field string, items ...any) fields { return fields{"spec": fields{field: items}} }
		got, err := merged(t, spec("x", item("a")), spec("x", item("a"), item("theirs")), spec("x", item("b")))
		require.NoError(t, err)
		assert.Equal(t, spec("x", item("b"))["spec"], got["spec"])
		got, err = merged(t, spec("m", fields{"mountPath": "/a"}), spec("m", fields{"mountPath": "/a"}, fields{"mountPath": "/t"}), spec("m", fields{"mountPath": "/b"}))
		require.NoError(t, err)
		assert.ElementsMatch(t, []any{fields{"mountPath": "/b"}, fields{"mountPath": "/t"}}, got["spec"].(fields)["m"], "one with keys isn't")
	})
}
