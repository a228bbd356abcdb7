package smp

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/document"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, before, after, patch string
		shared                     bool
	}{
		{name: "equal documents give an empty patch", before: pod(`{"containers":[{"name":"a"}]}`), after: pod(`{"containers":[{"name":"a"}]}`), patch: `{}`},
		{name: "a changed field", before: pod(`{"hostname":"a"}`), after: pod(`{"hostname":"b"}`), patch: `{"spec":{"hostname":"b"}}`},
		{name: "a field that goes is null", before: pod(`{"hostname":"a","subdomain":"s"}`), after: pod(`{"subdomain":"s"}`), patch: `{"spec":{"hostname":null}}`},
		{name: "equal numbers of different types are no change", before: pod(`{"terminationGracePeriodSeconds":30}`), after: pod(`{"terminationGracePeriodSeconds":3e1}`), patch: `{}`},
		{name: "an element names its key", before: pod(`{"containers":[{"name":"a","image":"1"},{"name":"b"}]}`),
			after: pod(`{"containers":[{"name":"a","image":"2"},{"name":"b"}]}`), patch: `{"spec":{"containers":[{"name":"a","image":"2"}]}}`},
		{name: "an element that goes is marked", before: pod(`{"containers":[{"name":"a"},{"name":"b"}]}`),
			after: pod(`{"containers":[{"name":"b"}]}`), patch: `{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}`},
		{name: "a new element comes in front unless an order is given", before: pod(`{"containers":[{"name":"a"}]}`),
			after: pod(`{"containers":[{"name":"a"},{"name":"b"}]}`), patch: `{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"b"}]}}`},
		{name: "a new element in front needs no order", before: pod(`{"containers":[{"name":"a"}]}`),
			after: pod(`{"containers":[{"name":"b"},{"name":"a"}]}`), patch: `{"spec":{"containers":[{"name":"b"}]}}`},
		{name: "another order", before: pod(`{"containers":[{"name":"a"},{"name":"b"}]}`), after: pod(`{"containers":[{"name":"b"},{"name":"a"}]}`),
			patch: `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}}`},
		{name: "scalars that merge", before: meta(`{"name":"c","finalizers":["a","b"]}`), after: meta(`{"name":"c","finalizers":["c","b"]}`),
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]}}`},
		{name: "a list that doesn't merge is given whole", before: pod(`{"tolerations":[{"key":"a"},{"key":"b"}]}`), after: pod(`{"tolerations":[{"key":"b"}]}`),
			patch: `{"spec":{"tolerations":[{"key":"b"}]}}`},
		{name: "fields that exclude each other name what stays",
			before: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}}`,
			after:  `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"strategy":{"type":"Recreate"}}}`,
			patch:  `{"spec":{"strategy":{"$retainKeys":["type"],"rollingUpdate":null,"type":"Recreate"}}}`},
		{name: "a new null replaces what is around it", before: pod(`{"securityContext":{"fsGroup":1}}`), after: pod(`{"securityContext":{"fsGroup":null}}`),
			patch: `{"spec":{"securityContext":{"$patch":"replace","fsGroup":null}}}`},
		{name: "a new null in an element replaces the list", before: pod(`{"containers":[{"name":"a"}]}`), after: pod(`{"containers":[{"name":"a","image":null}]}`),
			patch: `{"spec":{"containers":[{"$patch":"replace"},{"name":"a","image":null}]}}`},
		{name: "elements that can't be told apart replace the list", before: pod(`{"containers":[{"name":"a"}]}`), after: pod(`{"containers":[{"name":"a"},{"name":"a"}]}`),
			patch: `{"spec":{"containers":[{"$patch":"replace"},{"name":"a"},{"name":"a"}]}}`},
		{name: "elements that can't be told apart and don't stand together replace what is around",
			before: pod(`{"containers":[{"name":"a"}]}`), after: pod(`{"containers":[{"name":"a"},{"name":"b"},{"name":"a"}]}`),
			patch: `{"spec":{"$patch":"replace","containers":[{"name":"a"},{"name":"b"},{"name":"a"}]}}`},
		{name: "lists of an unknown kind are replaced", before: `{"apiVersion":"example.com/v1","kind":"Thing","spec":{"a":[1],"b":{"c":1}}}`,
			after: `{"apiVersion":"example.com/v1","kind":"Thing","spec":{"a":[1,2],"b":{"c":1,"d":2}}}`, patch: `{"spec":{"a":[1,2],"b":{"d":2}}}`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			before, after := object(t, row.before), object(t, row.after)
			patch, err := Diff(before, after, schemaOf(before))
			require.NoError(t, err)
			assertSame(t, object(t, row.patch), patch)
			checkDiff(t, before, after)
		})
	}
}

