package smp

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
)

func TestStrict(t *testing.T) {
	t.Parallel()
	strict := []Option{InMode(Strict)}
	checkAll(t, []row{
		{name: "smp 25: a good patch gives the same", options: strict, doc: pod(`{"containers":[{"name":"a"},{"name":"b"}]}`),
			patch: `{"spec":{"containers":[{"name":"b","image":"2"},{"name":"a","$patch":"delete"}]}}`, want: pod(`{"containers":[{"name":"b","image":"2"}]}`)},
		{name: "smp 25: delete of an absent element", options: strict, doc: pod(`{"containers":[{"name":"a"}]}`),
			patch:    `{"spec":{"containers":[{"name":"a"},{"name":"z","$patch":"delete"}]}}`,
			wantKind: Conflict, wantPath: "/spec/containers/1", wants: `"z"`},
		{name: "smp 25: delete of an absent map", options: strict, doc: pod(`{}`), patch: `{"spec":{"affinity":{"$patch":"delete"}}}`,
			wantKind: Conflict, wantPath: "/spec/affinity", wants: "nothing to delete"},
		{name: "smp 25: removing from an absent list", options: strict, doc: meta(`{"name":"c"}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}`, wantKind: Conflict, wantPath: "/metadata/$deleteFromPrimitiveList~1finalizers", wants: "no list"},
		{name: "smp 25: removing from what is no list", options: strict, doc: meta(`{"name":"c","finalizers":"a"}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}`, wantKind: Conflict, wantPath: "/metadata/$deleteFromPrimitiveList~1finalizers", wants: "no list"},
		{name: "smp 25: removing what is no list", options: strict, doc: meta(`{"name":"c","finalizers":["a"]}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":"a"}}`, wantKind: Invalid, wantPath: "/metadata/$deleteFromPrimitiveList~1finalizers", wants: "want a list"},
		{name: "smp 25: removing null", options: strict, doc: meta(`{"name":"c","finalizers":["a"]}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":null}}`, wantKind: Invalid, wantPath: "/metadata/$deleteFromPrimitiveList~1finalizers", wants: "want a list"},
		{name: "smp 25: removing an absent element", options: strict, doc: meta(`{"name":"c","finalizers":["a"]}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a","b"]}}`, wantKind: Conflict, wantPath: "/metadata/$deleteFromPrimitiveList~1finalizers/1", wants: `"b"`},
		{name: "smp 25: ambiguous duplicates", options: strict, doc: pod(`{"containers":[{"name":"a"},{"name":"a"}]}`),
			patch: `{"spec":{"containers":[{"name":"a","tty":true}]}}`, wantKind: Conflict, wantPath: "/spec/containers/0", wants: "ambiguous"},
		{name: "smp 25: duplicates that aren't meant", options: strict, doc: pod(`{"containers":[{"name":"a"},{"name":"a"},{"name":"b"}]}`),
			patch: `{"spec":{"containers":[{"name":"b","tty":true}]}}`, want: pod(`{"containers":[{"name":"a"},{"name":"a"},{"name":"b","tty":true}]}`)},
		{name: "smp 25: an unknown field", options: strict, doc: pod(`{}`), patch: `{"spec":{"hostnam":"h"}}`,
			wantKind: UnknownField, wantPath: "/spec/hostnam", wants: "PodSpec"},
		{name: "smp 25: an unknown field in what is new", options: strict, doc: pod(`{}`), patch: `{"spec":{"containers":[{"name":"a","env":[{"nam":"x"}]}]}}`,
			wantKind: UnknownField, wantPath: "/spec/containers/0/env/0/nam", wants: "EnvVar"},
		{name: "smp 25: an unknown directive", options: strict, doc: pod(`{}`), patch: `{"spec":{"$retain":[]}}`,
			wantKind: Invalid, wantPath: "/spec/$retain", wants: "unknown directive"},
		{name: "smp 25: an unknown directive in what is new", options: strict, doc: pod(`{}`), patch: `{"spec":{"nodeSelector":{"$retain":"x"}}}`,
			wantKind: Invalid, wantPath: "/spec/nodeSelector/$retain", wants: "unknown directive"},
		{name: "smp 25: an unknown field that is null, in what is new", options: strict, doc: pod(`{}`), patch: `{"spec":{"affinity":{"nope":null}}}`,
			wantKind: UnknownField, wantPath: "/spec/affinity/nope", wants: "Affinity"},
		{name: "smp 25: null for an absent field is fine", options: strict, doc: pod(`{}`), patch: `{"spec":{"hostname":null}}`, want: pod(`{}`)},
		{name: "smp 25: removing in a map that is new", options: strict, doc: `{"apiVersion":"v1","kind":"ConfigMap"}`,
			patch:    `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x"]}}`,
			wantKind: Conflict, wantPath: "/metadata/$deleteFromPrimitiveList~1finalizers", wants: "no list"},
		{name: "smp 25: an order for no list", options: strict, doc: pod(`{}`), patch: `{"spec":{"$setElementOrder/containers":[{"name":"a"}]}}`,
			wantKind: Conflict, wantPath: "/spec/$setElementOrder~1containers", wants: "no list"},
		{name: "smp 25: other fields beside replace in an element", options: strict, doc: pod(`{"containers":[{"name":"a"}]}`),
			patch:    `{"spec":{"containers":[{"name":"a","image":"9","$patch":"replace"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/0", wants: "this element is dropped"},
		{name: "smp 25: other fields beside delete in an element", options: strict, doc: pod(`{"containers":[{"name":"a"}]}`),
			patch:    `{"spec":{"containers":[{"name":"a","image":"9","$patch":"delete"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/0", wants: "except its key"},
		{name: "smp 25: other fields beside delete in a map", options: strict, doc: pod(`{"affinity":{}}`),
			patch:    `{"spec":{"affinity":{"$patch":"delete","podAffinity":{}}}}`,
			wantKind: Invalid, wantPath: "/spec/affinity", wants: "leave the other fields out"},
		{name: "smp 25: an element twice", options: strict, doc: pod(`{"containers":[{"name":"a"}]}`),
			patch:    `{"spec":{"containers":[{"name":"a","tty":true},{"name":"a","tty":false}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/1", wants: `"a" twice`},
		{name: "smp 25: deleting what the document has twice", options: strict,
			doc:      `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}}`,
			patch:    `{"spec":{"ports":[{"port":53,"$patch":"delete"}]}}`,
			wantKind: Conflict, wantPath: "/spec/ports/0", wants: "ambiguous"},
		{name: "smp 25: a misspelt field to keep", options: strict, doc: pod(`{"securityContext":{"fsGroup":1}}`),
			patch:    `{"spec":{"securityContext":{"$retainKeys":["fsGruop"]}}}`,
			wantKind: UnknownField, wantPath: "/spec/securityContext/$retainKeys/0", wants: "PodSecurityContext"},
		{name: "smp 25: what is set has to be kept in a new map too", options: strict, doc: pod(`{}`),
			patch:    `{"spec":{"securityContext":{"$retainKeys":[],"fsGroup":1}}}`,
			wantKind: Invalid, wantPath: "/spec/securityContext/$retainKeys", wants: `"fsGroup"`},
		{name: "smp 25: an element of a list that is replaced is looked into", options: strict, doc: pod(`{"tolerations":[]}`),
			patch:    `{"spec":{"tolerations":[{"kee":"x"}]}}`,
			wantKind: UnknownField, wantPath: "/spec/tolerations/0/kee", wants: "Toleration"},
		{name: "smp 24: Kubernetes takes an unknown directive for a field", doc: pod(`{}`), patch: `{"spec":{"$retain":[]}}`, want: pod(`{"$retain":[]}`)},
	})
}

func TestOper8(t *testing.T) {
	t.Parallel()
	oper8 := []Option{InMode(Oper8)}
	ab := `{"containers":[{"name":"a","image":"1","tty":true},{"name":"b"}]}`
	cronJob := func(spec string) string {
		return `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"j"},"spec":{"jobTemplate":{"spec":{"template":{"spec":` + spec + `}}}}}`
	}
	checkAll(t, []row{
		{name: "smp 9: an object merges, null deletes, a new key comes, another type replaces", options: oper8,
			doc: `{"kind":"Foo","a":{"b":1,"c":2},"d":{"x":1},"e":"text"}`, patch: `{"a":{"b":null,"f":3},"d":"text","e":{"y":1},"g":null,"h":[1]}`,
			want: `{"kind":"Foo","a":{"c":2,"f":3},"d":"text","e":{"y":1},"h":[1]}`},
		{name: "smp 10: elements merge by the key of the table, another list is replaced", options: oper8,
			doc:   pod(`{"containers":[{"name":"a","env":[{"name":"X","value":"1"}],"args":["x"]}]}`),
			patch: `{"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"}],"args":["y"]}]}}`,
			want:  pod(`{"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}],"args":["y"]}]}`)},
		{name: "smp 10: every element needs the key", options: oper8, doc: pod(`{"containers":[{"image":"x"}]}`), patch: `{"spec":{"containers":[{"name":"a"}]}}`,
			wantKind: Conflict, wantPath: "/spec/containers/0", wants: `"name"`},
		{name: "smp 11: scalars are removed from a list", options: oper8, doc: pod(`{"x":[1,2,3,4]}`),
			patch: `{"spec":{"$deleteFromPrimitiveList/x":[2,4]}}`, want: pod(`{"x":[1,3]}`)},
		{name: "smp 26: D6 removing what isn't there is no error, all equal ones go", options: oper8, doc: pod(`{"x":[1,2,1]}`),
			patch: `{"spec":{"$deleteFromPrimitiveList/x":[1,9],"$deleteFromPrimitiveList/y":[1]}}`, want: pod(`{"x":[2]}`)},
		{name: "smp 26: D4 deleting what isn't there is no error", options: oper8, doc: pod(ab),
			patch: `{"spec":{"containers":[{"name":"z","$patch":"delete"}]}}`, want: pod(ab)},
		{name: "smp 26: D1 $patch in a map is honoured", options: oper8, doc: pod(`{"securityContext":{"fsGroup":1}}`),
			patch: `{"spec":{"securityContext":{"$patch":"replace","runAsUser":1}}}`, want: pod(`{"securityContext":{"runAsUser":1}}`)},
		{name: "smp 26: D2 replace exchanges one element", options: oper8, doc: pod(ab),
			patch: `{"spec":{"containers":[{"name":"a","image":"2","$patch":"replace"}]}}`, want: pod(`{"containers":[{"name":"a","image":"2"},{"name":"b"}]}`)},
		{name: "smp 26: D2 replace of a new element appends it", options: oper8, doc: pod(ab),
			patch: `{"spec":{"containers":[{"name":"c","$patch":"replace"}]}}`, want: pod(`{"containers":[{"name":"a","image":"1","tty":true},{"name":"b"},{"name":"c"}]}`)},
		{name: "smp 26: D2 replace needs the key", options: oper8, doc: pod(ab), patch: `{"spec":{"containers":[{"$patch":"replace"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/0", wants: `"name"`},
		{name: "smp 26: D3 merge may be said", options: oper8, doc: pod(ab),
			patch: `{"spec":{"containers":[{"name":"a","image":"2","$patch":"merge"}]}}`, want: pod(`{"containers":[{"name":"a","image":"2","tty":true},{"name":"b"}]}`)},
		{name: "smp 26: D5 an unknown directive is an error", options: oper8, doc: pod(ab), patch: `{"spec":{"containers":[{"name":"c","$patch":"drop"}]}}`,
			wantKind: Invalid, wantPath: "/spec/containers/0", wants: "drop"},
		{name: "smp 26: D7 an order is honoured", options: oper8, doc: pod(`{"containers":[{"name":"a"},{"name":"b"}]}`),
			patch: `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}}`, want: pod(`{"containers":[{"name":"b"},{"name":"a"}]}`)},
		{name: "smp 26: D7 $retainKeys is honoured", options: oper8, doc: pod(`{"x":{"a":1,"b":2}}`),
			patch: `{"spec":{"x":{"$retainKeys":["a"]}}}`, want: pod(`{"x":{"a":1}}`)},
		{name: "smp 26: D9 the document's order, new ones behind", options: oper8, doc: pod(`{"containers":[{"name":"a"},{"name":"b"}]}`),
			patch: `{"spec":{"containers":[{"name":"z"},{"name":"b","tty":true},{"name":"a"}]}}`,
			want:  pod(`{"containers":[{"name":"a"},{"name":"b","tty":true},{"name":"z"}]}`)},
		{name: "smp 26: D10 duplicates stay", options: oper8,
			doc:   `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"},{"port":80}]}}`,
			patch: `{"spec":{"ports":[{"port":80,"name":"web"}]}}`,
			want:  `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"},{"port":80,"name":"web"}]}}`},
		{name: "smp 26: D11 what is new comes without nulls", options: oper8, doc: pod(`{}`), patch: `{"spec":{"x":{"a":null,"b":1}}}`, want: pod(`{"x":{"b":1}}`)},
		{name: "smp 26: D12 the CronJob of its table is spelt right", options: oper8, doc: cronJob(ab),
			patch: `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"2"}]}}}}}}`,
			want:  cronJob(`{"containers":[{"name":"a","image":"2","tty":true},{"name":"b"}]}`)},
		{name: "smp 26: D12 what the table lacks is replaced", options: oper8, doc: pod(`{"hostAliases":[{"ip":"1"},{"ip":"2"}]}`),
			patch: `{"spec":{"hostAliases":[{"ip":"3"}]}}`, want: pod(`{"hostAliases":[{"ip":"3"}]}`)},
		{name: "smp 26: D16 a document without a kind", options: oper8, doc: `{"spec":{}}`, patch: `{"spec":{"a":1}}`,
			wantKind: UnknownType, wantPath: "/kind", wants: "no kind"},
		{name: "smp 10: another table", options: []Option{InMode(Oper8), MergeKeys(map[string]string{"Pod.spec.x.y": "id", "Pod.spec.x.y.z": "id"})},
			doc:   pod(`{"x":{"y":[{"id":1,"z":[{"id":2,"v":1}]}]},"containers":[{"name":"a"}]}`),
			patch: `{"spec":{"x":{"y":[{"id":1,"z":[{"id":2,"w":2}]}]},"containers":[{"name":"b"}]}}`,
			want:  pod(`{"x":{"y":[{"id":1,"z":[{"id":2,"v":1,"w":2}]}]},"containers":[{"name":"b"}]}`)},
		{name: "smp 8: fields of no kind merge", options: oper8, doc: `{"kind":"Foo","x":{"a":[{"b":1}]}}`, patch: `{"x":{"c":1,"a":[{"d":2}]}}`,
			want: `{"kind":"Foo","x":{"a":[{"d":2}],"c":1}}`},
	})
}

func TestUnknownKinds(t *testing.T) {
	t.Parallel()
	thing := func(spec string) string {
		return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":` + spec + `}`
	}
	checkAll(t, []row{
		{name: "smp 28: maps merge, lists are replaced", doc: thing(`{"a":{"b":1},"l":[{"name":"x"}]}`),
			patch: `{"spec":{"a":{"c":null,"d":2},"l":[{"name":"y"}]}}`, want: thing(`{"a":{"b":1,"d":2},"l":[{"name":"y"}]}`)},
		{name: "smp 28: $patch in maps is honoured", doc: thing(`{"a":{"b":1}}`), patch: `{"spec":{"a":{"$patch":"replace","c":2}}}`, want: thing(`{"a":{"c":2}}`)},
		{name: "smp 28: $retainKeys is honoured", doc: thing(`{"a":{"b":1,"c":2}}`), patch: `{"spec":{"a":{"$retainKeys":["c"]}}}`, want: thing(`{"a":{"c":2}}`)},
		{name: "smp 28: $patch in an element is an error", doc: thing(`{"l":[{"name":"x"}]}`), patch: `{"spec":{"l":[{"name":"x","$patch":"delete"}]}}`,
			wantKind: UnknownType, wantPath: "/spec/l/0", wants: "lists of this kind"},
		{name: "smp 28: $patch in an element of a new list is an error", doc: thing(`{}`), patch: `{"spec":{"l":[{"name":"x","$patch":"delete"}]}}`,
			wantKind: UnknownType, wantPath: "/spec/l/0", wants: "lists of this kind"},
		{name: "smp 28: an order is an error", doc: thing(`{"l":["x"]}`), patch: `{"spec":{"$setElementOrder/l":["x"]}}`,
			wantKind: UnknownType, wantPath: "/spec/$setElementOrder~1l", wants: "give a schema"},
		{name: "smp 28: a removal is an error", doc: thing(`{"l":["x"]}`), patch: `{"spec":{"$deleteFromPrimitiveList/l":["x"]}}`,
			wantKind: UnknownType, wantPath: "/spec/$deleteFromPrimitiveList~1l", wants: "give a schema"},
		{name: "smp 28: an order in a map that is new is an error", doc: thing(`{}`), patch: `{"spec":{"a":{"$setElementOrder/l":["x"]}}}`,
			wantKind: UnknownType, wantPath: "/spec/a/$setElementOrder~1l", wants: "give a schema"},
		{name: "smp 23: a kind of another group isn't the built-in one",
			doc:   `{"apiVersion":"serving.knative.dev/v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}}`,
			patch: `{"spec":{"ports":[{"port":2}]}}`,
			want:  `{"apiVersion":"serving.knative.dev/v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":2}]}}`},
		{name: "smp 28: no kind", doc: `{"spec":{}}`, patch: `{"spec":{}}`, wantKind: UnknownType, wantPath: "/kind", wants: "Merge"},
	})
}

func TestBadInputOfStrategic(t *testing.T) {
	t.Parallel()
	cyclicMap := map[string]any{}
	cyclicMap["a"] = cyclicMap
	cyclicMap["b"] = cyclicMap
	cyclicList := []any{nil, nil}
	cyclicList[1] = cyclicList
	cyclicList[0] = cyclicList
	good := func() map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}, "spec": map[string]any{"hostname": "h"}}
	}
	in := func(value any) map[string]any { return map[string]any{"spec": map[string]any{"affinity": value}} }
	for name, row := range map[string]struct {
		patch map[string]any
		kind  ErrorKind
		path  string
	}{
		"a cyclic map":          {in(cyclicMap), Limit, ""},
		"a cyclic list":         {in(map[string]any{"a": cyclicList}), Limit, ""},
		"depth 10 000":          {in(nest(10_000)), Limit, ""},
		"NaN":                   {in(map[string]any{"a": math.NaN()}), Document, "/spec/affinity/a"},
		"an infinity in a list": {in([]any{math.Inf(1)}), Document, "/spec/affinity/0"},
		"a Go map":              {in(map[string]string{"a": "b"}), Document, "/spec/affinity"},
		"a struct":              {in(map[string]any{"a": struct{}{}}), Document, "/spec/affinity/a"},
	} {
		for mode, options := range map[string][]Option{"detached": nil, "shared": {Shared()}} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				doc := good()
				got, err := Strategic(doc, row.patch, schemaOf(doc), append(options, Named("mine"))...)
				require.Error(t, err)
				assert.Nil(t, got)
				assert.Equal(t, good(), doc)
				assert.Equal(t, row.kind, KindOf(err), err)
				assert.ErrorContains(t, err, `patch "mine": Pod p: `)
				var patchError *PatchError
				require.ErrorAs(t, err, &patchError)
				if row.path != "" {
					assert.Equal(t, row.path, patchError.Path)
				}
			})
		}
	}
	t.Run("nil maps", func(t *testing.T) {
		t.Parallel()
		got, err := Strategic(good(), nil, schemaOf(good()))
		require.NoError(t, err)
		assert.Equal(t, good(), got)
		_, err = Strategic(nil, nil, Schema{})
		assert.Equal(t, UnknownType, KindOf(err))
		got, err = Strategic(nil, good(), schemaOf(good()), AllowIdentityChange())
		require.NoError(t, err)
		assert.Equal(t, good(), got)
	})
	t.Run("a document that holds what isn't JSON", func(t *testing.T) {
		t.Parallel()
		doc := good()
		doc["spec"].(map[string]any)["affinity"] = cyclicMap
		_, err := Strategic(doc, map[string]any{"spec": map[string]any{"hostname": "i"}}, schemaOf(doc))
		assert.Equal(t, Limit, KindOf(err), "detached it has to be copied")
		_, err = Strategic(doc, map[string]any{"spec": map[string]any{"hostname": "i"}}, schemaOf(doc), Shared())
		assert.NoError(t, err, "shared it isn't looked at")
	})
	t.Run("detached, what isn't JSON in the document is found wherever it is", func(t *testing.T) {
		t.Parallel()
		for path, value := range map[string]any{
			"/metadata/labels": map[string]string{"a": "b"}, "/metadata/finalizers": []string{"a"}, "/spec": struct{}{}, "/metadata/generation": math.NaN(),
		} {
			doc := good()
			at := doc
			if field, inMetadata := strings.CutPrefix(path, "/metadata/"); inMetadata {
				doc["metadata"].(map[string]any)[field] = value
			} else {
				at["spec"] = value
			}
			_, err := Strategic(doc, map[string]any{"metadata": map[string]any{"annotations": map[string]any{}}}, schemaOf(doc))
			assert.Equal(t, Document, KindOf(err), err)
			var patchError *PatchError
			if assert.ErrorAs(t, err, &patchError) {
				assert.Equal(t, path, patchError.Path)
			}
		}
	})
	t.Run("the schema of another kind", func(t *testing.T) {
		t.Parallel()
		deployment := SchemaFor(kschema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
		_, err := Strategic(good(), map[string]any{"spec": map[string]any{"replicas": int64(1)}}, deployment)
		assert.Equal(t, UnknownType, KindOf(err))
		assert.ErrorContains(t, err, "apps/v1 Deployment")
		_, err = Diff(good(), good(), deployment)
		assert.Equal(t, UnknownType, KindOf(err))
		_, err = Diff3(nil, good(), good(), deployment)
		assert.Equal(t, UnknownType, KindOf(err))
		other := map[string]any{"apiVersion": "apps/v1beta2", "kind": "Deployment"}
		_, err = Strategic(other, nil, deployment)
		assert.NoError(t, err, "another version will do")
	})
	t.Run("depth is counted alike everywhere", func(t *testing.T) {
		t.Parallel()
		deep := map[string]any{"spec": map[string]any{"affinity": map[string]any{}}}
		for depth, fits := range map[int]bool{2: false, 3: true} {
			_, strategicErr := Strategic(good(), deep, schemaOf(good()), Within(depth, 0))
			_, sharedErr := Strategic(good(), deep, schemaOf(good()), Within(depth, 0), Shared())
			_, strictErr := Strategic(good(), deep, schemaOf(good()), Within(depth, 0), InMode(Strict))
			_, mergeErr := Merge(good(), deep, Within(depth, 0))
			with := good()
			with["spec"] = deep["spec"]
			_, diffErr := Diff(good(), with, schemaOf(good()), Within(depth, 0))
			_, diff3Err := Diff3(nil, with, good(), schemaOf(good()), Within(depth, 0))
			for _, err := range []error{strategicErr, sharedErr, strictErr, mergeErr, diffErr, diff3Err} {
				assert.Equal(t, fits, err == nil, "%d: %v", depth, err)
				if !fits {
					assert.Equal(t, Limit, KindOf(err))
				}
			}
		}
	})
	t.Run("Go's other numbers are JSON's", func(t *testing.T) {
		t.Parallel()
		got, err := Strategic(good(), map[string]any{"spec": map[string]any{"priority": int32(3)}}, schemaOf(good()), Shared())
		require.NoError(t, err)
		assert.Equal(t, int64(3), got["spec"].(map[string]any)["priority"])
	})
}

