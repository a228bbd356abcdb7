package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/status"
)

func update(t *testing.T, a status.Application, current object) (object, bool) {
	t.Helper()
	before := text(t, current)
	next, changed, err := a.Update(now, current)
	require.NoError(t, err)
	require.Equal(t, before, text(t, current), "the input isn't mutated")
	require.Equal(t, status.Changed(current, next), changed, "changed is what Changed says")
	return next, changed
}

func own(ready status.ReadyReason, updating status.UpdatingReason) status.Application {
	return status.Application{
		Ready:    status.ReadyVerdict{Reason: ready, Message: "r"},
		Updating: status.UpdatingVerdict{Reason: updating, Message: "u"},
	}
}

// entry is one condition of a status as a test reads it.
func entry(t *testing.T, st object, conditionType string) object {
	t.Helper()
	for _, element := range st["conditions"].([]any) {
		if e := element.(object); e["type"] == conditionType {
			return e
		}
	}
	return nil
}

func TestReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[status.ReadyReason]string{
		status.ReadyStable: "True", status.ReadyInitializing: "False", status.ReadyInProgress: "False",
		status.ReadyConfigError: "False", status.ReadyErrored: "False", "": "Unknown", "Nope": "Unknown",
	} {
		t.Run("status 1: Ready with "+string(reason), func(t *testing.T) {
			t.Parallel()
			assert.EqualValues(t, want, reason.Status())
			if want == "Unknown" {
				return
			}
			next, _ := update(t, status.Application{Ready: status.ReadyVerdict{Reason: reason, Message: "m"}}, nil)
			assert.Equal(t, want, entry(t, next, "Ready")["status"])
			assert.Nil(t, entry(t, next, "Updating"), "status 2: no reason, no condition")
		})
	}
	for reason, want := range map[status.UpdatingReason]string{
		status.UpdatingStable: "False", status.UpdatingPreconditionWait: "True", status.UpdatingVerifyWait: "True",
		status.UpdatingVersionChange: "True", status.UpdatingClusterError: "False", status.UpdatingErrored: "False", "": "Unknown", "Nope": "Unknown",
	} {
		t.Run("status 1: Updating with "+string(reason), func(t *testing.T) {
			t.Parallel()
			assert.EqualValues(t, want, reason.Status())
			if want == "Unknown" {
				return
			}
			next, _ := update(t, status.Application{Updating: status.UpdatingVerdict{Reason: reason}}, nil)
			assert.Equal(t, want, entry(t, next, "Updating")["status"])
			assert.Nil(t, entry(t, next, "Ready"), "status 2: no reason, no condition")
		})
	}
	t.Run("status 3: the fields of a condition, the message empty by default", func(t *testing.T) {
		t.Parallel()
		next, _ := update(t, status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyStable}}, nil)
		assert.Equal(t, object{"type": "Ready", "status": "True", "reason": "Stable", "message": "", "lastTransitionTime": nowText}, entry(t, next, "Ready"))
	})
	t.Run("status 2: a reason may be given as its text", func(t *testing.T) {
		t.Parallel()
		next, _ := update(t, status.Application{Ready: status.ReadyVerdict{Reason: "Stable"}}, nil)
		assert.Equal(t, "True", entry(t, next, "Ready")["status"])
	})
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	current := object{"a": int64(1)}
	for _, c := range []struct {
		reason      string
		application status.Application
		want        error
		names       string
	}{
		{"status 2: an unknown Ready reason", own("Nope", status.UpdatingStable), status.ErrInvalidReason, "Ready verdict"},
		{"status 2: an unknown Updating reason", own(status.ReadyStable, "VerifyComplete"), status.ErrInvalidReason, "Updating verdict"},
		{"status 8: a reason of the other condition", own("VerifyWait", ""), status.ErrInvalidReason, "VerifyWait"},
		{"a negative generation", status.Application{Generation: -1}, status.ErrInvalidGeneration, "-1"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			next, changed, err := c.application.Update(now, current)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.names)
			assert.Nil(t, next)
			assert.False(t, changed)
		})
	}
	t.Run("no time", func(t *testing.T) {
		t.Parallel()
		_, _, err := status.Application{}.Update(time.Time{}, nil)
		require.ErrorIs(t, err, status.ErrNoTime)
	})
}

// TestRemovedIsNotReconciled gives verdicts that are both Stable, one of which
// takes its condition away.
func TestRemovedIsNotReconciled(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]func(a *status.Application){
		"status 28: Ready is removed":    func(a *status.Application) { a.Ready.Remove = true },
		"status 28: Updating is removed": func(a *status.Application) { a.Updating.Remove = true },
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			a := own(status.ReadyStable, status.UpdatingStable)
			a.Generation = 3
			whole, _ := update(t, a, nil)
			assert.EqualValues(t, 3, whole["reconciledGeneration"])
			change(&a)
			next, _ := update(t, a, nil)
			assert.NotContains(t, next, "reconciledGeneration")
			assert.EqualValues(t, 3, next["observedGeneration"])
		})
	}
}

