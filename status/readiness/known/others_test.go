package known_test

import (
	"testing"

	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestApplication(t *testing.T) {
	t.Parallel()
	const source = `"source":{"repoURL":"https://example.com/shop.git","path":"deploy","targetRevision":"v1"},"destination":{"namespace":"shop","name":"here"}`
	const spec = "{" + source + "}"
	// Argo CD resolves the name of the destination.
	const compared = `"comparedTo":{"source":{"repoURL":"https://example.com/shop.git","path":"deploy","targetRevision":"v1"},"destination":{"namespace":"shop","server":"https://kubernetes.default.svc"}}`
	state := func(sync, health, more string) string {
		return `{"sync":{"status":"` + sync + `",` + compared + `},"health":{"status":"` + health + `"}` + more + "}"
	}
	run(t, byName, "argoproj.io/v1alpha1", "Application", []cell{
		{name: "known 8: without a status", spec: spec, ageless: true, state: readiness.InProgress, reason: "NotCompared", message: "Argo CD hasn't handled the object"},
		{name: "known 2: synced to the former revision", spec: `{"source":{"repoURL":"https://example.com/shop.git","path":"deploy","targetRevision":"v2"},"destination":{"namespace":"shop"}}`, status: state("Synced", "Healthy", ""), ageless: true, state: readiness.InProgress, reason: "NotCompared", message: "earlier source"},
		{name: "known 2: synced to the former namespace", spec: `{"source":{"repoURL":"https://example.com/shop.git","path":"deploy","targetRevision":"v1"},"destination":{"namespace":"other"}}`, status: state("Synced", "Healthy", ""), ageless: true, state: readiness.InProgress, reason: "NotCompared"},
		{name: "known 2: synced to one source of two", spec: `{"sources":[{"repoURL":"a"},{"repoURL":"b"}]}`, status: `{"sync":{"status":"Synced","comparedTo":{"sources":[{"repoURL":"a"}]}},"health":{"status":"Healthy"}}`, ageless: true, state: readiness.InProgress, reason: "NotCompared"},
		{name: "known 8: out of sync", spec: spec, status: state("OutOfSync", "Healthy", ""), ageless: true, state: readiness.InProgress, reason: "NotSynced", message: "OutOfSync: it waits for a sync"},
		{name: "known 8: a sync runs", spec: spec, status: state("OutOfSync", "Missing", `,"operationState":{"phase":"Running","message":"waiting for healthy state of Job migrate"}`), ageless: true, state: readiness.InProgress, reason: "OperationRunning", message: "Job migrate"},
		{name: "known 8: synced, not healthy yet", spec: spec, status: state("Synced", "Progressing", ""), ageless: true, state: readiness.InProgress, reason: "ApplicationNotHealthy", message: "the health is Progressing"},
		{name: "known 8: synced, suspended", spec: spec, status: state("Synced", "Suspended", ""), ageless: true, state: readiness.InProgress, reason: "ApplicationNotHealthy", message: "Suspended"},
		{name: "known 8: synced, of unknown health", spec: spec, status: `{"sync":{"status":"Synced"}}`, ageless: true, state: readiness.InProgress, reason: "ApplicationNotHealthy", message: "not known yet"},
		{name: "known 8: synced and healthy", spec: spec, status: state("Synced", "Healthy", `,"operationState":{"phase":"Succeeded"}`), ageless: true, state: readiness.Ready, reason: "ApplicationHealthy"},
		{name: "known 8: synced and healthy, with a warning", spec: spec, status: state("Synced", "Healthy", `,"conditions":[{"type":"SharedResourceWarning","message":"two own it"}]`), ageless: true, state: readiness.Ready, reason: "ApplicationHealthy"},
		{name: "known 8: several sources", spec: `{"sources":[{"repoURL":"a"},{"repoURL":"b"}]}`, status: `{"sync":{"status":"Synced","comparedTo":{"sources":[{"repoURL":"a"},{"repoURL":"b"}]}},"health":{"status":"Healthy"}}`, ageless: true, state: readiness.Ready, reason: "ApplicationHealthy"},
		{name: "known 8: degraded", spec: spec, status: state("Synced", "Degraded", ""), ageless: true, state: readiness.Failed, reason: "ApplicationDegraded", message: "Degraded"},
		{name: "known 8: the sync failed", spec: spec, status: state("OutOfSync", "Healthy", `,"operationState":{"phase":"Failed","message":"Job migrate failed"}`), ageless: true, state: readiness.Failed, reason: "OperationFailed", message: "Job migrate failed"},
		{name: "known 8: a former sync failed, and all is synced", spec: spec, status: state("Synced", "Healthy", `,"operationState":{"phase":"Error"}`), ageless: true, state: readiness.Ready, reason: "ApplicationHealthy"},
		{name: "known 8: the repository can't be read", spec: spec, status: state("Unknown", "Healthy", `,"conditions":[{"type":"ComparisonError","message":"repository not found"}]`), ageless: true, state: readiness.Failed, reason: "ComparisonError", message: "repository not found"},
	})
}

func TestFlux(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ apiVersion, kind, done, broken string }{
		{"kustomize.toolkit.fluxcd.io/v1", "Kustomization", "ReconciliationSucceeded", "BuildFailed"},
		{"helm.toolkit.fluxcd.io/v2", "HelmRelease", "InstallSucceeded", "InstallFailed"},
	} {
		name := func(what string) string { return "known 9: " + row.kind + " " + what }
		const seen = `"observedGeneration":2,`
		run(t, byName, row.apiVersion, row.kind, []cell{
			{name: name("without a status"), ageless: true, state: readiness.InProgress, reason: "ConditionMissing", message: "Flux hasn't handled the object"},
			{name: name("with the default of its definition"), status: `{"observedGeneration":-1}`, state: readiness.InProgress, reason: "LatestGenerationNotObserved"},
			{name: "known 2: " + row.kind + " ready for an older generation", status: conditions(`"observedGeneration":1,`, old("Ready", "True", row.done)), state: readiness.InProgress, reason: "LatestGenerationNotObserved"},
			{name: name("in progress"), status: conditions(seen, is("Reconciling", "True", "Progressing", "Running health checks"), is("Ready", "Unknown", "Progressing", "")), state: readiness.InProgress, reason: "Progressing", message: "Running health checks"},
			{name: name("waits for another one"), status: conditions(seen, is("Ready", "False", "DependencyNotReady", "dependency 'flux-system/crds' is not ready")), state: readiness.InProgress, reason: "DependencyNotReady", message: "flux-system/crds"},
			{name: name("waits for its source"), status: conditions(seen, is("Ready", "False", "ArtifactFailed", "Source artifact not found, retrying in 30s")), state: readiness.InProgress, reason: "ArtifactFailed", message: "artifact not found"},
			{name: name("ready"), status: conditions(seen, is("Ready", "True", row.done, "Applied revision: main")), state: readiness.Ready, reason: row.done, message: "Applied revision"},
			{name: name("ready and suspended"), spec: `{"suspend":true}`, status: conditions(seen, is("Ready", "True", row.done, "done")), state: readiness.Ready, reason: row.done, remark: true, message: "done: it is suspended"},
			{name: name("suspended before it was ready"), spec: `{"suspend":true}`, ageless: true, state: readiness.InProgress, reason: "ConditionMissing", message: "it is suspended (spec.suspend), so Flux doesn't work on it"},
			{name: name("failed"), status: conditions(seen, is("Ready", "False", row.broken, "no such file")), state: readiness.Failed, reason: row.broken, message: "no such file"},
			{name: name("failed and tries again"), status: conditions(seen, is("Reconciling", "True", "ProgressingWithRetry", "Detecting drift"), is("Ready", "False", row.broken, "no such file")), state: readiness.InProgress, reason: "ProgressingWithRetry", message: "no such file"},
			{name: name("given up"), status: conditions(seen, is("Stalled", "True", "RetriesExceeded", "3 tries"), is("Ready", "False", row.broken, "no such file")), state: readiness.Failed, reason: "RetriesExceeded", message: "3 tries"},
		})
	}
}

