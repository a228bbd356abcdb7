package deploy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

func TestHeritage(t *testing.T) {
	t.Parallel()
	owner := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"uid": "owner-uid"}}}
	s := settings{domain: "oper8.org", fieldManager: "oper8", takeOverFrom: []string{"before"}, owner: owner}
	data := `{"f:data":{".":{},"f:a":{}}}`
	for reason, row := range map[string]struct {
		manager, operation, subresource, fields string
		taken, left                             string
	}{
		"a PUT of the same name":               {"oper8", "Update", "", data, data, `{}`},
		"what is ours already":                 {"oper8", "Apply", "", data, ``, data},
		"an apply of a predecessor":            {"before", "Apply", "", data, data, `{}`},
		"a PUT of a predecessor":               {"before", "Update", "", data, data, `{}`},
		"somebody else's":                      {"kubectl", "Update", "", data, ``, data},
		"the status that we wrote":             {"oper8", "Update", "status", data, ``, data},
		"what a predecessor scaled":            {"before", "Update", "scale", data, ``, data},
		"a finalizer":                          {"oper8", "Update", "", `{"f:metadata":{"f:finalizers":{".":{},"v:\"a\"":{}}}}`, `{}`, `{"f:metadata":{"f:finalizers":{"v:\"a\"":{}}}}`},
		"the record of patches":                {"oper8", "Update", "", `{"f:metadata":{"f:annotations":{".":{},"f:oper8.org/temporary-patches":{}}}}`, `{}`, `{"f:metadata":{"f:annotations":{"f:oper8.org/temporary-patches":{}}}}`},
		"the record beside another annotation": {"oper8", "Update", "", `{"f:metadata":{"f:annotations":{".":{},"f:a":{},"f:oper8.org/temporary-patches":{}}}}`, `{"f:metadata":{"f:annotations":{"f:a":{}}}}`, `{"f:metadata":{"f:annotations":{"f:oper8.org/temporary-patches":{}}}}`},
		"references to owners of a predecessor": {"before", "Update", "", `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"owner-uid\"}":{},"k:{\"uid\":\"other\"}":{}}}}`,
			`{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"owner-uid\"}":{}}}}`, `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"other\"}":{}}}}`},
		"a predecessor's reference alone": {"before", "Update", "", `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"owner-uid\"}":{}}}}`,
			`{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"owner-uid\"}":{}}}}`, `{}`},
		"our own reference alone, as AddOwner writes it": {"oper8", "Update", "", `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"owner-uid\"}":{}}}}`,
			``, `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"owner-uid\"}":{}}}}`},
		"our own reference beside a value": {"oper8", "Update", "", `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"owner-uid\"}":{}}},"f:spec":{}}`,
			`{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"owner-uid\"}":{}}},"f:spec":{}}`, `{}`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			entry := map[string]any{"manager": row.manager, "operation": row.operation, "fieldsV1": fieldsOf(t, row.fields)}
			if row.subresource != "" {
				entry["subresource"] = row.subresource
			}
			taken, left := s.heritage(entry)
			if row.taken == "" {
				assert.Empty(t, taken)
			} else {
				assert.Equal(t, fieldSet(fieldsOf(t, row.taken)), taken)
			}
			assert.Equal(t, fieldSet(fieldsOf(t, row.left)), left)
			assert.Equal(t, fieldsOf(t, row.fields), entry["fieldsV1"], "the entry isn't changed")
		})
	}
}

func fieldsOf(t testing.TB, text string) map[string]any {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &fields))
	return fields
}

