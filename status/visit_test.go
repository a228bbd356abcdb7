package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
)

// observing is an object with accessors and a generation.
type observing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            *status.Fields `json:"status"`
}

func (o *observing) GetConditions() []metav1.Condition {
	if o.Status == nil {
		return nil
	}
	return o.Status.Conditions
}

func (o *observing) SetConditions(conditions []metav1.Condition) {
	if o.Status == nil {
		o.Status = &status.Fields{}
	}
	o.Status.Conditions = conditions
}

func TestVisitObservedGeneration(t *testing.T) {
	t.Parallel()
	d, err := status.Declare(status.Declared{Type: "Ready"}, status.Declared{Type: "Stalled", Negative: true})
	require.NoError(t, err)
	visit := func(obj any, generation int64, reported ...string) bool {
		v := d.Visit(generation)
		for _, conditionType := range reported {
			v.Result(conditionType, nil)
		}
		changed, err := v.End(now, obj)
		require.NoError(t, err)
		return changed
	}
	accessor, inline, whole := &observing{}, &inlineObject{}, object{"status": "x"}
	for name, c := range map[string]struct {
		object any
		read   func() int64
	}{
		"map":      {whole, func() int64 { n, _ := whole["status"].(object)["observedGeneration"].(int64); return n }},
		"accessor": {accessor, func() int64 { return accessor.Status.ObservedGeneration }},
		"struct":   {inline, func() int64 { return inline.Status.ObservedGeneration }},
	} {
		t.Run("status 28: the status tells what generation it is of, "+name, func(t *testing.T) {
			t.Parallel()
			require.True(t, visit(c.object, 0, "Ready"))
			assert.Zero(t, c.read(), "no generation is known")
			require.True(t, visit(c.object, 1, "Ready", "Stalled"))
			assert.EqualValues(t, 1, c.read())
			require.True(t, visit(c.object, 2, "Ready"))
			assert.EqualValues(t, 1, c.read(), "Stalled is kept and speaks of the old one")
			require.True(t, visit(c.object, 2, "Stalled"))
			assert.EqualValues(t, 2, c.read())
			assert.False(t, visit(c.object, 2, "Ready"), "said already")
		})
	}
	for name, obj := range map[string]any{"list": &[]metav1.Condition{}, "accessor of nothing else": &typed{}, "struct": &plainObject{}} {
		t.Run("no place for it, "+name, func(t *testing.T) {
			t.Parallel()
			require.True(t, visit(obj, 1, "Ready", "Stalled"))
			assert.False(t, visit(obj, 1, "Ready", "Stalled"))
		})
	}
}

