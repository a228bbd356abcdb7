package known

import "github.com/operkit/operkit/status/readiness"

// flux is the row of Flux's Kustomization and HelmRelease. Before the first handling, the observed generation is -1. While
// Flux works, and when it tries again after a failure, Reconciling is True, so that such an object is InProgress with
// the message of the failure. Failed are those that Flux gives up (Stalled), and those whose Ready is False without
// Reconciling.
//
// Conditions: https://github.com/fluxcd/pkg/blob/main/apis/meta/conditions.go
// Kustomization: https://github.com/fluxcd/kustomize-controller/blob/main/api/v1/condition_types.go
// HelmRelease: https://github.com/fluxcd/helm-controller/blob/main/api/v2/condition_types.go
func flux(o object) readiness.Result {
	isReady := o.condition("Ready")
	suspended, _ := o.spec["suspend"].(bool)
	if isReady.holds() {
		result := isReady.done()
		if suspended {
			result.Remark = true
			result.Message += ": it is suspended (spec.suspend)"
		}
		return result
	}
	result := isReady.unless("Progressing", "DependencyNotReady", "ArtifactFailed", "SourceNotReady", "HelmChartNotReady", "Suspended")
	if suspended {
		result.Message += ": it is suspended (spec.suspend), so Flux doesn't work on it"
	}
	return result
}