// Two field sets of one version make the one that client-go makes of them.
func FuzzInherit(f *testing.F) {
	f.Add(`{"f:data":{"f:a":{}}}`, `{"f:data":{".":{},"f:b":{}}}`)
	f.Add(`{"f:data":{}}`, `{"f:data":{"f:b":{}}}`)
	f.Add(`{"f:spec":{"f:ports":{"k:{\"port\":80}":{"f:port":{}}}}}`, `{"f:spec":{"f:ports":{".":{},"k:{\"port\":80}":{".":{},"f:name":{}}}}}`)
	f.Add(`{"f:data":{"f:a":{"f:b":{}}}}`, `{"f:data":{"f:a":{}}}`)
	f.Fuzz(func(t *testing.T, ours, theirs string) {
		live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}}
		var entries []any
		for operation, text := range map[string]string{"Apply": ours, "Update": theirs} {
			var fields map[string]any
			if json.Unmarshal([]byte(text), &fields) != nil || len(fields) == 0 || !plainFields(fields) {
				return
			}
			entries = append(entries, map[string]any{"manager": "oper8", "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
		}
		require.NoError(t, unstructured.SetNestedSlice(live.Object, entries, "metadata", "managedFields"))
		wanted := live.DeepCopy()
		if csaupgrade.UpgradeManagedFields(wanted, sets.New("oper8"), "oper8") != nil {
			return
		}
		task := &task{settings: settings{domain: "oper8.org", fieldManager: "oper8"}, in: &intent{strategy: ServerSideApply}}
		got := live.DeepCopy()
		inherited, err := json.Marshal(map[string]any{"managedFields": task.inherit(live)})
		require.NoError(t, err)
		var metadata map[string]any
		require.NoError(t, json.Unmarshal(inherited, &metadata))
		got.Object["metadata"] = metadata
		require.Len(t, got.GetManagedFields(), 1)
		assert.JSONEq(t, wanted.GetManagedFields()[0].FieldsV1.GetRawString(), got.GetManagedFields()[0].FieldsV1.GetRawString())
	})
}

// plainFields reports whether a field set has nothing but fields of maps, as a server writes them, and no metadata.
func plainFields(fields map[string]any) bool {
	for key, value := range fields {
		below, isMap := value.(map[string]any)
		if !isMap || key == "f:metadata" || key != "." && (len(key) < 3 || key[:2] != "f:") || key == "." && len(fields) == 1 || key == "." && len(below) > 0 || !plainFields(below) {
			return false
		}
	}
	return true
}

// What the patch for a diff makes of an object is the object without what goes.
func TestWithoutFields(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ value, gone, stay, want string }{
		"a field":                                {`{"a":1,"b":2}`, `{"f:a":{}}`, `{}`, `{"b":2}`},
		"a field that somebody else has too":     {`{"a":1}`, `{"f:a":{}}`, `{"f:a":{}}`, `{"a":1}`},
		"a map with what nobody owns":            {`{"a":{"x":1,"y":2}}`, `{"f:a":{".":{},"f:x":{}}}`, `{}`, `{}`},
		"a map in which somebody else has some":  {`{"a":{"x":1,"y":2}}`, `{"f:a":{".":{},"f:x":{}}}`, `{"f:a":{"f:y":{}}}`, `{"a":{"y":2}}`},
		"the last field of a map":                {`{"a":{"x":1}}`, `{"f:a":{"f:x":{}}}`, `{}`, `{}`},
		"an item":                                {`{"a":[{"n":1},{"n":2}]}`, `{"f:a":{"k:{\"n\":1}":{".":{}}}}`, `{"f:a":{}}`, `{"a":[{"n":2}]}`},
		"a field of an item":                     {`{"a":[{"n":1,"x":1}]}`, `{"f:a":{"k:{\"n\":1}":{".":{},"f:n":{},"f:x":{}}}}`, `{"f:a":{"k:{\"n\":1}":{".":{},"f:n":{}}}}`, `{"a":[{"n":1}]}`},
		"an item with a key that was filled in":  {`{"a":[{"n":1}]}`, `{"f:a":{"k:{\"n\":1,\"p\":\"TCP\"}":{".":{}}}}`, `{"f:a":{}}`, `{"a":[]}`},
		"of two such neither":                    {`{"a":[{"n":1},{"n":1}]}`, `{"f:a":{"k:{\"n\":1,\"p\":\"TCP\"}":{".":{}}}}`, `{"f:a":{}}`, `{"a":[{"n":1},{"n":1}]}`},
		"a member of a set":                      {`{"a":["x","y"]}`, `{"f:a":{"v:\"x\"":{}}}`, `{"f:a":{}}`, `{"a":["y"]}`},
		"what isn't there":                       {`{"a":1}`, `{"f:b":{"f:c":{}},"f:a":{"f:x":{}}}`, `{}`, `{"a":1}`},
		"an atomic list, owned as a whole":       {`{"a":[1,2]}`, `{"f:a":{}}`, `{}`, `{}`},
		"an atomic list of somebody else's, too": {`{"a":[1,2]}`, `{"f:a":{}}`, `{"f:a":{}}`, `{"a":[1,2]}`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			value := fieldsOf(t, row.value)
			out, err := json.Marshal(withoutFields(value, fieldsOf(t, row.gone), []fieldSet{fieldsOf(t, row.stay)}))
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(out))
		})
	}
}