// nest is a map with depth levels.
func nest(depth int) any {
	value := any("x")
	for range depth {
		value = map[string]any{"a": value}
	}
	return value
}

func TestSharing(t *testing.T) {
	t.Parallel()
	doc := object(t, pod(`{"containers":[{"name":"a","env":[{"name":"X"}]},{"name":"b"}],"affinity":{"x":{}}}`))
	patch := object(t, `{"spec":{"containers":[{"name":"a","image":"2"}],"securityContext":{"sysctls":[{"name":"n"}]}}}`)
	spec := func(doc map[string]any) map[string]any { return doc["spec"].(map[string]any) }
	first := func(doc map[string]any) map[string]any {
		return spec(doc)["containers"].([]any)[0].(map[string]any)
	}
	t.Run("smp 6: shared copies only the path that changes", func(t *testing.T) {
		got, err := Strategic(doc, patch, schemaOf(doc), Shared())
		require.NoError(t, err)
		spec(doc)["affinity"].(map[string]any)["mark"] = true
		first(doc)["env"].([]any)[0].(map[string]any)["mark"] = true
		spec(patch)["securityContext"].(map[string]any)["mark"] = true
		assert.Contains(t, spec(got)["affinity"], "mark")
		assert.Contains(t, first(got)["env"].([]any)[0], "mark")
		assert.Contains(t, spec(got)["securityContext"], "mark")
		assert.NotContains(t, first(doc), "image")
	})
	t.Run("smp 6: detached shares nothing", func(t *testing.T) {
		got, err := Strategic(doc, patch, schemaOf(doc))
		require.NoError(t, err)
		scribble(got)
		assert.NotContains(t, spec(doc), "scribbled")
		assert.NotContains(t, first(doc)["env"].([]any)[0], "scribbled")
		assert.NotContains(t, spec(patch)["securityContext"], "scribbled")
		assert.NotContains(t, spec(patch)["securityContext"].(map[string]any)["sysctls"].([]any)[0], "scribbled")
	})
}

