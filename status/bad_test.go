package status_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operkit/operkit/status"
)

// badConditions are conditions of the type Ready that somebody wrote wrongly,
// with what they are read as.
var badConditions = []struct {
	reason, entry string
	state         metav1.ConditionStatus
	dated         bool
	generation    int64
}{
	{"status 'true'", `{"type":"Ready","status":"true"}`, "True", false, 0},
	{"status true", `{"type":"Ready","status":true}`, "True", false, 0},
	{"status 'Yes'", `{"type":"Ready","status":"Yes"}`, "Unknown", false, 0},
	{"status 1", `{"type":"Ready","status":1}`, "Unknown", false, 0},
	{"status null", `{"type":"Ready","status":null}`, "Unknown", false, 0},
	{"a time that is none", `{"type":"Ready","status":"True","lastTransitionTime":"yesterday noon"}`, "True", false, 0},
	{"a time that is a number", `{"type":"Ready","status":"True","lastTransitionTime":1700000000}`, "True", false, 0},
	{"a time without zone", `{"type":"Ready","status":"True","lastTransitionTime":"2024-01-01T00:00:00"}`, "True", true, 0},
	{"a time of the far future", `{"type":"Ready","status":"True","lastTransitionTime":"9999-12-31T23:59:59Z"}`, "True", true, 0},
	{"a time that can't be written in UTC", `{"type":"Ready","status":"True","lastTransitionTime":"9999-12-31T23:59:59-01:00"}`, "True", false, 0},
	{"a time before all time", `{"type":"Ready","status":"True","lastTransitionTime":"0000-01-01T00:00:00+01:00"}`, "True", false, 0},
	{"a generation as float64", `{"type":"Ready","status":"True","observedGeneration":3.0}`, "True", false, 3},
	{"a generation as text", `{"type":"Ready","status":"True","observedGeneration":"3"}`, "True", false, 0},
	{"a negative generation", `{"type":"Ready","status":"True","observedGeneration":-3}`, "True", false, -3},
	{"a generation with a fraction", `{"type":"Ready","status":"True","observedGeneration":3.5}`, "True", false, 0},
	{"reason and message of other types", `{"type":"Ready","status":"True","reason":7,"message":{"a":1}}`, "True", false, 0},
}

func TestBadConditions(t *testing.T) {
	t.Parallel()
	for _, c := range badConditions {
		for _, floats := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, floats %t", c.reason, floats), func(t *testing.T) {
				t.Parallel()
				obj, ok := decode([]byte(`{"metadata":{"generation":-1},"status":{"conditions":[null,`+c.entry+`]}}`), floats)
				require.True(t, ok)
				conditions := status.Conditions(obj)
				got, found := conditions.Get("Ready")
				require.True(t, found)
				assert.Equal(t, c.state, got.Status)
				assert.Equal(t, c.dated, !got.LastTransitionTime.IsZero())
				assert.Equal(t, c.generation, got.ObservedGeneration)
				assert.False(t, conditions.IsStale("Ready"), "an object's generation of -1 is none")
				require.True(t, conditions.Set(now, isReady("True", "Fine", "")))
				require.NoError(t, conditions.Err())
				entry := obj["status"].(object)["conditions"].([]any)[0].(object)
				assert.Equal(t, []any{"True", "Fine", "", nil}, []any{entry["status"], entry["reason"], entry["message"], entry["observedGeneration"]})
				assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, entry["lastTransitionTime"])
			})
		}
	}
}

// TestBadStatuses gives every function of documents each odd status: an answer
// or a named error, never a panic.
func TestBadStatuses(t *testing.T) {
	t.Parallel()
	stable := own(status.ReadyStable, status.UpdatingStable)
	stable.Components, stable.Version, stable.Kind = &status.ComponentState{Verified: []string{"a"}}, "1", "Widget"
	stable.SupportedVersions, stable.Generation = []string{"1"}, 3
	d := declared(t)
	for i, seed := range oddStatuses {
		for _, floats := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d: %s, floats %t", i, seed, floats), func(t *testing.T) {
				t.Parallel()
				read := func() object {
					obj, ok := decode([]byte(`{"apiVersion":"v1","kind":"W","metadata":{"name":"w","resourceVersion":"1"},"status":`+seed+`}`), floats)
					require.True(t, ok)
					return obj
				}
				st, _ := read()["status"].(object)
				next, changed, err := stable.Update(now, st)
				require.NoError(t, err)
				require.True(t, changed)
				assert.True(t, status.Conditions(object{"status": next}).IsTrue("Ready"))
				for _, desired := range []string{"", "1"} {
					ready, updating := status.ForStart(st, desired)
					_, _, err = status.Application{Ready: ready, Updating: updating}.Update(now, st)
					require.NoError(t, err)
				}
				ready, _ := status.ForEnd(st, false)
				assert.NotEmpty(t, ready.Reason)
				assert.NotPanics(t, func() { status.ReconciledVersion(st); status.Changed(read()["status"], seed) })

				obj := read()
				_, err = d.Visit(2).End(now, obj)
				require.NoError(t, err)
				for _, conditionType := range d.Types() {
					_, present := status.Conditions(obj).Get(conditionType)
					assert.True(t, present, conditionType)
				}
				for _, form := range []status.PatchForm{status.ServerSideApply, status.MergePatch} {
					patch, err := status.Patch(read(), obj, form, d.Types()...)
					require.NoError(t, err)
					assert.NotEmpty(t, patch)
				}
			})
		}
	}
}

