package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
)

type verdicts struct {
	ready    status.ReadyVerdict
	updating status.UpdatingVerdict
}

func both(ready status.ReadyVerdict, updating status.UpdatingVerdict) verdicts {
	return verdicts{ready, updating}
}

func TestForStart(t *testing.T) {
	t.Parallel()
	keep := verdicts{}
	initial := verdicts{ready: status.ReadyVerdict{Reason: status.ReadyInitializing, Message: "Initial Rollout Started"}}
	const change = "Version Change Started: [1] -> [2]"
	for _, c := range []struct {
		reason, current, desired string
		want                     verdicts
	}{
		{"status 12: nothing was ever written", `{}`, "1", initial},
		{"status 12: the present reason stays", `{"versions":{"reconciled":"1"},"conditions":[{"type":"Ready","reason":"Stable"}]}`, "1", keep},
		{"status 12: an error stays once a version was reconciled", `{"versions":{"reconciled":"1"},"conditions":[{"type":"Ready","reason":"ConfigError"}]}`, "1", keep},
		{"status 12: an error before any version was reconciled", `{"conditions":[{"type":"Ready","reason":"Errored","message":"old"}]}`, "1", initial},
		{"status 12: initializing goes on", `{"conditions":[{"type":"Ready","reason":"Initializing","message":"own words"}]}`, "1", keep},
		{
			"status 12: another version", `{"versions":{"reconciled":"1"},"conditions":[{"type":"Ready","reason":"Stable"}]}`, "2",
			both(status.ReadyVerdict{Reason: status.ReadyInProgress, Message: change}, status.UpdatingVerdict{Reason: status.UpdatingVersionChange, Message: change}),
		},
		{"status 12: no desired version is no other version", `{"versions":{"reconciled":"1"},"conditions":[{"type":"Ready","reason":"Stable"}]}`, "", keep},
		{"status W7: without a version, Stable stays", `{"conditions":[{"type":"Ready","reason":"Stable"}]}`, "", keep},
		{"status W7: without a version, InProgress comes after a success", `{"conditions":[{"type":"Ready","reason":"InProgress"}]}`, "", keep},
		{"status W7: and with one that was never reconciled", `{"conditions":[{"type":"Ready","reason":"InProgress"}]}`, "1", keep},
		{"status W7: without a version, an error after a success stays", `{"reconciledGeneration":1,"conditions":[{"type":"Ready","reason":"Errored"}]}`, "", keep},
		{"status W7: without a version, an error before any success", `{"conditions":[{"type":"Ready","reason":"Errored"}]}`, "", initial},
		{
			"status W7: a lost condition after a success", `{"reconciledGeneration":1}`, "",
			both(status.ReadyVerdict{Reason: status.ReadyInProgress, Message: "Verify InProgress"}, status.UpdatingVerdict{}),
		},
		{"status W2: an unknown reason counts as none", `{"conditions":[{"type":"Ready","reason":"Zz"}]}`, "", initial},
		{"conditions of another shape", `{"conditions":"x","versions":7}`, "1", initial},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, both(status.ForStart(document(t, c.current), c.desired)))
		})
	}
	t.Run("status W7: no flapping over reconciles without a version", func(t *testing.T) {
		t.Parallel()
		var current object
		var reasons []any
		step := func(v verdicts, generation int64) {
			next, changed := update(t, status.Application{Ready: v.ready, Updating: v.updating, Generation: generation}, current)
			if current = next; changed {
				reasons = append(reasons, entry(t, next, "Ready")["reason"])
			}
		}
		step(both(status.ForStart(current, "")), 1)
		step(both(status.ForEnd(current, false)), 1)
		step(both(status.ForStart(current, "")), 1)
		step(both(status.ForEnd(current, true)), 1)
		for range 3 {
			step(both(status.ForStart(current, "")), 1)
			step(both(status.ForEnd(current, true)), 1)
		}
		step(both(status.ForError(status.ErrorUnknown, "oops")), 1)
		step(both(status.ForStart(current, "")), 1)
		step(both(status.ForEnd(current, true)), 1)
		assert.Equal(t, []any{"Initializing", "Initializing", "Stable", "Errored", "Stable"}, reasons, "one write for each real change")
	})
}

func TestForEnd(t *testing.T) {
	t.Parallel()
	wait := status.UpdatingVerdict{Reason: status.UpdatingVerifyWait, Message: "Component verification incomplete"}
	for _, c := range []struct {
		reason, current string
		verified        bool
		want            verdicts
	}{
		{
			"status 13: everything verified", `{"conditions":[{"type":"Ready","reason":"Errored"}]}`, true,
			both(status.ReadyVerdict{Reason: status.ReadyStable, Message: "Verify Complete"}, status.UpdatingVerdict{Reason: status.UpdatingStable, Message: "Rollout Complete"}),
		},
		{
			"status 13: not everything", `{"conditions":[{"type":"Ready","reason":"Stable"}]}`, false,
			both(status.ReadyVerdict{Reason: status.ReadyInProgress, Message: "Verify InProgress"}, wait),
		},
		{
			"status 13: not everything, still initializing", `{"conditions":[{"type":"Ready","reason":"Initializing"}]}`, false,
			both(status.ReadyVerdict{Reason: status.ReadyInitializing}, wait),
		},
		{
			"status 13: not everything, nothing there", `{}`, false,
			both(status.ReadyVerdict{Reason: status.ReadyInProgress, Message: "Verify InProgress"}, wait),
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, both(status.ForEnd(document(t, c.current), c.verified)))
		})
	}
}

