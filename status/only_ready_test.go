package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/status"
)

func TestOnlyReadyVerdicts(t *testing.T) {
	t.Parallel()
	const (
		stable       = `{"type":"Ready","status":"True","reason":"Stable","message":"well","observedGeneration":4}`
		initializing = `{"type":"Ready","status":"False","reason":"Initializing","message":"soon","observedGeneration":4}`
	)
	refused := status.UpdatingVerdict{Reason: status.UpdatingClusterError, Message: "forbidden"}
	for _, c := range []struct {
		reason      string
		present     string
		application status.Application
		want        string // reason and message
		generation  int64
	}{
		{"nothing is said", stable, status.Application{Generation: 5}, "Stable: well", 4},
		{"Ready by itself", "", status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyInProgress, Message: "a"}, Generation: 5}, "InProgress: a", 5},
		{"Updating knows why", stable, status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyErrored, Message: "a"}, Updating: refused, Generation: 5}, "Errored: forbidden", 5},
		{"unless it says nothing", stable, status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyErrored, Message: "a"}, Updating: status.UpdatingVerdict{Reason: status.UpdatingErrored}, Generation: 5}, "Errored: a", 5},
		{"both are well", initializing, status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyStable, Message: "a"}, Updating: status.UpdatingVerdict{Reason: status.UpdatingStable, Message: "b"}, Generation: 5}, "Stable: a", 5},
		{"a cluster that refuses, of what is Ready", stable, status.Application{Updating: refused, Generation: 4}, "Stable: well", 4},
		{"of a generation that isn't", stable, status.Application{Updating: refused, Generation: 5}, "InProgress: forbidden", 5},
		{"of what has never been Ready", initializing, status.Application{Updating: refused, Generation: 5}, "Initializing: forbidden", 5},
		{"of what has no condition", "", status.Application{Updating: refused, Generation: 5}, "InProgress: forbidden", 5},
		{"of what has one that nobody knows", `{"type":"Ready","status":"True","reason":"Fine","observedGeneration":4}`, status.Application{Updating: refused, Generation: 4}, "InProgress: forbidden", 4},
		{"one that is to go", stable, status.Application{Ready: status.ReadyVerdict{Remove: true}, Updating: refused, Generation: 5}, "", 0},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			c.application.OnlyReady = true
			next, _ := update(t, c.application, document(t, `{"conditions":[`+c.present+`]}`))
			if c.want == "" {
				assert.Equal(t, object{"conditions": []any{}}, next)
				return
			}
			ready := entry(t, next, "Ready")
			assert.Equal(t, c.want, ready["reason"].(string)+": "+ready["message"].(string))
			assert.Equal(t, c.generation, ready["observedGeneration"])
			assert.EqualValues(t, status.ReadyReason(ready["reason"].(string)).Status(), ready["status"])
			_, changed := update(t, c.application, next)
			assert.False(t, changed)
		})
	}
}

func TestOnlyReadyStatus(t *testing.T) {
	t.Parallel()
	all := own(status.ReadyStable, status.UpdatingStable)
	all.Generation, all.Version, all.SupportedVersions, all.OperatorVersion = 3, "1", []string{"1", "2"}, "7"
	all.Components = &status.ComponentState{Verified: []string{"a"}}
	const theirs = `{"theirs":1,"versions":{"theirs":2,"available":{"theirs":3}},"conditions":[{"type":"Theirs","status":"True","reason":"Known"}]}`
	for _, c := range []struct{ reason, present, want string }{
		{
			"what isn't written", `{}`,
			`{"conditions":[{"type":"Ready","status":"True","reason":"Stable","message":"r","observedGeneration":3,"lastTransitionTime":"` + nowText + `"}]}`,
		},
		{
			"what is of others", theirs,
			`{"theirs":1,"versions":{"theirs":2,"available":{"theirs":3}},"conditions":[
			{"type":"Ready","status":"True","reason":"Stable","message":"r","observedGeneration":3,"lastTransitionTime":"` + nowText + `"},
			{"type":"Theirs","status":"True","reason":"Known"}]}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			only := all
			only.OnlyReady = true
			present := document(t, c.present)
			next, _ := update(t, only, present)
			assert.JSONEq(t, c.want, text(t, next))
			before, _ := update(t, all, present)
			next, _ = update(t, only, before)
			assert.JSONEq(t, c.want, text(t, next), "what was written with the rest is taken away")
		})
	}
}