func TestBadTimes(t *testing.T) {
	t.Parallel()
	for _, at := range []metav1.Time{{}, {Time: now.AddDate(9000, 0, 0)}, {Time: now.AddDate(-3000, 0, 0)}} {
		_, _, err := status.Application{}.Update(at.Time, nil)
		require.ErrorIs(t, err, status.ErrNoTime, "%v", at)
		_, err = declared(t).Visit(0).End(at.Time, object{})
		require.ErrorIs(t, err, status.ErrNoTime, "%v", at)
		conditions := status.Conditions(object{})
		require.False(t, conditions.Set(at.Time, isReady("True", "A", "")))
		require.ErrorIs(t, conditions.Err(), status.ErrNoTime, "%v", at)
	}
}

func TestBadGenerations(t *testing.T) {
	t.Parallel()
	_, _, err := status.Application{Generation: -1}.Update(now, nil)
	require.ErrorIs(t, err, status.ErrInvalidGeneration)
	_, err = declared(t).Visit(math.MinInt64).End(now, object{})
	require.ErrorIs(t, err, status.ErrInvalidGeneration)
	_, err = declared(t).Begin(now, object{}, -1)
	require.ErrorIs(t, err, status.ErrInvalidGeneration)
}

// TestInputsStay compares every input that isn't the one to be written to with
// a deep copy of before.
func TestInputsStay(t *testing.T) {
	t.Parallel()
	make2 := func() object {
		return document(t, `{"apiVersion":"v1","kind":"W","metadata":{"name":"w","resourceVersion":"1","generation":2},"status":{"versions":{"reconciled":"1"},"componentStatus":{"allComponents":["b","a"]},"conditions":[
			null,{"type":"Z","status":"True","x":[1]},{"type":"Ready","status":"true","lastTransactionTime":"2024-01-01T00:00:00.5"},
			{"type":"Ready","status":"False","observedGeneration":1},{"type":"Updating","status":"True","reason":"Odd"}]}}`)
	}
	state := func() *status.ComponentState {
		return &status.ComponentState{All: []string{"c", "a"}, Verified: []string{"b", "a"}, Unverified: []string{"z", "y"}, Failed: []string{"q", "p"}, Unstarted: map[string]string{"u": "r"}, Messages: map[string]string{"a": "m"}}
	}
	for name, call := range map[string]func(object){
		"reading": func(o object) {
			c := status.Conditions(o)
			c.Get("Ready")
			c.List()
			is(c, "Ready")
			c.IsStale("Ready")
			c.Reason("Ready")
			c.Summary("All", status.Declared{Type: "Ready"}, status.Declared{Type: "Absent"})
			c.Remove("Absent")
		},
		"Merge":   func(o object) { status.Conditions(object{}).Merge(now, status.Conditions(o)) },
		"Changed": func(o object) { status.Changed(o["status"], make2()["status"]) },
		"ForStart, ForEnd": func(o object) {
			status.ForStart(o["status"].(object), "2")
			status.ForEnd(o["status"].(object), false)
			status.ReconciledVersion(o["status"].(object))
		},
		"Patch": func(o object) {
			after := make2()
			status.Conditions(after).Set(now, isReady("False", "B", "m"))
			for _, form := range []status.PatchForm{status.ServerSideApply, status.MergePatch} {
				patch, err := status.Patch(o, after, form, "Ready")
				assert.NoError(t, err)
				scribble(patch)
				patch, err = status.Patch(after, o, form, "Ready")
				assert.NoError(t, err)
				scribble(patch)
			}
		},
		"Update": func(o object) {
			a := own(status.ReadyErrored, status.UpdatingErrored)
			a.Components, a.Kind, a.Version, a.SupportedVersions, a.Generation = state(), "W", "3", []string{"3", "2"}, 2
			next, _, err := a.Update(now, o["status"].(object))
			assert.NoError(t, err)
			scribble(next)
			assert.Equal(t, state(), a.Components)
			assert.Equal(t, []string{"3", "2"}, a.SupportedVersions)
		},
		"a refused Set": func(o object) { status.Conditions(o).Set(now, isReady("True", "no reason", "")) },
	} {
		t.Run("status W9: "+name, func(t *testing.T) {
			t.Parallel()
			obj := make2()
			before := runtime.DeepCopyJSON(obj)
			call(obj)
			assert.Equal(t, before, obj)
		})
	}
	t.Run("a declaration is its own", func(t *testing.T) {
		t.Parallel()
		types := []status.Declared{{Type: "A", Errors: []status.ErrorReason{{Reason: "R"}}}, {Type: "B"}}
		d, err := status.Declare(types...)
		require.NoError(t, err)
		types[0].Errors[0].Reason, types[1].Type = "Other", "C"
		d.Types()[0] = "X"
		assert.Equal(t, []string{"A", "B"}, d.Types())
		obj, visit := object{}, d.Visit(0)
		visit.Result("A", errQuota)
		_, err = visit.End(now, obj)
		require.NoError(t, err)
		assert.Equal(t, "R", status.Conditions(obj).Reason("A"))
	})
}

// scribble writes into every map and list of a document, to show that they are
// shared with nothing.
func scribble(value any) {
	switch value := value.(type) {
	case object:
		for _, each := range value {
			scribble(each)
		}
		value["scribbled"] = true
	case []any:
		for i, each := range value {
			scribble(each)
			value[i] = "scribbled"
		}
	}
}