// checkDiff holds a difference to what Diff promises.
func checkDiff(t testing.TB, before, after map[string]any) {
	t.Helper()
	beforeCopy, afterCopy := cloned(t, before), cloned(t, after)
	schema := schemaOf(before)
	patch, err := Diff(before, after, schema)
	require.NoError(t, err)
	got, err := Strategic(before, patch, schema, AllowIdentityChange())
	require.NoError(t, err, "the patch was %v", patch)
	require.True(t, document.Equal(after, got), "patch %v\nmakes %v\nof    %v\nnot   %v", patch, got, before, after)
	shared, err := Diff(before, after, schema, Shared())
	require.NoError(t, err)
	require.True(t, document.Equal(patch, shared), "shared gives another patch: %v, not %v", shared, patch)
	require.Equal(t, beforeCopy, before, "before was changed")
	require.Equal(t, afterCopy, after, "after was changed")
}

func cloned(t testing.TB, doc map[string]any) map[string]any {
	t.Helper()
	value, err := document.Clone(doc, defaultMaxDepth)
	require.NoError(t, err)
	return value.(map[string]any)
}

func TestDiffErrors(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range defaultMaxDepth + 1 {
		deep = map[string]any{"a": deep}
	}
	cyclic := map[string]any{}
	cyclic["a"], cyclic["b"] = cyclic, cyclic
	doc := func(spec any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}, "spec": spec}
	}
	for name, row := range map[string]struct {
		before, after map[string]any
		kind          ErrorKind
		path          string
	}{
		"a directive that is new":          {doc(map[string]any{}), doc(map[string]any{"$patch": "replace"}), Invalid, "/spec/$patch"},
		"a directive that goes":            {doc(map[string]any{"$patch": "x"}), doc(map[string]any{}), Invalid, "/spec/$patch"},
		"a directive deep in what is new":  {doc(map[string]any{}), doc(map[string]any{"affinity": map[string]any{"$retainKeys": "x"}}), Invalid, "/spec/affinity"},
		"a field that the kind hasn't got": {doc(map[string]any{"no": []any{"a"}}), doc(map[string]any{"no": []any{"b"}}), UnknownField, "/spec/no"},
		"too deep":                         {doc(map[string]any{}), doc(map[string]any{"affinity": deep}), Limit, ""},
		"cyclic":                           {doc(map[string]any{}), doc(map[string]any{"affinity": cyclic}), Limit, ""},
		"a Go type of its own":             {doc(map[string]any{}), doc(map[string]any{"nodeSelector": map[string]string{"a": "b"}}), Document, "/spec/nodeSelector"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patch, err := Diff(row.before, row.after, schemaOf(row.before))
			require.Error(t, err)
			assert.Nil(t, patch)
			assert.Equal(t, row.kind, KindOf(err), err)
			assert.ErrorContains(t, err, "Pod p: ")
			var patchError *PatchError
			require.ErrorAs(t, err, &patchError)
			if row.path != "" {
				assert.Equal(t, row.path, patchError.Path)
			}
		})
	}
}

func TestDiffErrorsAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	before := object(t, pod(`{"nope":{"a":1},"more":{"a":1},"nodeName":"b"}`))
	after := object(t, pod(`{"nope":{"a":2},"more":{"a":2},"x":null}`))
	for range 100 {
		_, err := Diff(before, after, schemaOf(before))
		require.EqualError(t, err, "Pod p: /spec/more: io.k8s.api.core.v1.PodSpec has no field of this name and type: check both")
	}
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte("0"))
	f.Add([]byte("345634563456345634563456345634563456abcdefghabcdefgh333444333444"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{data: data}
		before, after := s.pod(), s.pod()
		checkDiff(t, before, after)
		// What a document holds beside its own kind's fields is no different.
		before["apiVersion"], after["apiVersion"] = "example.com/v1", "example.com/v1"
		checkDiff(t, before, after)
	})
}

func FuzzDiff3(f *testing.F) {
	f.Add([]byte("345634563456345634563456345634563456abcdefghabcdefgh333444333444"))
	// Several elements with one name, of which one was applied and goes.
	f.Add([]byte("220822220022222080202222222200"))
	// One that is there twice, of which one was never applied, comes to stand elsewhere.
	f.Add([]byte("222222220910222222200001"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{data: data}
		original, modified, current := s.pod(), s.pod(), s.pod()
		copies := []map[string]any{cloned(t, original), cloned(t, modified), cloned(t, current)}
		schema := schemaOf(current)
		patch, err := Diff3(original, modified, current, schema)
		require.Equal(t, copies, []map[string]any{original, modified, current}, "an input was changed")
		require.NoError(t, err)
		wanted, err := Strategic(current, patch, schema)
		require.NoError(t, err)
		again, err := Diff3(original, modified, wanted, schema)
		require.NoError(t, err)
		require.Empty(t, again, "applying it twice changes something: first %v", patch)
		if maps.Equal(map[string]any{}, patch) {
			require.True(t, document.Equal(current, wanted))
		}
	})
}