func TestUpdateOrder(t *testing.T) {
	t.Parallel()
	t.Run("status 4: with nothing given there is an empty list", func(t *testing.T) {
		t.Parallel()
		next, changed := update(t, status.Application{}, nil)
		assert.Equal(t, object{"conditions": []any{}}, next)
		assert.True(t, changed)
		next, changed = update(t, status.Application{}, object{})
		assert.Equal(t, object{"conditions": []any{}}, next)
		assert.True(t, changed, "status 9: missing against empty conditions is a change")
	})
	t.Run("status 4: Ready, Updating, the kstatus one, then the others in their order", func(t *testing.T) {
		t.Parallel()
		current := document(t, `{"conditions":[{"type":"X","n":1},{"type":"Updating","reason":"Stable"},{"type":"A"},{"type":"Ready","reason":"Stable"},{"n":2}]}`)
		next, _ := update(t, own(status.ReadyInProgress, status.UpdatingVerifyWait), current)
		var order []any
		for _, e := range next["conditions"].([]any) {
			order = append(order, e.(object)["type"])
		}
		assert.Equal(t, []any{"Ready", "Updating", "Reconciling", "X", "A", nil}, order)
	})
}

func TestUpdateCarriesOver(t *testing.T) {
	t.Parallel()
	const current = `{"conditions":[
		{"type":"Ready","status":"False","reason":"InProgress","message":"old r","lastTransitionTime":"` + earlierText + `","observedGeneration":3,"extra":1},
		{"type":"Updating","status":"True","reason":"VerifyWait","message":"old u","lastTransitionTime":"` + earlierText + `","observedGeneration":3}]}`
	type says struct{ reason, message any }
	for _, c := range []struct {
		reason      string
		application status.Application
		ready       says
		updating    says
	}{
		{"status 8: nothing given", status.Application{}, says{"InProgress", "old r"}, says{"VerifyWait", "old u"}},
		{
			"status 8: one given",
			status.Application{Updating: status.UpdatingVerdict{Reason: status.UpdatingStable, Message: "new u"}},
			says{"InProgress", "old r"},
			says{"Stable", "new u"},
		},
		{"status 8: both given", own(status.ReadyStable, status.UpdatingStable), says{"Stable", "r"}, says{"Stable", "u"}},
		{
			"status 8: a message alone",
			status.Application{Ready: status.ReadyVerdict{Message: "new r"}},
			says{"InProgress", "new r"},
			says{"VerifyWait", "old u"},
		},
		{
			"status W3: an old message goes with its reason",
			status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyStable}, Updating: status.UpdatingVerdict{Reason: status.UpdatingVerifyWait}},
			says{"Stable", ""},
			says{"VerifyWait", "old u"},
		},
		{
			"status W4: keep and remove are two things",
			status.Application{Ready: status.ReadyVerdict{Remove: true, Reason: status.ReadyStable, Message: "x"}},
			says{nil, nil},
			says{"VerifyWait", "old u"},
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			next, _ := update(t, c.application, document(t, current))
			ready, updating := entry(t, next, "Ready"), entry(t, next, "Updating")
			assert.Equal(t, c.ready, says{ready["reason"], ready["message"]})
			assert.Equal(t, c.updating, says{updating["reason"], updating["message"]})
			if ready != nil {
				assert.EqualValues(t, 1, ready["extra"], "unknown fields of a condition stay")
			}
		})
	}
	t.Run("status 8: a status that doesn't fit its reason is put right", func(t *testing.T) {
		t.Parallel()
		next, changed := update(t, status.Application{}, document(t, `{"conditions":[{"type":"Ready","status":"True","reason":"Errored","message":"m"}]}`))
		assert.True(t, changed)
		assert.Equal(t, "False", entry(t, next, "Ready")["status"])
	})
	t.Run("status 8: what others have written stays", func(t *testing.T) {
		t.Parallel()
		next, _ := update(t, own(status.ReadyStable, status.UpdatingStable), document(t, `{"foo":{"bar":[1,null]},"conditions":[{"type":"X","lastTransitionTime":"whenever"}]}`))
		assert.Equal(t, object{"bar": []any{int64(1), nil}}, next["foo"])
		assert.Equal(t, object{"type": "X", "lastTransitionTime": "whenever"}, entry(t, next, "X"))
	})
}

