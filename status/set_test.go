package status_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

func TestSetTransitionTime(t *testing.T) {
	t.Parallel()
	for name, obj := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(obj)
			read := func() string {
				c, ok := conditions.Get("Ready")
				require.True(t, ok)
				return c.LastTransitionTime.UTC().Format(time.RFC3339Nano)
			}
			t.Run("status 28: a new one is dated now, in UTC and whole seconds", func(t *testing.T) {
				require.True(t, conditions.Set(now, isReady("False", "A", "")))
				assert.Equal(t, nowText, read())
			})
			t.Run("status 28: transition time moves only with status", func(t *testing.T) {
				for i, reason := range []string{"B", "C", "D"} {
					require.True(t, conditions.Set(now.Add(time.Duration(i+1)*time.Hour), isReady("False", reason, "m")))
					assert.Equal(t, nowText, read())
				}
				require.True(t, conditions.Set(now.Add(4*time.Hour), isReady("True", "E", "m")))
				assert.Equal(t, "2026-05-06T09:08:09Z", read())
			})
			t.Run("a given time counts for a transition only", func(t *testing.T) {
				c := isReady("True", "F", "m")
				c.LastTransitionTime = metav1.NewTime(now.Add(5 * time.Hour))
				require.True(t, conditions.Set(now, c))
				assert.Equal(t, "2026-05-06T09:08:09Z", read())
				c.Status = "Unknown"
				require.True(t, conditions.Set(time.Time{}, c))
				assert.Equal(t, "2026-05-06T10:08:09Z", read())
			})
			t.Run("saying it again is no change", func(t *testing.T) {
				assert.False(t, conditions.Set(now.Add(9*time.Hour), isReady("Unknown", "F", "m")))
			})
			t.Run("an observed generation is a change, and 0 takes it away", func(t *testing.T) {
				c := isReady("Unknown", "F", "m")
				c.ObservedGeneration = 7
				require.True(t, conditions.Set(now, c))
				got, _ := conditions.Get("Ready")
				assert.EqualValues(t, 7, got.ObservedGeneration)
				require.True(t, conditions.Set(now, isReady("Unknown", "F", "m")))
				got, _ = conditions.Get("Ready")
				assert.Zero(t, got.ObservedGeneration)
			})
			require.NoError(t, conditions.Err())
		})
	}
}

func TestSetOneEntryPerType(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	later := metav1.NewTime(at.AddDate(1, 0, 0))
	for name, obj := range kinds(t,
		metav1.Condition{Type: "First", Status: "True", Reason: "R"},
		metav1.Condition{Type: "Ready", Status: "False", Reason: "Old", LastTransitionTime: at},
		metav1.Condition{Type: "Middle", Status: "True", Reason: "R"},
		metav1.Condition{Type: "Ready", Status: "True", Reason: "New", LastTransitionTime: later},
	) {
		t.Run("status 28: one entry per type, the newest is the base, "+name, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(obj)
			require.True(t, conditions.Set(now, isReady("True", "New", "")), "merging is a change though nothing new is said")
			c, _ := conditions.Get("Ready")
			assert.True(t, later.Time.Equal(c.LastTransitionTime.Time), "%v", c.LastTransitionTime)
			assert.Equal(t, []string{"First", "Ready", "Middle"}, types(obj), "at the place of the first")
			assert.False(t, conditions.Set(now, isReady("True", "New", "")))
			require.True(t, conditions.Set(now, metav1.Condition{Type: "Last", Status: "True", Reason: "R"}))
			assert.Equal(t, []string{"First", "Ready", "Middle", "Last"}, types(obj), "a new type goes to the end")
		})
	}
}

func types(obj any) (result []string) {
	var list []metav1.Condition
	switch obj := obj.(type) {
	case *typed:
		list = obj.conditions
	case *[]metav1.Condition:
		list = *obj
	case interface{ UnstructuredContent() map[string]any }:
		return types(obj.UnstructuredContent())
	case object:
		for _, entry := range obj["status"].(object)["conditions"].([]any) {
			result = append(result, entry.(object)["type"].(string))
		}
	}
	for _, c := range list {
		result = append(result, c.Type)
	}
	return result
}

func TestSetKeepsWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	t.Run("status 28: conditions and fields that nobody knows here", func(t *testing.T) {
		t.Parallel()
		obj := document(t, `{"kind":"K","status":{"conditions":[
			{"type":"Theirs","status":"Maybe","probe":{"a":[1]},"lastTransitionTime":"`+earlierText+`"},
			{"type":"Ready","status":"False","severity":"Info","lastTransitionTime":"`+earlierText+`"}],"phase":"x"}}`)
		require.True(t, status.Conditions(obj).Set(now, isReady("True", "Stable", "m")))
		assert.JSONEq(t, `{"kind":"K","status":{"conditions":[
			{"type":"Theirs","status":"Maybe","probe":{"a":[1]},"lastTransitionTime":"`+earlierText+`"},
			{"type":"Ready","status":"True","reason":"Stable","message":"m","severity":"Info","lastTransitionTime":"`+nowText+`"}],"phase":"x"}}`, text(t, obj))
	})
	t.Run("status W1: the old key is migrated with a change, and kept without one", func(t *testing.T) {
		t.Parallel()
		const old = `{"status":{"conditions":[{"lastTransactionTime":"2024-01-01T00:00:00.5","message":"m","reason":"Stable","status":"True","type":"Ready"}]}}`
		obj := document(t, old)
		require.False(t, status.Conditions(obj).Set(now, isReady("True", "Stable", "m")))
		require.Equal(t, old, text(t, obj))
		require.True(t, status.Conditions(obj).Set(now, isReady("True", "Stable", "n")))
		assert.Equal(t, `{"status":{"conditions":[{"lastTransitionTime":"`+earlierText+`","message":"n","reason":"Stable","status":"True","type":"Ready"}]}}`, text(t, obj))
	})
	t.Run("a time that can't be read is dated anew", func(t *testing.T) {
		t.Parallel()
		obj := document(t, `{"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"yesterday, about noon"}]}}`)
		require.True(t, status.Conditions(obj).Set(now, isReady("True", "Stable", "")))
		assert.Contains(t, text(t, obj), nowText)
	})
	t.Run("a generation that is a float64 stays one", func(t *testing.T) {
		t.Parallel()
		obj := object{"status": object{"conditions": []any{object{"type": "Ready", "status": "True", "observedGeneration": 3.0}}}}
		c := isReady("True", "Stable", "")
		c.ObservedGeneration = 3
		require.True(t, status.Conditions(obj).Set(now, c))
		entry := obj["status"].(object)["conditions"].([]any)[0].(object)
		assert.Equal(t, 3.0, entry["observedGeneration"])
	})
	t.Run("nothing but the object is written", func(t *testing.T) {
		t.Parallel()
		backing := []metav1.Condition{{Type: "First"}, {Type: "Spare"}}
		list := backing[:1]
		require.True(t, status.Conditions(&list).Set(now, isReady("True", "Stable", "")))
		assert.Equal(t, "Spare", backing[1].Type, "the spare capacity belongs to another slice")

		documents := []any{object{"type": "First"}, "spare"}
		require.True(t, status.Conditions(object{"status": object{"conditions": documents[:1]}}).Set(now, isReady("True", "Stable", "")))
		assert.Equal(t, "spare", documents[1], "also that of a list in a document")

		obj := &typed{conditions: []metav1.Condition{isReady("True", "A", "")}}
		shared := obj.conditions
		require.True(t, status.Conditions(obj).Set(now, isReady("True", "B", "")))
		assert.Equal(t, "A", shared[0].Reason, "an accessor's slice may be shared")
		require.False(t, status.Conditions(obj).Set(now, isReady("True", "B", "")))
		assert.Equal(t, 1, obj.sets, "SetConditions is called for a change only")
	})
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	valid := isReady("True", "Stable", "")
	with := func(change func(*metav1.Condition)) metav1.Condition {
		c := valid
		change(&c)
		return c
	}
	for _, c := range []struct {
		reason    string
		condition metav1.Condition
		want      error
	}{
		{"status 28: no type", with(func(c *metav1.Condition) { c.Type = "" }), status.ErrInvalidType},
		{"status 28: a type that is too long", with(func(c *metav1.Condition) { c.Type = strings.Repeat("a", 317) }), status.ErrInvalidType},
		{"status 28: a type that is no qualified name", with(func(c *metav1.Condition) { c.Type = "not ready" }), status.ErrInvalidType},
		{"status 28: no status", with(func(c *metav1.Condition) { c.Status = "" }), status.ErrInvalidStatus},
		{"status 28: another status", with(func(c *metav1.Condition) { c.Status = "true" }), status.ErrInvalidStatus},
		{"status 28: no reason", with(func(c *metav1.Condition) { c.Reason = "" }), status.ErrInvalidReason},
		{"status 28: a reason with a space", with(func(c *metav1.Condition) { c.Reason = "Not Ready" }), status.ErrInvalidReason},
		{"status 28: a reason that begins with a digit", with(func(c *metav1.Condition) { c.Reason = "404" }), status.ErrInvalidReason},
		{"status 28: a reason that ends with a colon", with(func(c *metav1.Condition) { c.Reason = "A:" }), status.ErrInvalidReason},
		{"status 28: a reason of 1025", with(func(c *metav1.Condition) { c.Reason = strings.Repeat("a", 1025) }), status.ErrInvalidReason},
		{"a negative generation", with(func(c *metav1.Condition) { c.ObservedGeneration = -1 }), status.ErrInvalidGeneration},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, status.Validate(c.condition), c.want)
			for name, obj := range kinds(t) {
				conditions := status.Conditions(obj)
				assert.False(t, conditions.Set(now, c.condition), name)
				require.ErrorIs(t, conditions.Err(), c.want, name)
				assert.True(t, conditions.IsUnknown("Ready"), name)
				assert.True(t, conditions.Set(now, valid), "the set stays usable")
				require.ErrorIs(t, conditions.Err(), c.want, "the first error stays")
			}
		})
	}
	t.Run("no time at all", func(t *testing.T) {
		t.Parallel()
		conditions := status.Conditions(object{})
		assert.False(t, conditions.Set(time.Time{}, valid))
		require.ErrorIs(t, conditions.Err(), status.ErrNoTime)
		assert.ErrorContains(t, conditions.Err(), `condition "Ready"`)
	})
	for _, c := range []struct{ kind, reason string }{
		{"a letter", "A"}, {"lower case", "ab"}, {"underscore at the end", "A_"}, {"lists", "A,B:C"}, {"digits", "Http404"},
		{"1024 bytes", strings.Repeat("a", 1024)},
	} {
		t.Run("status 28: a reason may be "+c.kind, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, status.Validate(isReady("Unknown", c.reason, strings.Repeat("x", 1<<16))))
		})
	}
	t.Run("status 28: a type may have a domain", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, status.Validate(with(func(c *metav1.Condition) { c.Type = "example.com/Ready" })))
	})
}

func TestSetShortensMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, message string }{
		{"status 28: one byte too long", strings.Repeat("x", status.MaxMessageLength+1)},
		{"status 28: much too long", strings.Repeat("x", 10*status.MaxMessageLength)},
		{"status 28: cut between letters of several bytes", "x" + strings.Repeat("\u00e4", status.MaxMessageLength)},
		{"status 28: cut between letters of several bytes, one byte on", strings.Repeat("\u00e4", status.MaxMessageLength)},
		{"status 28: cut between letters of three bytes", strings.Repeat("\u20ac", status.MaxMessageLength)},
		{"status 28: cut between letters of three bytes, one byte on", "x" + strings.Repeat("\u20ac", status.MaxMessageLength)},
		{"status 28: cut between letters of three bytes, two bytes on", "xx" + strings.Repeat("\u20ac", status.MaxMessageLength)},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			obj := object{}
			conditions := status.Conditions(obj)
			require.True(t, conditions.Set(now, isReady("True", "Stable", c.message)))
			got, _ := conditions.Get("Ready")
			assert.LessOrEqual(t, len(got.Message), status.MaxMessageLength)
			assert.Greater(t, len(got.Message), status.MaxMessageLength-4, "not more than needed is lost")
			assert.True(t, utf8.ValidString(got.Message))
			assert.Regexp(t, `\.\.\. \(truncated, \d+ bytes in all\)$`, got.Message)
			assert.False(t, conditions.Set(now, isReady("True", "Stable", c.message)), "the same message is no change")
		})
	}
	t.Run("the longest message stays whole", func(t *testing.T) {
		t.Parallel()
		message := strings.Repeat("x", status.MaxMessageLength)
		conditions := status.Conditions(object{})
		require.True(t, conditions.Set(now, isReady("True", "Stable", message)))
		got, _ := conditions.Get("Ready")
		assert.Equal(t, message, got.Message)
	})
	t.Run("what is no UTF-8 is made so, or the API server would store something else", func(t *testing.T) {
		t.Parallel()
		conditions := status.Conditions(object{})
		require.True(t, conditions.Set(now, isReady("True", "Stable", "a\xffb")))
		got, _ := conditions.Get("Ready")
		assert.Equal(t, "a\uFFFDb", got.Message)
		assert.False(t, conditions.Set(now, isReady("True", "Stable", "a\xffb")))
	})
}

