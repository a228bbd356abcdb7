package known

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/readiness"
)

const healthyPhase = "Cluster in healthy state"

// stuckPhases are the phases that a Cluster doesn't leave without help.
var stuckPhases = []string{
	"Waiting for user action",
	"Cluster is unrecoverable and needs manual intervention",
	"Cluster is in an unrecoverable state, needs manual intervention",
	"Unable to create required cluster objects",
	"Cluster cannot proceed to reconciliation due to an unknown plugin being required",
	"Cluster cannot proceed to reconciliation due to an error while interacting with plugins",
	"Cluster has incomplete or invalid image catalog",
	"Cluster cannot execute instance online upgrade due to missing architecture binary",
}

// cluster is the row of CloudNativePG's Cluster. Its phase is a sentence; the condition Ready is True in the healthy
// phase, and older releases don't have it. The status has no observed generation, so the numbers of instances and the
// image tell whether the present spec has been carried out.
//
// Phases and fields: https://github.com/cloudnative-pg/cloudnative-pg/blob/main/api/v1/cluster_types.go
// Ready: https://github.com/cloudnative-pg/cloudnative-pg/blob/main/pkg/resources/status/transactions.go
// Hibernation: https://cloudnative-pg.io/documentation/current/declarative_hibernation/
func cluster(o object) readiness.Result {
	const path = "status.phase"
	phase, why := condition.Text(o.status, "phase"), condition.Text(o.status, "phaseReason")
	if hibernation := o.condition("cnpg.io/hibernation"); hibernation.holds() {
		return inProgress("Hibernated", cmp.Or(hibernation.message, "the database is hibernated"), hibernation.path)
	}
	switch {
	case phase == "":
		return inProgress("PhaseMissing", "the status has no phase yet: CloudNativePG hasn't handled the object", path)
	case isStuck(phase):
		return failed("ClusterStuck", sentence(phase, why), path)
	case phase != healthyPhase:
		return inProgress("ClusterNotHealthy", sentence(phase, why), path)
	}
	wanted, _ := condition.Integer(o.spec["instances"])
	if count, _ := condition.Integer(o.status["readyInstances"]); count < max(wanted, 1) {
		return inProgress("InstancesMissing", fmt.Sprintf("%d of %d instances are ready", count, max(wanted, 1)), "status.readyInstances", "spec.instances")
	}
	image, runs := condition.Text(o.spec, "imageName"), condition.Text(o.status, "image")
	if image != "" && runs != "" && image != runs {
		return inProgress("ImageDiffers", fmt.Sprintf("image %.128s runs, %.128s is wanted", runs, image), "status.image", "spec.imageName")
	}
	if isReady := o.condition("Ready"); isReady.present && !isReady.holds() {
		return isReady.waits()
	}
	return ready("ClusterHealthy", phase, path)
}

func isStuck(phase string) bool {
	for _, stuck := range stuckPhases {
		if phase == stuck {
			return true
		}
	}
	return false
}

// sentence returns the phase, and its reason unless the phase says the same.
func sentence(phase, reason string) string {
	if reason == "" || strings.Contains(phase, reason) {
		return phase
	}
	return phase + ": " + reason
}