func TestUpdateTolerates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, current, want string }{
		{"conditions null", `{"conditions":null}`, `[]`},
		{"conditions a map", `{"conditions":{"Ready":1}}`, `[]`},
		{"elements null and numbers", `{"conditions":[null,1,{"type":"X"}]}`, `[{"type":"X"}]`},
		{"status W2: an unknown Ready reason counts as absent", `{"conditions":[{"type":"Ready","status":"True","reason":"SomethingElse"}]}`, `[]`},
		{"status W2: an unknown Updating reason counts as absent", `{"conditions":[{"type":"Updating","status":"True","reason":"Zz"}]}`, `[]`},
		{"no reason", `{"conditions":[{"type":"Ready","status":"True"}]}`, `[]`},
		{"a reason of another shape", `{"conditions":[{"type":"Ready","status":"True","reason":["Stable"]}]}`, `[]`},
		{"status 28: duplicates of others are merged, the newest wins, in the place of the first",
			`{"conditions":[{"type":"X","n":1,"lastTransitionTime":"2024-01-01T00:00:00Z"},{"type":"Y"},{"type":"X","n":2,"lastTransitionTime":"2024-02-01T00:00:00Z"},{"type":"X","n":3}]}`,
			`[{"type":"X","n":2,"lastTransitionTime":"2024-02-01T00:00:00Z"},{"type":"Y"}]`},
		{"entries without a type are nobody's duplicates", `{"conditions":[{"n":1},{"n":2}]}`, `[{"n":1},{"n":2}]`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			next, changed := update(t, status.Application{}, document(t, c.current))
			assert.JSONEq(t, c.want, text(t, next["conditions"]))
			_, again := update(t, status.Application{}, next)
			assert.False(t, again, "the second update has nothing to do")
			assert.Equal(t, c.want != `[{"n":1},{"n":2}]`, changed)
		})
	}
	t.Run("status W2: a new reason replaces an unknown one, and keeps the time", func(t *testing.T) {
		t.Parallel()
		next, _ := update(t, own(status.ReadyStable, ""), document(t, `{"conditions":[{"type":"Ready","status":"True","reason":"Zz","message":"old","lastTransitionTime":"`+earlierText+`"}]}`))
		assert.Equal(t, object{"type": "Ready", "status": "True", "reason": "Stable", "message": "r", "lastTransitionTime": earlierText}, entry(t, next, "Ready"))
	})
	t.Run("status 19: of two Ready conditions the newest is carried over", func(t *testing.T) {
		t.Parallel()
		next, _ := update(t, status.Application{}, document(t, `{"conditions":[
			{"type":"Ready","status":"False","reason":"Errored","message":"first","lastTransitionTime":"2024-01-01T00:00:00Z"},
			{"type":"Ready","status":"True","reason":"Stable","message":"second","lastTransitionTime":"2024-02-01T00:00:00Z"}]}`))
		assert.Equal(t, "second", entry(t, next, "Ready")["message"])
		assert.Len(t, next["conditions"], 1)
	})
	t.Run("what is of no use is warned of", func(t *testing.T) {
		t.Parallel()
		var warnings []string
		a := status.Application{Version: "1", SupportedVersions: []string{}, Warn: func(message string) { warnings = append(warnings, message) }}
		current := document(t, `{"versions":["x"],"conditions":[{"type":"Ready","reason":"Zz"},{"type":"Updating","reason":"Stable","lastTransitionTime":"noon"}]}`)
		update(t, a, current)
		require.Len(t, warnings, 3)
		assert.Contains(t, warnings[0], `condition Ready: unknown reason "Zz"`)
		assert.Contains(t, warnings[1], `condition Updating: can't read lastTransitionTime "noon"`)
		assert.Contains(t, warnings[2], "status.versions is a []interface {}, not a map")
	})
}

func TestApplicationKinds(t *testing.T) {
	t.Parallel()
	a := own(status.ReadyStable, status.UpdatingStable)
	a.Kind = "Component"
	_, _, err := a.Update(now, nil)
	require.ErrorIs(t, err, status.ErrInvalidKind, "its service status would be the component status")
	a.Kind = "Components"
	_, _, err = a.Update(now, nil)
	require.NoError(t, err)
}

func TestManyLongMessages(t *testing.T) {
	t.Parallel()
	state := &status.ComponentState{Messages: map[string]string{}, Unstarted: map[string]string{}}
	for i := range 5000 {
		name := fmt.Sprintf("component-%d", i)
		state.Messages[name], state.Unstarted[name] = strings.Repeat("x", 2000), strings.Repeat("y", 2000)
	}
	a := own(status.ReadyErrored, status.UpdatingErrored)
	a.Components = state
	next, _ := update(t, a, nil)
	assert.Less(t, len(text(t, next)), 1_500_000, "what etcd takes")
	assert.Contains(t, text(t, next), "truncated, 2000 bytes in all")
	state.Messages = map[string]string{"a": strings.Repeat("x", 1000)}
	state.Unstarted = nil
	next, _ = update(t, a, nil)
	assert.Contains(t, text(t, next), strings.Repeat("x", 1000), "few ones are whole")
}
