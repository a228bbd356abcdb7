package known_test

import (
	"testing"

	"github.com/operkit/operkit/status/readiness"
)

func TestCluster(t *testing.T) {
	t.Parallel()
	const spec = `{"instances":3,"imageName":"postgres:17"}`
	phase := func(phase, reason, more string) string {
		return `{"phase":"` + phase + `","phaseReason":"` + reason + `"` + more + "}"
	}
	const healthy, full = "Cluster in healthy state", `,"instances":3,"readyInstances":3,"image":"postgres:17"`
	yes := `,"conditions":[` + conditionOf("Ready", "True", "ClusterIsReady", "Cluster is Ready", 0) + "]"
	run(t, byName, "postgresql.cnpg.io/v1", "Cluster", []cell{
		{name: "known 5: without a status", spec: spec, ageless: true, state: readiness.InProgress, reason: "PhaseMissing", message: "CloudNativePG hasn't handled the object"},
		{name: "known 5: conditions without a phase", spec: spec, status: `{"conditions":[]}`, ageless: true, state: readiness.InProgress, reason: "PhaseMissing"},
		{name: "known 5: the first instance starts", spec: spec, status: phase("Setting up primary", "Creating primary instance it-1", ""), ageless: true, state: readiness.InProgress, reason: "ClusterNotHealthy", message: "Setting up primary: Creating primary instance it-1"},
		{name: "known 5: a failover is work in progress", spec: spec, status: phase("Failing over", "", full), ageless: true, state: readiness.InProgress, reason: "ClusterNotHealthy", message: "Failing over"},
		{name: "known 5: a phase of a later release", status: phase("Doing something new", "", full), ageless: true, state: readiness.InProgress, reason: "ClusterNotHealthy", message: "something new"},
		{name: "known 5: healthy", spec: spec, status: phase(healthy, "", full+yes), ageless: true, state: readiness.Ready, reason: "ClusterHealthy", message: healthy},
		{name: "known 5: healthy in an older release, without conditions", spec: spec, status: phase(healthy, "", full), ageless: true, state: readiness.Ready, reason: "ClusterHealthy"},
		{name: "known 5: healthy by its phase, not yet by its condition", spec: spec, status: phase(healthy, "", full+`,"conditions":[`+conditionOf("Ready", "False", "ClusterIsNotReady", "Cluster Is Not Ready", 0)+"]"), ageless: true, state: readiness.InProgress, reason: "ClusterIsNotReady"},
		{name: "known 2: the spec wants more instances than the status has", spec: `{"instances":5}`, status: phase(healthy, "", full+yes), ageless: true, state: readiness.InProgress, reason: "InstancesMissing", message: "3 of 5 instances are ready"},
		{name: "known 5: no instance is ready", spec: `{}`, status: phase(healthy, "", yes), ageless: true, state: readiness.InProgress, reason: "InstancesMissing", message: "0 of 1"},
		{name: "known 2: the spec wants another image than the status has", spec: `{"instances":3,"imageName":"postgres:18"}`, status: phase(healthy, "", full+yes), ageless: true, state: readiness.InProgress, reason: "ImageDiffers", message: "image postgres:17 runs, postgres:18 is wanted"},
		{name: "known 5: hibernated", spec: spec, status: phase(healthy, "", full+`,"conditions":[`+conditionOf("cnpg.io/hibernation", "True", "Hibernated", "Cluster has been hibernated", 0)+"]"), ageless: true, state: readiness.InProgress, reason: "Hibernated", message: "has been hibernated"},
		{name: "known 5: a person has to act", spec: spec, status: phase("Waiting for user action", "User must issue a supervised switchover", full), ageless: true, state: readiness.Failed, reason: "ClusterStuck", message: "supervised switchover"},
		{name: "known 5: unrecoverable", spec: spec, status: phase("Cluster is unrecoverable and needs manual intervention", "", ""), ageless: true, state: readiness.Failed, reason: "ClusterStuck", message: "unrecoverable"},
		{name: "known 5: unrecoverable in older words", status: phase("Cluster is in an unrecoverable state, needs manual intervention", "", ""), ageless: true, state: readiness.Failed, reason: "ClusterStuck"},
		{name: "known 5: objects can't be created", status: phase("Unable to create required cluster objects", "forbidden: services", ""), ageless: true, state: readiness.Failed, reason: "ClusterStuck", message: "forbidden: services"},
		{name: "known 5: no image in the catalog", status: phase("Cluster has incomplete or invalid image catalog", "", ""), ageless: true, state: readiness.Failed, reason: "ClusterStuck"},
		{name: "known 5: a plugin that nobody knows", status: phase("Cluster cannot proceed to reconciliation due to an unknown plugin being required", "", ""), ageless: true, state: readiness.Failed, reason: "ClusterStuck"},
		{name: "known 5: a plugin that fails", status: phase("Cluster cannot proceed to reconciliation due to an error while interacting with plugins", "", ""), ageless: true, state: readiness.Failed, reason: "ClusterStuck"},
		{name: "known 5: no binary for the architecture", status: phase("Cluster cannot execute instance online upgrade due to missing architecture binary", "", ""), ageless: true, state: readiness.Failed, reason: "ClusterStuck"},
	})
}