func TestForError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class    status.ErrorClass
		ready    status.ReadyReason
		updating status.UpdatingReason
	}{
		{status.ErrorPrecondition, "", status.UpdatingPreconditionWait},
		{status.ErrorVerification, "", status.UpdatingVerifyWait},
		{status.ErrorConfig, status.ReadyConfigError, status.UpdatingErrored},
		{status.ErrorCluster, "", status.UpdatingClusterError},
		{status.ErrorRollout, status.ReadyErrored, status.UpdatingErrored},
		{status.ErrorUnknown, status.ReadyErrored, status.UpdatingErrored},
		{"", status.ReadyErrored, status.UpdatingErrored},
		{"Surprise", status.ReadyErrored, status.UpdatingErrored},
	} {
		t.Run("status 14: "+string(c.class), func(t *testing.T) {
			t.Parallel()
			ready, updating := status.ForError(c.class, "why")
			assert.Equal(t, c.ready, ready.Reason)
			assert.Equal(t, c.updating, updating.Reason)
			assert.Equal(t, "why", updating.Message)
			current, _ := update(t, own(status.ReadyStable, status.UpdatingStable), nil)
			next, _ := update(t, status.Application{Ready: ready, Updating: updating}, current)
			if c.ready == "" {
				assert.Equal(t, entry(t, current, "Ready"), entry(t, next, "Ready"), "untouched")
			} else {
				assert.Equal(t, "why", entry(t, next, "Ready")["message"])
			}
		})
	}
}

func TestKstatus(t *testing.T) {
	t.Parallel()
	const none, reconciling, stalled = "", "Reconciling", "Stalled"
	for _, c := range []struct {
		ready    status.ReadyReason
		updating status.UpdatingReason
		want     string
		reason   string
		state    readiness.State
	}{
		{status.ReadyStable, status.UpdatingStable, none, "", readiness.Ready},
		{status.ReadyInitializing, "", reconciling, "Initializing", readiness.InProgress},
		{status.ReadyInitializing, status.UpdatingVerifyWait, reconciling, "VerifyWait", readiness.InProgress},
		{status.ReadyInProgress, status.UpdatingStable, reconciling, "InProgress", readiness.InProgress},
		{status.ReadyInProgress, status.UpdatingVersionChange, reconciling, "VersionChange", readiness.InProgress},
		{status.ReadyStable, status.UpdatingVerifyWait, reconciling, "VerifyWait", readiness.InProgress},
		{status.ReadyStable, status.UpdatingPreconditionWait, reconciling, "PreconditionWait", readiness.InProgress},
		{status.ReadyStable, status.UpdatingClusterError, reconciling, "ClusterError", readiness.InProgress},
		{status.ReadyConfigError, status.UpdatingErrored, stalled, "ConfigError", readiness.Failed},
		{status.ReadyErrored, status.UpdatingErrored, stalled, "Errored", readiness.Failed},
		{status.ReadyErrored, status.UpdatingVerifyWait, stalled, "Errored", readiness.Failed},
		{status.ReadyStable, status.UpdatingErrored, stalled, "Errored", readiness.Failed},
		{"", status.UpdatingVerifyWait, reconciling, "VerifyWait", readiness.InProgress},
	} {
		t.Run("status 27: "+string(c.ready)+" and "+string(c.updating), func(t *testing.T) {
			t.Parallel()
			stale := document(t, `{"conditions":[{"type":"Stalled","status":"True"},{"type":"Reconciling","status":"True"}]}`)
			a := own(c.ready, c.updating)
			if c.ready == "" {
				a.Ready = status.ReadyVerdict{}
			}
			if c.updating == "" {
				a.Updating = status.UpdatingVerdict{}
			}
			a.Generation = 4
			next, _ := update(t, a, stale)
			for _, conditionType := range []string{reconciling, stalled} {
				e := entry(t, next, conditionType)
				if conditionType != c.want {
					assert.Nil(t, e, "%s is absent when false", conditionType)
					continue
				}
				assert.Equal(t, "True", e["status"])
				assert.Equal(t, c.reason, e["reason"])
				assert.Equal(t, int64(4), e["observedGeneration"])
			}
			cr := &unstructured.Unstructured{Object: object{
				"apiVersion": "example.com/v1", "kind": "Widget", "metadata": object{"generation": int64(4)}, "status": next,
			}}
			assert.Equal(t, c.state, readiness.Of(cr).State)
			cr.SetGeneration(5)
			assert.Equal(t, readiness.InProgress, readiness.Of(cr).State, "status W5: a newer spec isn't judged by an older status")
		})
	}
}