// scribble writes into every map and list of a value.
func scribble(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			scribble(field)
		}
		value["scribbled"] = true
	case []any:
		for i, element := range value {
			scribble(element)
			if element == nil {
				value[i] = "scribbled"
			}
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		options []Option
		wants   string
	}{
		"an unknown mode":               {[]Option{InMode(77)}, "unknown mode 77"},
		"a negative depth":              {[]Option{Within(-1, 0)}, "Within: depth -1: use zero"},
		"a negative size":               {[]Option{Within(0, -1)}, "Within: -1 bytes: use zero"},
		"keys without the mode":         {[]Option{MergeKeys(map[string]string{"Pod.spec.x": "id"})}, "InMode(Oper8)"},
		"a position without a field":    {[]Option{InMode(Oper8), MergeKeys(map[string]string{"Pod": "id"})}, `"Pod"`},
		"a position with an empty part": {[]Option{InMode(Oper8), MergeKeys(map[string]string{"Pod..x": "id"})}, `"Pod..x"`},
		"an empty key":                  {[]Option{InMode(Oper8), MergeKeys(map[string]string{"Pod.spec.x": ""})}, `"Pod.spec.x"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := object(t, pod(`{}`))
			_, strategicErr := Strategic(doc, nil, schemaOf(doc), row.options...)
			_, jsonErr := JSON(doc, nil, row.options...)
			_, mergeErr := JSONText.Merge([]byte(`{}`), []byte(`{}`), row.options...)
			_, patchErr := Patch{Type: StrategicMerge}.Apply(doc, schemaOf(doc), row.options...)
			for _, err := range []error{strategicErr, jsonErr, mergeErr, patchErr} {
				assert.Equal(t, Invalid, KindOf(err))
				assert.ErrorContains(t, err, row.wants)
			}
		})
	}
	t.Run("no patches are made for the mode Oper8", func(t *testing.T) {
		t.Parallel()
		doc := object(t, pod(`{}`))
		_, err := Diff(doc, doc, schemaOf(doc), InMode(Oper8))
		assert.Equal(t, Invalid, KindOf(err))
		_, err = Diff3(doc, doc, doc, schemaOf(doc), InMode(Oper8))
		assert.Equal(t, Invalid, KindOf(err))
	})
}
