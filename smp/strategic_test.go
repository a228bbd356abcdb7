package smp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/document"
)

// parse reads JSON, or fails the test.
func parse(t testing.TB, text string) any {
	t.Helper()
	value, err := document.Decode([]byte(text), defaultMaxDepth)
	require.NoError(t, err, text)
	return value
}

// object reads a JSON object.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	value, isMap := parse(t, text).(map[string]any)
	require.True(t, isMap, text)
	return value
}

// schemaOf is the built-in schema of a document's kind.
func schemaOf(doc map[string]any) Schema {
	apiVersion, _ := doc["apiVersion"].(string)
	kind, _ := doc["kind"].(string)
	groupVersion, _ := kschema.ParseGroupVersion(apiVersion)
	return SchemaFor(groupVersion.WithKind(kind))
}

// pod and its like are documents with one part filled in, so that the rows show only what they are about.
func pod(spec string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":` + spec + `}`
}

func meta(metadata string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":` + metadata + `}`
}

// row is one patch and what comes of it.
type row struct {
	name            string
	doc, patch      string
	want            string
	wantKind        ErrorKind
	wantPath, wants string // of the error: its path, and a part of its text
	options         []Option
}

// assertSame holds two values against each other as values of JSON.
func assertSame(t testing.TB, want, got any, context ...any) {
	t.Helper()
	if document.Equal(want, got) {
		return
	}
	assert.Equal(t, want, got, context...)
	assert.Fail(t, "not the same value", context...)
}

// check applies the patch detached and shared, and holds the result against the row's.
func (r row) check(t *testing.T) {
	t.Helper()
	for name, options := range map[string][]Option{"detached": nil, "shared": {Shared()}} {
		doc, patch := object(t, r.doc), object(t, r.patch)
		got, err := Strategic(doc, patch, schemaOf(doc), append(options, r.options...)...)
		assert.Equal(t, object(t, r.doc), doc, "%s: the document was changed", name)
		assert.Equal(t, object(t, r.patch), patch, "%s: the patch was changed", name)
		if r.wantKind != "" {
			require.Error(t, err, name)
			assert.Equal(t, r.wantKind, KindOf(err), "%s: %v", name, err)
			var patchError *PatchError
			require.ErrorAs(t, err, &patchError)
			assert.Equal(t, r.wantPath, patchError.Path, "%s: %v", name, err)
			assert.ErrorContains(t, err, r.wants, name)
			assert.Nil(t, got, name)
			continue
		}
		require.NoError(t, err, name)
		assertSame(t, object(t, r.want), got, name)
		_, found := findDirective(any(got))
		assert.False(t, found, "%s: a directive in the result", name)
	}
}

func checkAll(t *testing.T, rows []row) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.check(t)
		})
	}
}