// TestVisitKeptOfNoGeneration visits what an older release wrote, without
// generations: it isn't known to speak of the present one.
func TestVisitKeptOfNoGeneration(t *testing.T) {
	t.Parallel()
	d, err := status.Declare(status.Declared{Type: "Ready", Summarises: true}, status.Declared{Type: "Provisioned"})
	require.NoError(t, err)
	end := func(obj any, generation int64, reported bool) {
		v := d.Visit(generation)
		if reported {
			v.Result("Provisioned", nil)
		}
		_, err := v.End(now, obj)
		require.NoError(t, err)
	}
	t.Run("status 24: it makes nothing current", func(t *testing.T) {
		t.Parallel()
		obj := document(t, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generation":5},"status":{"observedGeneration":4,"conditions":[
			{"type":"Provisioned","status":"True","reason":"R","message":"","lastTransitionTime":"`+earlierText+`"}]}}`)
		end(obj, 5, false)
		assert.EqualValues(t, 4, obj["status"].(object)["observedGeneration"])
		assert.Equal(t, "Stale", status.Conditions(obj).Reason("Ready"))
		assert.Equal(t, readiness.InProgress, readiness.Of(obj).State)
		end(obj, 5, true)
		assert.EqualValues(t, 5, obj["status"].(object)["observedGeneration"])
		assert.Equal(t, readiness.Ready, readiness.Of(obj).State)
	})
	t.Run("without a known generation it is kept as it is", func(t *testing.T) {
		t.Parallel()
		list := []metav1.Condition{{Type: "Provisioned", Status: "True", Reason: "R"}}
		end(&list, 0, false)
		assert.True(t, status.Conditions(&list).IsTrue("Ready"))
	})
	t.Run("conditions without a place for generations say what they say", func(t *testing.T) {
		t.Parallel()
		obj := &threeKeys{}
		end(obj, 5, true)
		end(obj, 6, false)
		assert.True(t, status.Conditions(obj).IsTrue("Ready"))
	})
}

// TestVisitKeptThatLacksSomething visits what somebody wrote who isn't held to
// the form of metav1.Condition.
func TestVisitKeptThatLacksSomething(t *testing.T) {
	t.Parallel()
	d, err := status.Declare(status.Declared{Type: "Provisioned"}, status.Declared{Type: "Other"})
	require.NoError(t, err)
	end := func(obj any) bool {
		v := d.Visit(2)
		v.Result("Other", nil)
		changed, err := v.End(now, obj)
		require.NoError(t, err)
		return changed
	}
	for _, c := range []struct{ reason, kept, want string }{
		{"no reason", `"status":"True","message":"m","lastTransitionTime":"` + earlierText + `"`, `"status":"True","reason":"Unspecified","message":"m","lastTransitionTime":"` + earlierText + `"`},
		{"no time", `"status":"False","reason":"R","message":"m"`, `"status":"False","reason":"R","message":"m","lastTransitionTime":"` + nowText + `"`},
		{"a generation that none has", `"status":"True","reason":"R","message":"","observedGeneration":-3,"lastTransitionTime":"` + earlierText + `"`, `"status":"True","reason":"R","message":"","lastTransitionTime":"` + earlierText + `"`},
		{"nothing is lacking", `"status":"True","reason":"R","observedGeneration":1,"lastTransitionTime":"` + earlierText + `"`, `"status":"True","reason":"R","observedGeneration":1,"lastTransitionTime":"` + earlierText + `"`},
	} {
		t.Run("status 28: "+c.reason, func(t *testing.T) {
			t.Parallel()
			obj := document(t, `{"status":{"conditions":[{"type":"Provisioned",`+c.kept+`}]}}`)
			require.True(t, end(obj))
			assert.JSONEq(t, `{"type":"Provisioned",`+c.want+`}`, text(t, obj["status"].(object)["conditions"].([]any)[0]))
			assert.False(t, end(obj), "once")
		})
	}
	t.Run("what its type has no place for isn't lacking", func(t *testing.T) {
		t.Parallel()
		obj := &bareObject{}
		require.True(t, end(obj))
		assert.False(t, end(obj))
	})
}

// TestVisitKstatus holds a declared set to the conventions by which kstatus and
// its readers judge: Reconciling and Stalled are bad news when True, Ready sums
// up, and the observed generation tells what is outdated.
func TestVisitKstatus(t *testing.T) {
	t.Parallel()
	d, err := status.Declare(
		status.Declared{Type: "Ready", Summarises: true},
		status.Declared{Type: "Reconciling", Negative: true},
		status.Declared{Type: "Stalled", Negative: true},
	)
	require.NoError(t, err)
	for _, c := range []struct {
		reason               string
		reconciling, stalled metav1.ConditionStatus
		generation           int64
		ready                metav1.ConditionStatus
		want                 readiness.State
	}{
		{"first visit, nothing known", "", "", 2, "Unknown", readiness.InProgress},
		{"at work", "True", "False", 2, "False", readiness.InProgress},
		{"stuck", "False", "True", 2, "False", readiness.Failed},
		{"stuck at work: Stalled wins", "True", "True", 2, "False", readiness.Failed},
		{"done", "False", "False", 2, "True", readiness.Ready},
		{"done with an older generation", "False", "False", 1, "Unknown", readiness.InProgress},
	} {
		t.Run("status 24, 26: "+c.reason, func(t *testing.T) {
			t.Parallel()
			obj := document(t, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generation":2}}`)
			v := d.Visit(c.generation)
			for conditionType, state := range map[string]metav1.ConditionStatus{"Reconciling": c.reconciling, "Stalled": c.stalled} {
				if state != "" {
					v.Report(conditionType, state, "R", "")
				}
			}
			_, err := v.End(now, obj)
			require.NoError(t, err)
			ready, _ := status.Conditions(obj).Get("Ready")
			assert.Equal(t, c.ready, ready.Status)
			assert.Equal(t, c.want, readiness.Of(obj).State)
		})
	}
}