func service(ports string) string {
	return `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"clusterIP":"10.0.0.1","ports":` + ports + `}}`
}

func TestDiff3(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ original, modified, current, patch string }{
		"what others set stays": {pod(`{"hostname":"a"}`), pod(`{"hostname":"b"}`), pod(`{"hostname":"a","nodeName":"n"}`), `{"spec":{"hostname":"b"}}`},
		"what was applied and isn't any more goes": {pod(`{"hostname":"a","subdomain":"s"}`), pod(`{"hostname":"a"}`), pod(`{"hostname":"a","subdomain":"s"}`),
			`{"spec":{"subdomain":null}}`},
		"ports with the same number, nothing changed": {service(`[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]`), service(`[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]`),
			service(`[{"port":53,"protocol":"TCP","nodePort":30001},{"port":53,"protocol":"UDP","nodePort":30002}]`), `{}`},
		"ports with the same number, one added": {service(`[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]`), service(`[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"},{"port":80}]`),
			service(`[{"port":53,"protocol":"TCP","nodePort":30001},{"port":53,"protocol":"UDP","nodePort":30002},{"port":9999}]`),
			`{"spec":{"ports":[{"$patch":"replace"},{"port":53,"protocol":"TCP","nodePort":30001},{"port":53,"protocol":"UDP","nodePort":30002},{"port":80},{"port":9999}]}}`},
		"repetitions of others stay": {service(`[]`), service(`[{"port":80,"name":"w"}]`), service(`[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"},{"port":80}]`),
			`{"spec":{"ports":[{"$patch":"replace"},{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"},{"port":80,"name":"w"}]}}`},
		"of several alike none stays once ours goes": {pod(`{"containers":[{"name":"a"}]}`), pod(`{"containers":[{"name":"b"}]}`), pod(`{"containers":[{"name":"a"},{"name":"a"},{"name":"b"}]}`),
			`{"spec":{"containers":[{"$patch":"replace"},{"name":"b"}]}}`},
		"of several alike as many stay as are wanted": {pod(`{"containers":[{"name":"a"},{"name":"a"}]}`), pod(`{"containers":[{"name":"a"}]}`), pod(`{"containers":[{"name":"a"},{"name":"a"},{"name":"a"}]}`),
			`{"spec":{"containers":[{"$patch":"replace"},{"name":"a"}]}}`},
		"repetitions of others stay behind ours": {service(`[]`), service(`[{"port":80},{"port":53,"protocol":"TCP"}]`), service(`[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"},{"port":80}]`),
			`{"spec":{"ports":[{"$patch":"replace"},{"port":80},{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}}`},
		"what is gone already isn't deleted": {pod(`{"hostname":"a","subdomain":"s"}`), pod(`{"hostname":"a"}`), pod(`{"hostname":"a"}`), `{}`},
		"nothing to do":                      {pod(`{}`), pod(`{"hostname":"a"}`), pod(`{"hostname":"a","nodeName":"n"}`), `{}`},
		"an element that others added stays, ours goes": {pod(`{"containers":[{"name":"a"},{"name":"b"}]}`), pod(`{"containers":[{"name":"a"}]}`),
			pod(`{"containers":[{"name":"a"},{"name":"b"},{"name":"injected"}]}`), `{"spec":{"containers":[{"name":"b","$patch":"delete"}]}}`},
		"fields of an element": {pod(`{"containers":[{"name":"a","tty":true}]}`), pod(`{"containers":[{"name":"a","image":"2"}]}`),
			pod(`{"containers":[{"name":"a","tty":true,"image":"1","stdin":true}]}`), `{"spec":{"containers":[{"name":"a","tty":null,"image":"2"}]}}`},
		"a null deletes":         {pod(`{}`), pod(`{"hostname":null}`), pod(`{"hostname":"a"}`), `{"spec":{"hostname":null}}`},
		"nothing was applied":    {`{}`, pod(`{"hostname":"a"}`), pod(`{"nodeName":"n"}`), `{"spec":{"hostname":"a"}}`},
		"finalizers of others":   {meta(`{"name":"c","finalizers":["a"]}`), meta(`{"name":"c","finalizers":["b"]}`), meta(`{"name":"c","finalizers":["a","x"]}`), `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["b"]}}`},
		"a list without a merge": {pod(`{"tolerations":[{"key":"a"}]}`), pod(`{"tolerations":[{"key":"b"}]}`), pod(`{"tolerations":[{"key":"a"},{"key":"x"}]}`), `{"spec":{"tolerations":[{"key":"b"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			current := object(t, row.current)
			patch, err := Diff3(object(t, row.original), object(t, row.modified), current, schemaOf(current))
			require.NoError(t, err)
			assertSame(t, object(t, row.patch), patch)
		})
	}
}