func TestMaps(t *testing.T) {
	t.Parallel()
	checkAll(t, []row{
		{name: "smp 13: null deletes a field", doc: meta(`{"name":"c","labels":{"a":"1","b":"2"}}`),
			patch: `{"metadata":{"labels":{"a":null}}}`, want: meta(`{"name":"c","labels":{"b":"2"}}`)},
		{name: "smp 13: null of an absent field does nothing", doc: meta(`{"name":"c"}`),
			patch: `{"metadata":{"labels":null}}`, want: meta(`{"name":"c"}`)},
		{name: "smp 13: a new field comes without nulls, at every depth", doc: pod(`{}`),
			patch: `{"spec":{"securityContext":{"runAsUser":null,"seLinuxOptions":{"level":null,"role":"r"}}}}`,
			want:  pod(`{"securityContext":{"seLinuxOptions":{"role":"r"}}}`)},
		{name: "smp 13: a new field comes without what is marked", doc: pod(`{}`),
			patch: `{"spec":{"affinity":{"nodeAffinity":{"$patch":"delete"},"podAffinity":{}}}}`,
			want:  pod(`{"affinity":{"podAffinity":{}}}`)},
		{name: "smp 13: another type of value replaces", doc: meta(`{"name":"c","labels":"text"}`),
			patch: `{"metadata":{"labels":{"a":"1","b":null}}}`, want: meta(`{"name":"c","labels":{"a":"1"}}`)},
		{name: "smp 13: a map whose strategy is replace", options: nil,
			doc:   `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"1"}}}}`,
			patch: `{"spec":{"selector":{"matchLabels":{"b":"2"}}}}`,
			want:  `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"b":"2"}}}}`},
		{name: "smp 13: one like it elsewhere merges",
			doc:   `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"1"}}}}`,
			patch: `{"spec":{"selector":{"matchLabels":{"b":"2"}}}}`,
			want:  `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"1","b":"2"}}}}`},
		{name: "smp 14: $patch replace is meant literally", doc: pod(`{"securityContext":{"runAsUser":1,"fsGroup":2}}`),
			patch: `{"spec":{"securityContext":{"$patch":"replace","runAsUser":3,"fsGroup":null}}}`,
			want:  pod(`{"securityContext":{"runAsUser":3,"fsGroup":null}}`)},
		{name: "smp 14: $patch delete leaves an empty map", doc: pod(`{"securityContext":{"runAsUser":1}}`),
			patch: `{"spec":{"securityContext":{"$patch":"delete","fsGroup":1}}}`, want: pod(`{"securityContext":{}}`)},
		{name: "smp 14: $patch at the root", doc: pod(`{"hostname":"h"}`),
			patch: `{"$patch":"replace","apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`,
			want:  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`},
		{name: "smp 14: $patch merge in a map is an error", doc: pod(`{"securityContext":{}}`),
			patch:    `{"spec":{"securityContext":{"$patch":"merge"}}}`,
			wantKind: Invalid, wantPath: "/spec/securityContext/$patch", wants: `want "replace" or "delete"`},
		{name: "smp 14: a new map that is marked with replace is stored without the mark", doc: pod(`{}`),
			patch: `{"spec":{"securityContext":{"$patch":"replace","runAsUser":3}}}`, want: pod(`{"securityContext":{"runAsUser":3}}`)},
		{name: "smp 20: $retainKeys clears the others",
			doc:   `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}}`,
			patch: `{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`,
			want:  `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"strategy":{"type":"Recreate"}}}`},
		{name: "smp 20: $retainKeys has to list what is set", doc: pod(`{"securityContext":{}}`),
			patch:    `{"spec":{"securityContext":{"$retainKeys":["fsGroup"],"runAsUser":1}}}`,
			wantKind: Invalid, wantPath: "/spec/securityContext/$retainKeys", wants: `"runAsUser"`},
		{name: "smp 20: what is deleted need not be listed", doc: pod(`{"securityContext":{"runAsUser":1,"fsGroup":2}}`),
			patch: `{"spec":{"securityContext":{"$retainKeys":["fsGroup"],"runAsUser":null}}}`, want: pod(`{"securityContext":{"fsGroup":2}}`)},
		{name: "smp 20: $retainKeys is a list", doc: pod(`{"securityContext":{}}`),
			patch:    `{"spec":{"securityContext":{"$retainKeys":"type"}}}`,
			wantKind: Invalid, wantPath: "/spec/securityContext/$retainKeys", wants: "want a list"},
		{name: "smp 20: $retainKeys of a new map isn't stored", doc: pod(`{}`),
			patch: `{"spec":{"securityContext":{"$retainKeys":["fsGroup"],"fsGroup":1}}}`, want: pod(`{"securityContext":{"fsGroup":1}}`)},
		{name: "smp 22: merging into an unknown map", doc: pod(`{"colour":{"r":1}}`),
			patch: `{"spec":{"colour":{"g":1}}}`, wantKind: UnknownField, wantPath: "/spec/colour", wants: "io.k8s.api.core.v1.PodSpec"},
		{name: "smp 22: merging into an unknown list", doc: pod(`{"colours":["r"]}`),
			patch: `{"spec":{"colours":["g"]}}`, wantKind: UnknownField, wantPath: "/spec/colours"},
		{name: "smp 22: an unknown scalar is replaced, an unknown field is new", doc: pod(`{"colour":"red"}`),
			patch: `{"spec":{"colour":"green","shape":{"round":true}}}`, want: pod(`{"colour":"green","shape":{"round":true}}`)},
	})
}

func TestListsOfObjects(t *testing.T) {
	t.Parallel()
	abc := `{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}`
	checkAll(t, []row{
		{name: "smp 15: an element is merged by its key", doc: pod(`{"containers":[{"name":"a","image":"a:1"},{"name":"b","image":"b:1"}]}`),
			patch: `{"spec":{"containers":[{"name":"b","image":"b:2","tty":true}]}}`,
			want:  pod(`{"containers":[{"name":"a","image":"a:1"},{"name":"b","image":"b:2","tty":true}]}`)},
		{name: "smp 15: lists in elements merge too",
			doc:   pod(`{"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}]}]}`),
			patch: `{"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"3"}]}]}}`,
			want:  pod(`{"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"Y","value":"3"}]}]}`)},
		{name: "smp 15: delete removes all of a key, absent is fine", doc: pod(`{"containers":[{"name":"a"},{"name":"b"},{"name":"a"}]}`),
			patch: `{"spec":{"containers":[{"name":"a","$patch":"delete"},{"name":"z","$patch":"delete"}]}}`, want: pod(`{"containers":[{"name":"b"}]}`)},
		{name: "smp 15: replace drops the element that holds it", doc: pod(abc),
			patch: `{"spec":{"containers":[{"$patch":"replace","name":"x"},{"name":"y","image":null}]}}`,
			want:  pod(`{"containers":[{"name":"y","image":null}]}`)},
		{name: "smp 15: replace alone empties", doc: pod(abc), patch: `{"spec":{"containers":[{"$patch":"replace"}]}}`, want: pod(`{"containers":[]}`)},
		{name: "smp 15: merge is an error", doc: pod(abc), patch: `{"spec":{"containers":[{"name":"a","$patch":"merge"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/0", wants: `"delete" or "replace"`},
		{name: "smp 15: an unknown directive is an error", doc: pod(abc), patch: `{"spec":{"containers":[{"name":"a"},{"name":"b","$patch":"drop"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/1", wants: "drop"},
		{name: "smp 15: an element of the patch needs its key", doc: pod(abc), patch: `{"spec":{"containers":[{"image":"x"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/0", wants: `"name"`},
		{name: "smp 15: a delete needs its key", doc: pod(abc), patch: `{"spec":{"containers":[{"$patch":"delete"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/0", wants: `"name"`},
		{name: "smp 15: an element of the document needs its key", doc: pod(`{"containers":[{"name":"a"},{"image":"x"}]}`),
			patch: `{"spec":{"containers":[{"name":"a"}]}}`, wantKind: Conflict, wantPath: "/spec/containers/1", wants: `"name"`},
		{name: "smp 15: duplicates stay, the first is merged", doc: pod(`{"containers":[{"name":"a","image":"1"},{"name":"a","image":"2"}]}`),
			patch: `{"spec":{"containers":[{"name":"a","tty":true}]}}`,
			want:  pod(`{"containers":[{"name":"a","image":"1","tty":true},{"name":"a","image":"2"}]}`)},
		{name: "smp 15: an appended element comes without nulls and directives", doc: pod(`{"containers":[]}`),
			patch: `{"spec":{"containers":[{"name":"n","image":null,"$setElementOrder/env":[{"name":"X"}],"env":[{"name":"X","value":null},{"name":"Y","$patch":"delete"}]}]}}`,
			want:  pod(`{"containers":[{"name":"n","env":[{"name":"X"}]}]}`)},
		{name: "smp 17: the patch keeps its order, c a", doc: pod(abc), patch: `{"spec":{"containers":[{"name":"c"},{"name":"a"}]}}`,
			want: pod(`{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}`)},
		{name: "smp 17: the patch keeps its order, z b", doc: pod(abc), patch: `{"spec":{"containers":[{"name":"z"},{"name":"b"}]}}`,
			want: pod(`{"containers":[{"name":"z"},{"name":"a"},{"name":"b"},{"name":"c"}]}`)},
		{name: "smp 18: an order alone, c b a", doc: pod(abc), patch: `{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"b"},{"name":"a"}]}}`,
			want: pod(`{"containers":[{"name":"c"},{"name":"b"},{"name":"a"}]}`)},
		{name: "smp 18: an order alone, c a", doc: pod(abc), patch: `{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]}}`,
			want: pod(`{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}`)},
		{name: "smp 18: an order comes before that of the patch", doc: pod(abc),
			patch: `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"n"},{"name":"a"}],"containers":[{"name":"n"},{"name":"a","tty":true}]}}`,
			want:  pod(`{"containers":[{"name":"b"},{"name":"n"},{"name":"a","tty":true},{"name":"c"}]}`)},
		{name: "smp 18: the patch has to be among the order", doc: pod(abc),
			patch:    `{"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/0", wants: `"a"`},
		{name: "smp 18: the patch has to be in the same order", doc: pod(abc),
			patch:    `{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"b"},{"name":"a"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/1", wants: "at another place"},
		{name: "smp 18: deleted elements are exempt", doc: pod(abc),
			patch: `{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"b"}],"containers":[{"name":"a","$patch":"delete"}]}}`,
			want:  pod(`{"containers":[{"name":"c"},{"name":"b"}]}`)},
		{name: "smp 18: an order is a list", doc: pod(abc), patch: `{"spec":{"$setElementOrder/containers":"a"}}`,
			wantKind: Invalid, wantPath: "/spec/containers", wants: "want a list"},
		{name: "smp 18: an order of an absent list does nothing", doc: pod(`{}`), patch: `{"spec":{"$setElementOrder/containers":[{"name":"a"}]}}`, want: pod(`{}`)},
		{name: "smp 18: an order names its field", doc: pod(abc), patch: `{"spec":{"$setElementOrder":[]}}`,
			wantKind: Invalid, wantPath: "/spec/$setElementOrder", wants: "malformed"},
		{name: "smp 21: mixed elements", doc: pod(abc), patch: `{"spec":{"containers":[{"name":"a"},"b"]}}`,
			wantKind: Conflict, wantPath: "/spec/containers/1"},
		{name: "smp 15: scalars have no key", doc: pod(`{"containers":[]}`), patch: `{"spec":{"containers":["b"]}}`,
			wantKind: Conflict, wantPath: "/spec/containers/0", wants: `"name"`},
		{name: "smp 15: an order of scalars for a list of objects", doc: pod(`{}`), patch: `{"spec":{"$setElementOrder/containers":["a"],"containers":["a"]}}`,
			wantKind: Conflict, wantPath: "/spec/containers/0", wants: `"name"`},
		{name: "smp 21: a list in a list", doc: pod(abc), patch: `{"spec":{"containers":[["a"]]}}`,
			wantKind: Conflict, wantPath: "/spec/containers/0"},
		{name: "smp 21: an empty list changes nothing where lists merge", doc: pod(abc), patch: `{"spec":{"containers":[]}}`, want: pod(abc)},
		{name: "smp 21: two empty lists give one", doc: pod(`{"containers":[]}`), patch: `{"spec":{"containers":[]}}`, want: pod(`{"containers":[]}`)},
		{name: "smp 12: a list without a strategy is replaced", doc: pod(`{"tolerations":[{"key":"a"}]}`),
			patch: `{"spec":{"tolerations":[{"key":"b","value":null}]}}`, want: pod(`{"tolerations":[{"key":"b"}]}`)},
		{name: "smp 12: deleting in a list that is replaced is an error", doc: pod(`{"tolerations":[{"key":"a"}]}`),
			patch:    `{"spec":{"tolerations":[{"key":"a","$patch":"delete"}]}}`,
			wantKind: Invalid, wantPath: "/spec/tolerations/0", wants: "give the whole list"},
		{name: "smp 29: keys are compared as JSON values", doc: pod(`{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"w"}]}]}`),
			patch: `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80.0,"name":"x"}]}]}}`,
			want:  pod(`{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"x"}]}]}`)},
		{name: "smp 29: a number is no string", doc: pod(`{"containers":[{"name":"a","ports":[{"containerPort":80}]}]}`),
			patch: `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":"80"}]}]}}`,
			want:  pod(`{"containers":[{"name":"a","ports":[{"containerPort":"80"},{"containerPort":80}]}]}`)},
		{name: "smp 15: a key that is no scalar", doc: pod(abc), patch: `{"spec":{"containers":[{"name":{"a":1}}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/0", wants: `"name"`},
	})
}

func TestListsOfScalars(t *testing.T) {
	t.Parallel()
	checkAll(t, []row{
		{name: "smp 16: both together, without duplicates", doc: meta(`{"name":"c","finalizers":["a","b"]}`),
			patch: `{"metadata":{"finalizers":["b","c"]}}`, want: meta(`{"name":"c","finalizers":["a","b","c"]}`)},
		{name: "smp 17: finalizers in the order of the patch", doc: meta(`{"name":"c","finalizers":["a","b"]}`),
			patch: `{"metadata":{"finalizers":["c","a"]}}`, want: meta(`{"name":"c","finalizers":["c","a","b"]}`)},
		{name: "smp 18: an order of scalars", doc: meta(`{"name":"c","finalizers":["a","b","c"]}`),
			patch: `{"metadata":{"$setElementOrder/finalizers":["c","a"]}}`, want: meta(`{"name":"c","finalizers":["b","c","a"]}`)},
		{name: "smp 18: an order that lacks an element", doc: meta(`{"name":"c","finalizers":["a"]}`),
			patch:    `{"metadata":{"$setElementOrder/finalizers":["a"],"finalizers":["b"]}}`,
			wantKind: Invalid, wantPath: "/metadata/finalizers/0", wants: `"b"`},
		{name: "smp 19: all equal ones go, absent ones are ignored", doc: meta(`{"name":"c","finalizers":["a","b","a"]}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a","z"]}}`, want: meta(`{"name":"c","finalizers":["b"]}`)},
		{name: "smp 19: whatever the strategy", doc: pod(`{"containers":[{"name":"a","args":["x","y"]}]}`),
			patch: `{"spec":{"containers":[{"name":"a","$deleteFromPrimitiveList/args":["x"]}]}}`,
			want:  pod(`{"containers":[{"name":"a","args":["y"]}]}`)},
		{name: "smp 19: with an addition", doc: meta(`{"name":"c","finalizers":["a","b"]}`),
			patch: `{"metadata":{"finalizers":["c"],"$deleteFromPrimitiveList/finalizers":["a"]}}`, want: meta(`{"name":"c","finalizers":["c","b"]}`)},
		{name: "smp 19: an absent list is ignored", doc: meta(`{"name":"c"}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}`, want: meta(`{"name":"c"}`)},
		{name: "smp 19: an absent list is ignored, whatever the field", doc: meta(`{"name":"c"}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/nope":["a"]}}`, want: meta(`{"name":"c"}`)},
		{name: "smp 19: a list that the kind hasn't got", doc: meta(`{"name":"c","nope":["a"]}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/nope":["a"]}}`, wantKind: UnknownField, wantPath: "/metadata/nope"},
		{name: "smp 19: the others keep their places, repetitions too", doc: meta(`{"name":"c","finalizers":["b","d","c","b"]}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["c"]}}`, want: meta(`{"name":"c","finalizers":["b","d","b"]}`)},
		{name: "smp 19: no list in the patch is ignored", doc: meta(`{"name":"c","finalizers":["a"]}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":"a"}}`, want: meta(`{"name":"c","finalizers":["a"]}`)},
		{name: "smp 19: no list in the document is ignored", doc: meta(`{"name":"c","finalizers":"a"}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}`, want: meta(`{"name":"c","finalizers":"a"}`)},
		{name: "smp 19: the bare directive is an error", doc: meta(`{"name":"c"}`), patch: `{"metadata":{"$deleteFromPrimitiveList":["a"]}}`,
			wantKind: Invalid, wantPath: "/metadata/$deleteFromPrimitiveList", wants: "malformed"},
		{name: "smp 19: null deletes the list", doc: meta(`{"name":"c","finalizers":["a"]}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":null}}`, want: meta(`{"name":"c"}`)},
		{name: "smp 19: objects are deleted otherwise", doc: pod(`{"containers":[{"name":"a"}]}`),
			patch:    `{"spec":{"$deleteFromPrimitiveList/containers":[{"name":"a"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers", wants: "$patch: delete"},
		{name: "smp 21: mixed scalars", doc: meta(`{"name":"c","finalizers":["a"]}`), patch: `{"metadata":{"finalizers":[1]}}`,
			wantKind: Conflict, wantPath: "/metadata/finalizers/0"},
		{name: "smp 21: a list without a strategy may be empty", doc: pod(`{"containers":[{"name":"a","args":["x"]}]}`),
			patch: `{"spec":{"containers":[{"name":"a","args":[]}]}}`, want: pod(`{"containers":[{"name":"a","args":[]}]}`)},
	})
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	doc := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"}}`
	for path, patch := range map[string]string{
		"/apiVersion":         `{"apiVersion":"v2"}`,
		"/kind":               `{"kind":"Secret"}`,
		"/metadata/name":      `{"metadata":{"name":"d"}}`,
		"/metadata/namespace": `{"metadata":{"namespace":null}}`,
	} {
		t.Run("smp 27: "+path, func(t *testing.T) {
			t.Parallel()
			row{doc: doc, patch: patch, wantKind: Identity, wantPath: path}.check(t)
			for _, mode := range []Mode{Strict, Oper8} {
				row{doc: doc, patch: patch, wantKind: Identity, wantPath: path, options: []Option{InMode(mode)}}.check(t)
			}
			changed := object(t, doc)
			_, err := Strategic(changed, object(t, patch), schemaOf(changed), AllowIdentityChange())
			assert.NoError(t, err)
		})
	}
}
