package status_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status"
)

const patched = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"ns","uid":"u","resourceVersion":"7","labels":{"a":"b"}},` +
	`"spec":{"x":1},"status":{"phase":"p","conditions":[` +
	`{"type":"Theirs","status":"True","probe":1},` +
	`{"type":"Ready","status":"False","reason":"A","message":"","severity":"Info","lastTransitionTime":"` + earlierText + `"}]}}`

func TestPatch(t *testing.T) {
	t.Parallel()
	const newReady = `{"lastTransitionTime":"` + nowText + `","message":"m","reason":"B","status":"True","type":"Ready"}`
	for _, c := range []struct {
		reason string
		change func(object)
		form   status.PatchForm
		want   string
	}{
		{"nothing new, nothing to send", func(object) {}, status.ServerSideApply, `null`},
		{"what isn't owned is no difference", func(o object) {
			status.Conditions(o).Set(now, metav1.Condition{Type: "Theirs", Status: "False", Reason: "R"})
			o["spec"] = nil
		}, status.MergePatch, `null`},
		{
			"status W6: an apply holds the owned conditions and nothing of others",
			func(o object) { status.Conditions(o).Set(now, isReady("True", "B", "m")) }, status.ServerSideApply,
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"ns","uid":"u"},"status":{"conditions":[` + newReady + `]}}`,
		},
		{
			"status W6: a merge holds the whole list and the version that it was read at",
			func(o object) { status.Conditions(o).Set(now, isReady("True", "B", "m")) }, status.MergePatch,
			`{"metadata":{"resourceVersion":"7"},"status":{"conditions":[{"type":"Theirs","status":"True","probe":1},` +
				`{"lastTransitionTime":"` + nowText + `","message":"m","reason":"B","status":"True","type":"Ready","severity":"Info"}]}}`,
		},
		{
			"status 28: observedGeneration goes with it", func(o object) {
				o["status"].(object)["observedGeneration"] = int64(3)
			}, status.MergePatch, `{"metadata":{"resourceVersion":"7"},"status":{"observedGeneration":3}}`,
		},
		{
			"a removed one is left out of an apply", func(o object) { status.Conditions(o).Remove("Ready") }, status.ServerSideApply,
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"ns","uid":"u"},"status":{"conditions":[]}}`,
		},
		{
			"and of a merge, a new one goes to the end", func(o object) {
				status.Conditions(o).Remove("Ready")
				status.Conditions(o).Set(now, metav1.Condition{Type: "Synced", Status: "True", Reason: "R"})
			}, status.MergePatch,
			`{"metadata":{"resourceVersion":"7"},"status":{"conditions":[{"type":"Theirs","status":"True","probe":1},` +
				`{"lastTransitionTime":"` + nowText + `","message":"","reason":"R","status":"True","type":"Synced"}]}}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			before, after := document(t, patched), document(t, patched)
			c.change(after)
			afterText := text(t, after)
			patch, err := status.Patch(before, &unstructured.Unstructured{Object: after}, c.form, "Ready", "Synced")
			require.NoError(t, err)
			assert.JSONEq(t, c.want, text(t, patch))
			assert.Equal(t, []string{text(t, document(t, patched)), afterText}, []string{text(t, before), text(t, after)}, "inputs aren't mutated")
		})
	}
	t.Run("typed objects", func(t *testing.T) {
		t.Parallel()
		before := &plainObject{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "ns", UID: "u"}}
		after := *before
		require.True(t, status.Conditions(&after).Set(now, isReady("True", "B", "m")))
		patch, err := status.Patch(before, &after, status.ServerSideApply, "Ready")
		require.NoError(t, err)
		assert.JSONEq(t, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"ns","uid":"u"},"status":{"conditions":[`+newReady+`]}}`, text(t, patch))
	})
	t.Run("a kept one is sent as it is there, without what it hasn't got", func(t *testing.T) {
		t.Parallel()
		before := document(t, `{"apiVersion":"v1","kind":"K","metadata":{"name":"w","resourceVersion":"7"},"status":{"conditions":[{"type":"Kept","status":"True"},{"type":"Ready","status":"False","reason":"R"}]}}`)
		after := document(t, text(t, before))
		require.True(t, status.Conditions(after).Set(now, isReady("True", "B", "m")))
		for form, want := range map[status.PatchForm]string{
			status.ServerSideApply: `{"apiVersion":"v1","kind":"K","metadata":{"name":"w"},"status":{"conditions":[{"type":"Kept","status":"True"},` + newReady + `]}}`,
			status.MergePatch:      `{"metadata":{"resourceVersion":"7"},"status":{"conditions":[{"type":"Kept","status":"True"},` + newReady + `]}}`,
		} {
			patch, err := status.Patch(before, after, form, "Kept", "Ready")
			require.NoError(t, err)
			assert.JSONEq(t, want, text(t, patch))
		}
	})
	t.Run("a kept one that is invalid is what the cluster has", func(t *testing.T) {
		t.Parallel()
		before := &plainObject{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7"}, Status: plainStatus{Conditions: []metav1.Condition{{Type: "Kept", Status: "True"}}}}
		after := &plainObject{ObjectMeta: before.ObjectMeta, Status: plainStatus{Conditions: append([]metav1.Condition(nil), before.Status.Conditions...)}}
		require.True(t, status.Conditions(after).Set(now, isReady("True", "B", "m")))
		patch, err := status.Patch(before, after, status.MergePatch, "Kept", "Ready")
		require.NoError(t, err)
		assert.JSONEq(t, `{"conditions":[{"type":"Kept","status":"True","reason":"","message":""},`+newReady+`]}`, text(t, patch["status"]))
	})
	t.Run("what Set fills in is sent", func(t *testing.T) {
		t.Parallel()
		before := document(t, `{"metadata":{"resourceVersion":"7"},"status":{"conditions":[{"type":"Ready","status":"True","reason":"B","message":""}]}}`)
		after := document(t, text(t, before))
		require.True(t, status.Conditions(after).Set(now, isReady("True", "B", "")))
		patch, err := status.Patch(before, after, status.MergePatch, "Ready")
		require.NoError(t, err)
		assert.Contains(t, text(t, patch), nowText)
	})
	t.Run("status W1: an old time is written under the new key", func(t *testing.T) {
		t.Parallel()
		before := document(t, `{"metadata":{"resourceVersion":"7"},"status":{"conditions":[{"type":"Ready","status":"True","reason":"A","lastTransactionTime":"2024-01-01T00:00:00.5"}]}}`)
		after := document(t, text(t, before))
		require.True(t, status.Conditions(after).Set(now, isReady("True", "B", "")))
		patch, err := status.Patch(before, after, status.MergePatch, "Ready")
		require.NoError(t, err)
		assert.JSONEq(t, `{"metadata":{"resourceVersion":"7"},"status":{"conditions":[{"lastTransitionTime":"`+earlierText+`","message":"","reason":"B","status":"True","type":"Ready"}]}}`, text(t, patch))
	})
}

func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	with := func(path ...string) object {
		result := document(t, patched)
		status.Conditions(result).Set(now, isReady("True", "B", "m"))
		unstructured.RemoveNestedField(result, path...)
		return result
	}
	changed := func(key string, value any) object {
		result := document(t, patched)
		result["status"].(object)["conditions"].([]any)[1].(object)[key] = value
		return result
	}
	for _, c := range []struct {
		reason        string
		before, after any
		form          status.PatchForm
		owned         []string
		want          error
	}{
		{"nothing owned", document(t, patched), with("x"), status.ServerSideApply, nil, status.ErrPatch},
		{"another form", document(t, patched), with("x"), "json", []string{"Ready"}, status.ErrPatch},
		{"no kind", document(t, patched), with("kind"), status.ServerSideApply, []string{"Ready"}, status.ErrPatch},
		{"two objects", document(t, patched), with("metadata", "uid"), status.ServerSideApply, []string{"Ready"}, status.ErrPatch},
		{"no name", with("metadata"), with("metadata"), status.ServerSideApply, []string{"Ready"}, nil},
		{"no name and a change", object{"kind": "K", "apiVersion": "v1"}, func() object { o := with("metadata"); return o }(), status.ServerSideApply, []string{"Ready"}, status.ErrPatch},
		{"no version", object{}, object{"status": with("x")["status"]}, status.MergePatch, []string{"Ready"}, status.ErrPatch},
		{"no object before", nil, with("x"), status.MergePatch, []string{"Ready"}, status.ErrUnsupportedObject},
		{"a struct that is no object in JSON", &metav1.Time{}, &metav1.Time{}, status.ServerSideApply, []string{"Ready"}, status.ErrUnsupportedObject},
		{"a struct that can't be encoded", &refusing{}, &refusing{}, status.MergePatch, []string{"Ready"}, status.ErrUnsupportedObject},
		{"a new condition without a word for its reason", &plainObject{}, &plainObject{Status: plainStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "True"}}}}, status.MergePatch, []string{"Ready"}, status.ErrInvalidReason},
		{"a changed one with a reason that is none", document(t, patched), changed("reason", "two words"), status.ServerSideApply, []string{"Ready"}, status.ErrInvalidReason},
		{"a changed one of a negative generation", document(t, patched), changed("observedGeneration", int64(-1)), status.ServerSideApply, []string{"Ready"}, status.ErrInvalidGeneration},
		{"a changed one whose time is none", document(t, patched), func() object {
			o := changed("reason", "B")
			o["status"].(object)["conditions"].([]any)[1].(object)["lastTransitionTime"] = "noon"
			return o
		}(), status.ServerSideApply, []string{"Ready"}, status.ErrNoTime},
		{"no type of conditions", document(t, `{"status":{}}`), document(t, `{"status":{"conditions":[{"type":"a b","status":"True"}]}}`), status.MergePatch, []string{"a b"}, status.ErrInvalidType},
		{"no object after", with("x"), &[]metav1.Condition{}, status.MergePatch, []string{"Ready"}, status.ErrUnsupportedObject},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			patch, err := status.Patch(c.before, c.after, c.form, c.owned...)
			require.ErrorIs(t, err, c.want)
			assert.Nil(t, patch)
			if c.want != nil && !errors.Is(c.want, status.ErrUnsupportedObject) {
				require.ErrorIs(t, err, status.ErrPatch)
			}
		})
	}
}

func TestPatchRemoval(t *testing.T) {
	t.Parallel()
	managed := func(manager, operation, conditionType string) object {
		return object{"manager": manager, "operation": operation, "subresource": "status", "fieldsV1": object{"f:status": object{"f:conditions": object{
			".": object{}, `k:{"type":"` + conditionType + `"}`: object{".": object{}, "f:type": object{}, "f:message": object{}},
		}}}}
	}
	for _, c := range []struct {
		reason  string
		managed []any
		form    status.PatchForm
		want    error
	}{
		{"nobody tells who holds it", nil, status.ServerSideApply, nil},
		{"an apply alone holds it", []any{managed("me", "Apply", "Ready"), managed("me", "Update", "Theirs")}, status.ServerSideApply, nil},
		{"the same manager holds it by a merge patch as well", []any{managed("me", "Apply", "Ready"), managed("me", "Update", "Ready")}, status.ServerSideApply, status.ErrHeldByOthers},
		{"it was never applied", []any{managed("me", "Update", "Ready")}, status.ServerSideApply, status.ErrHeldByOthers},
		{"two managers apply it", []any{managed("me", "Apply", "Ready"), managed("you", "Apply", "Ready")}, status.ServerSideApply, status.ErrHeldByOthers},
		{"a merge can", []any{managed("me", "Update", "Ready")}, status.MergePatch, nil},
		{"what is unreadable tells nothing", []any{nil, "x", object{"fieldsV1": object{"f:status": object{"f:conditions": object{"k:{": object{}, "v:1": object{}}}}}}, status.ServerSideApply, nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			before, after := document(t, patched), document(t, patched)
			before["metadata"].(object)["managedFields"] = c.managed
			require.True(t, status.Conditions(after).Remove("Ready"))
			patch, err := status.Patch(before, after, c.form, "Ready")
			require.ErrorIs(t, err, c.want)
			assert.Equal(t, c.want == nil, patch != nil)
			if c.want != nil {
				require.ErrorIs(t, err, status.ErrPatch)
				assert.ErrorContains(t, err, `Ready is owned by "me"`)
			}
		})
	}
	t.Run("managers of typed objects are read too", func(t *testing.T) {
		t.Parallel()
		before := &plainObject{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Name: "w"}}
		require.True(t, status.Conditions(before).Set(now, isReady("True", "B", "m")))
		owned := &metav1.FieldsV1{}
		owned.SetRawString(`{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{}}}}`)
		before.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "me", Operation: "Update", FieldsV1: owned}}
		after := *before
		require.True(t, status.Conditions(&after).Remove("Ready"))
		_, err := status.Patch(before, &after, status.ServerSideApply, "Ready")
		require.ErrorIs(t, err, status.ErrHeldByOthers)
	})
}

// threeKeys has conditions of another form than metav1.Condition.
type threeKeys struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
			Reason string `json:"reason,omitempty"`
		} `json:"conditions"`
	} `json:"status"`
}

func TestPatchOfOtherForms(t *testing.T) {
	t.Parallel()
	before := &threeKeys{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Name: "w", ResourceVersion: "7"}}
	after := *before
	require.True(t, status.Conditions(&after).Set(now, metav1.Condition{Type: "Ready", Status: "True", Reason: "Up", ObservedGeneration: 3}))
	for _, form := range []status.PatchForm{status.ServerSideApply, status.MergePatch} {
		patch, err := status.Patch(before, &after, form, "Ready")
		require.NoError(t, err)
		assert.JSONEq(t, `{"conditions":[{"type":"Ready","status":"True","reason":"Up"}]}`, text(t, patch["status"]), "%s: no key that the type hasn't got", form)
	}
	t.Run("conditions only: status.observedGeneration is left alone", func(t *testing.T) {
		t.Parallel()
		d, err := status.Declare(status.Declared{Type: "Ready"})
		require.NoError(t, err)
		before := document(t, patched)
		after := document(t, patched)
		visit := d.ConditionsOnly().Visit(2)
		visit.Result("Ready", nil)
		_, err = visit.End(now, after)
		require.NoError(t, err)
		patch, err := status.Patch(before, after, status.ServerSideApply, "Ready")
		require.NoError(t, err)
		assert.NotContains(t, patch["status"], "observedGeneration")
		assert.EqualValues(t, 2, patch["status"].(object)["conditions"].([]any)[0].(object)["observedGeneration"])
	})
}

// refusing can't be encoded.
type refusing struct{ metav1.ObjectMeta }

func (refusing) MarshalJSON() ([]byte, error) { return nil, errQuota }

func TestPatchRepairs(t *testing.T) {
	t.Parallel()
	const entry = `{"type":"Ready","status":"%s","reason":"A","message":"","lastTransitionTime":"` + earlierText + `"}`
	for _, c := range []struct{ reason, list string }{
		{"a status of another form", fmt.Sprintf(entry, "true")},
		{"one type twice", fmt.Sprintf(entry, "True") + "," + fmt.Sprintf(entry, "True")},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			whole := `{"metadata":{"resourceVersion":"7"},"status":{"conditions":[` + c.list + `]}}`
			before, after := document(t, whole), document(t, whole)
			require.True(t, status.Conditions(after).Set(now, isReady("True", "A", "")))
			patch, err := status.Patch(before, after, status.MergePatch, "Ready")
			require.NoError(t, err)
			assert.JSONEq(t, `{"conditions":[`+fmt.Sprintf(entry, "True")+`]}`, text(t, patch["status"]))
			patch, err = status.Patch(after, after, status.MergePatch, "Ready")
			require.NoError(t, err)
			assert.Nil(t, patch)
		})
	}
}
