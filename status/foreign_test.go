package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status"
)

// TestForeignFieldsStay writes in every way there is, and looks for the fields
// of conditions that metav1.Condition doesn't know: those of the condition that
// is written, and those of the others.
func TestForeignFieldsStay(t *testing.T) {
	t.Parallel()
	const whole = `{"apiVersion":"v1","kind":"W","metadata":{"name":"w","resourceVersion":"1"},"status":{"conditions":[
		{"type":"Theirs","status":"Maybe","probe":{"a":[1,null]},"lastUpdateTime":"soon"},
		{"type":"Ready","status":"False","reason":"Errored","severity":"Info","lastTransitionTime":"2024-01-01T00:00:00Z"},
		{"type":"Gone","status":"True","reason":"R"}]}}`
	theirs := object{"type": "Theirs", "status": "Maybe", "probe": object{"a": []any{int64(1), nil}}, "lastUpdateTime": "soon"}
	d, err := status.Declare(status.Declared{Type: "Ready"})
	require.NoError(t, err)
	for name, write := range map[string]func(t *testing.T, o object, any any) object{
		"Set": func(_ *testing.T, o object, any any) object {
			status.Conditions(any).Set(now, isReady("True", "B", "m"))
			return o
		},
		"Remove": func(_ *testing.T, o object, any any) object { status.Conditions(any).Remove("Gone"); return o },
		"Merge": func(_ *testing.T, o object, any any) object {
			source := []metav1.Condition{isReady("True", "B", ""), {Type: "New", Status: "True", Reason: "R"}}
			status.Conditions(any).Merge(now, status.Conditions(&source))
			return o
		},
		"a visit": func(t *testing.T, o object, any any) object {
			visit := d.Visit(1)
			visit.Result("Ready", nil)
			_, err := visit.End(now, any)
			require.NoError(t, err)
			return o
		},
		"Update": func(t *testing.T, o object, _ any) object {
			next, _, err := own(status.ReadyStable, status.UpdatingStable).Update(now, o["status"].(object))
			require.NoError(t, err)
			return object{"status": next}
		},
		"a merge patch": func(t *testing.T, o object, any any) object {
			before := document(t, whole)
			status.Conditions(any).Set(now, isReady("True", "B", "m"))
			patch, err := status.Patch(before, any, status.MergePatch, "Ready")
			require.NoError(t, err)
			return patch
		},
	} {
		for _, form := range []string{"map", "unstructured"} {
			t.Run("status 4, 28: "+name+", "+form, func(t *testing.T) {
				t.Parallel()
				o := document(t, whole)
				var target any = o
				if form == "unstructured" {
					target = &unstructured.Unstructured{Object: o}
				}
				list, found, err := unstructured.NestedSlice(write(t, o, target), "status", "conditions")
				require.NoError(t, err)
				require.True(t, found)
				require.GreaterOrEqual(t, len(list), 2)
				assert.Contains(t, list, any(theirs))
				for _, element := range list {
					if element.(object)["type"] == "Ready" {
						assert.Equal(t, "Info", element.(object)["severity"])
						return
					}
				}
				t.Error("Ready is missing")
			})
		}
	}
}