func TestSetAllocations(t *testing.T) {
	for name, obj := range kinds(t, isReady("True", "A", ""), metav1.Condition{Type: "Other", Status: "True", Reason: "R"}) {
		t.Run("saying it again allocates nothing, "+name, func(t *testing.T) {
			c := metav1.Condition{Type: "Other", Status: "True", Reason: "R"}
			assert.Zero(t, testing.AllocsPerRun(100, func() { status.Conditions(obj).Set(now, c) }))
		})
		t.Run("reading allocates nothing, "+name, func(t *testing.T) {
			assert.Zero(t, testing.AllocsPerRun(100, func() { status.Conditions(obj).IsTrue("Other") }))
		})
	}
}

func TestSetOfWhatWasRead(t *testing.T) {
	t.Parallel()
	for name, obj := range kinds(t, metav1.Condition{Type: "Ready", Status: "True", Reason: "A", LastTransitionTime: metav1.NewTime(now.AddDate(-1, 0, 0))}) {
		t.Run("status 28: read, changed and set, "+name, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(obj)
			c, _ := conditions.Get("Ready")
			if c.LastTransitionTime.IsZero() {
				return // there is no place for times
			}
			c.Reason = "B"
			require.True(t, conditions.Set(now, c))
			kept, _ := conditions.Get("Ready")
			assert.True(t, kept.LastTransitionTime.Equal(&c.LastTransitionTime), "the status is the same")
			c.Status = "False"
			require.True(t, conditions.Set(now, c))
			moved, _ := conditions.Get("Ready")
			assert.Equal(t, nowText, moved.LastTransitionTime.UTC().Format(time.RFC3339))
		})
	}
}

func TestSetFillsAMissingTime(t *testing.T) {
	t.Parallel()
	for name, obj := range kinds(t, metav1.Condition{Type: "Ready", Status: "True", Reason: "A"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(obj)
			changed := conditions.Set(now, isReady("True", "A", ""))
			c, _ := conditions.Get("Ready")
			assert.Equal(t, changed, !c.LastTransitionTime.IsZero())
			assert.False(t, conditions.Set(now, isReady("True", "A", "")), "said already")
		})
	}
	obj := document(t, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"A","message":"","lastTransitionTime":"soon"}]}}`)
	require.True(t, status.Conditions(obj).Set(now, isReady("True", "A", "")))
	assert.Contains(t, text(t, obj), nowText)
}