func TestKnativeService(t *testing.T) {
	t.Parallel()
	const seen = `"observedGeneration":2,`
	ready := conditionOf("Ready", "True", "", "", 0)
	run(t, byName, "serving.knative.dev/v1", "Service", []cell{
		{name: "known 10: without a status", ageless: true, state: readiness.InProgress, reason: "ConditionMissing", message: "Knative hasn't handled the object"},
		{name: "known 2: ready for an older generation", status: conditions(`"observedGeneration":1,`, ready), state: readiness.InProgress, reason: "LatestGenerationNotObserved"},
		{name: "known 10: in progress", status: conditions(seen, conditionOf("Ready", "Unknown", "IngressNotConfigured", "Ingress has not yet been reconciled.", 0)), state: readiness.InProgress, reason: "IngressNotConfigured", message: "Ingress has not yet"},
		{name: "known 10: ready", status: conditions(seen, ready, conditionOf("RoutesReady", "True", "", "", 0)), state: readiness.Ready, reason: "Ready", message: "the condition Ready is True"},
		{name: "known 10: failed", status: conditions(seen, conditionOf("Ready", "False", "RevisionFailed", "Unable to fetch image", 0)), state: readiness.Failed, reason: "RevisionFailed", message: "Unable to fetch image"},
	})
}

