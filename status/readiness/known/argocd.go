package known

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/readiness"
)

// application is the row of Argo CD's Application: Synced and Healthy. It has no observed generation, so the source
// that the status was compared to tells whether the present spec was seen. Its conditions have no status: one whose
// type ends in Error is an error as long as it is there.
//
// Fields: https://github.com/argoproj/argo-cd/blob/master/pkg/apis/application/v1alpha1/types.go
// Health: https://argo-cd.readthedocs.io/en/stable/operator-manual/health/
// Phases: https://github.com/argoproj/argo-cd/blob/master/gitops-engine/pkg/sync/common/types.go
func application(o object) readiness.Result {
	sync, health := condition.Map(o.status, "sync"), condition.Map(o.status, "health")
	operation := condition.Map(o.status, "operationState")
	phase, synced := condition.Text(operation, "phase"), condition.Text(sync, "status")
	if fault, found := o.applicationError(); found {
		return fault
	}
	switch {
	case o.document["operation"] != nil, phase == "Running", phase == "Terminating":
		return inProgress("OperationRunning", cmp.Or(condition.Text(operation, "message"), "an operation of Argo CD runs"), "status.operationState.phase", "operation")
	case synced == "":
		return inProgress("NotCompared", "the status has no sync state yet: Argo CD hasn't handled the object", "status.sync.status")
	case o.sourceChanged(condition.Map(sync, "comparedTo")):
		return inProgress("NotCompared", "the sync state is about an earlier source: Argo CD hasn't handled the change", "status.sync.comparedTo", "spec")
	case synced != "Synced" && (phase == "Failed" || phase == "Error"):
		return failed("OperationFailed", cmp.Or(condition.Text(operation, "message"), "the last sync has failed"), "status.operationState.phase", "status.sync.status")
	case synced != "Synced":
		return inProgress("NotSynced", fmt.Sprintf("the sync state is %.64s: it waits for a sync", synced), "status.sync.status")
	}
	return applicationHealth(condition.Text(health, "status"), condition.Text(health, "message"))
}

func applicationHealth(health, message string) readiness.Result {
	const path = "status.health.status"
	message = cmp.Or(message, "the health is "+cmp.Or(health, "not known yet"))
	switch health {
	case "Healthy":
		return ready("ApplicationHealthy", message, path, "status.sync.status")
	case "Degraded":
		return failed("ApplicationDegraded", message, path)
	}
	return inProgress("ApplicationNotHealthy", message, path)
}

// applicationError returns the result for the first condition that is an error.
func (o object) applicationError() (readiness.Result, bool) {
	for _, entry := range maps(o.status["conditions"]) {
		if kind := condition.Text(entry, "type"); strings.HasSuffix(kind, "Error") {
			return failed(kind, cmp.Or(condition.Text(entry, "message"), "Argo CD reports "+kind), "status.conditions["+kind+"]"), true
		}
	}
	return readiness.Result{}, false
}

// sourceChanged reports whether the spec has another source or destination than the status was compared to.
func (o object) sourceChanged(compared map[string]any) bool {
	if len(compared) == 0 {
		return false
	}
	wanted, seen := maps(o.spec["sources"]), maps(compared["sources"])
	if len(wanted) == 0 {
		wanted, seen = []map[string]any{condition.Map(o.spec, "source")}, []map[string]any{condition.Map(compared, "source")}
	}
	if len(wanted) != len(seen) {
		return true
	}
	for i := range wanted {
		if differ(wanted[i], seen[i], "repoURL", "path", "chart", "targetRevision", "ref") {
			return true
		}
	}
	// Argo CD fills in the server of a destination that has only a name.
	return differ(condition.Map(o.spec, "destination"), condition.Map(compared, "destination"), "namespace")
}

func differ(a, b map[string]any, keys ...string) bool {
	for _, key := range keys {
		if condition.Text(a, key) != condition.Text(b, key) {
			return true
		}
	}
	return false
}
