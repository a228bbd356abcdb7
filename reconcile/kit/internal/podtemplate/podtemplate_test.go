package podtemplate

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(text), &obj.Object))
	return obj
}

func TestFind(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		object   string
		template string
		path     []string
		known    bool
	}{
		"a template":                   {`{"apiVersion":"apps/v1","kind":"DaemonSet","spec":{"template":{"a":"b"}}}`, `{"a":"b"}`, []string{"spec", "template"}, true},
		"the template of a CronJob":    {`{"apiVersion":"batch/v1","kind":"CronJob","spec":{"jobTemplate":{"spec":{"template":{"a":"b"}}}}}`, `{"a":"b"}`, []string{"spec", "jobTemplate", "spec", "template"}, true},
		"none":                         {`{"apiVersion":"batch/v1","kind":"Job"}`, `null`, []string{"spec", "template"}, true},
		"the kind of somebody else":    {`{"apiVersion":"example.com/v1","kind":"Deployment","spec":{"template":{"a":"b"}}}`, `null`, nil, false},
		"a spec that isn't a map":      {`{"apiVersion":"batch/v1","kind":"Job","spec":[1]}`, `null`, []string{"spec", "template"}, true},
		"a Pod, which is its template": {`{"apiVersion":"v1","kind":"Pod"}`, `{"apiVersion":"v1","kind":"Pod"}`, nil, true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			template, path, known := Find(object(t, row.object))
			text, err := json.Marshal(template)
			require.NoError(t, err)
			assert.JSONEq(t, row.template, string(text))
			assert.Equal(t, row.known, known)
			assert.ElementsMatch(t, row.path, path)
		})
	}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	for kind, once := range map[string]bool{
		`{"apiVersion":"v1","kind":"Pod"}`: true, `{"apiVersion":"batch/v1","kind":"Job"}`: true,
		`{"apiVersion":"batch/v1","kind":"CronJob"}`: false, `{"apiVersion":"example.com/v1","kind":"Job"}`: false,
	} {
		assert.Equal(t, once, Once(object(t, kind).GroupVersionKind().GroupKind()), kind)
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		before string
		value  any
		after  string
	}{
		"a field that is replaced":             {`{"kind":"A","a":{"b":"x","c":1}}`, "y", `{"kind":"A","a":{"b":"y","c":1}}`},
		"maps on the way are made":             {`{"kind":"A"}`, "y", `{"kind":"A","a":{"b":"y"}}`},
		"null counts as absent":                {`{"kind":"A","a":null}`, "y", `{"kind":"A","a":{"b":"y"}}`},
		"a field that is removed":              {`{"kind":"A","a":{"b":"x","c":1}}`, nil, `{"kind":"A","a":{"c":1}}`},
		"nothing is made to remove a field in": {`{"kind":"A"}`, nil, `{"kind":"A"}`},
		"something else than a map stays":      {`{"kind":"A","a":[1]}`, "y", `{"kind":"A","a":[1]}`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			obj := object(t, row.before)
			text, err := With(obj, row.value, "a", "b").MarshalJSON()
			require.NoError(t, err)
			assert.JSONEq(t, row.after, string(text))
			assert.Equal(t, object(t, row.before), obj, "it isn't changed")
		})
	}
}