func TestManaged(t *testing.T) {
	t.Parallel()
	checker := readiness.Checker{Registry: known.Managed(schema.GroupKind{Group: "s3.aws.upbound.io", Kind: "Bucket"})}
	synced, ready := is("Synced", "True", "ReconcileSuccess", ""), is("Ready", "True", "Available", "")
	run(t, checker, "s3.aws.upbound.io/v1beta1", "Bucket", []cell{
		{name: "known 11: without a status", ageless: true, state: readiness.InProgress, reason: "ConditionMissing", message: "Crossplane hasn't handled the object"},
		{name: "known 2: synced for an older generation", status: conditions("", old("Synced", "True", "ReconcileSuccess"), ready), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "known 11: being created", status: conditions("", synced, is("Ready", "False", "Creating", "")), state: readiness.InProgress, reason: "Creating"},
		{name: "known 11: not available yet", status: conditions("", synced, is("Ready", "False", "Unavailable", "state is modifying")), state: readiness.InProgress, reason: "Unavailable", message: "modifying"},
		{name: "known 11: ready", status: conditions("", synced, ready, is("LastAsyncOperation", "True", "Success", "")), state: readiness.Ready, reason: "Available"},
		{name: "known 11: ready before it was synced", status: conditions("", ready), state: readiness.InProgress, reason: "ConditionMissing"},
		{name: "known 11: paused", status: conditions("", ready, is("Synced", "False", "ReconcilePaused", "")), state: readiness.InProgress, reason: "ReconcilePaused", message: "the resource is paused"},
		{name: "known 11: an error", status: conditions("", ready, is("Synced", "False", "ReconcileError", "create failed: AccessDenied")), state: readiness.Failed, reason: "ReconcileError", message: "AccessDenied"},
		{name: "known 11: an error in the background", status: conditions("", synced, is("Ready", "False", "Creating", ""), is("LastAsyncOperation", "False", "AsyncCreateFailure", "quota exceeded")), state: readiness.Failed, reason: "AsyncCreateFailure", message: "quota exceeded"},
		{name: "known 11: conditions of a release without observed generations", status: conditions("", conditionOf("Synced", "True", "ReconcileSuccess", "", 0), conditionOf("Ready", "True", "Available", "", 0)), ageless: true, state: readiness.Ready, reason: "Available"},
	})
}
