package known

import (
	"time"

	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rule judges an object that none of the checks for all kinds has decided.
type rule func(o object) readiness.Result

// row is the rule of a kind.
type row struct {
	group, kind string
	// controller is who writes the status, as messages name it.
	controller string
	rule       rule
}

// rows are the rules of the named kinds, of all versions. The rules' comments have their sources.
var rows = []row{
	{"cert-manager.io", "Certificate", "cert-manager", certificate},
	{"cert-manager.io", "Issuer", "cert-manager", issuer},
	{"cert-manager.io", "ClusterIssuer", "cert-manager", issuer},
	{"postgresql.cnpg.io", "Cluster", "CloudNativePG", cluster},
	{gatewayGroup, "Gateway", "the Gateway's controller", gateway},
	{gatewayGroup, "HTTPRoute", "the Gateway's controller", route},
	{"argoproj.io", "Application", "Argo CD", application},
	{"kustomize.toolkit.fluxcd.io", "Kustomization", "Flux", flux},
	{"helm.toolkit.fluxcd.io", "HelmRelease", "Flux", flux},
	{"serving.knative.dev", "Service", "Knative", service},
}

// Kinds returns a Registry with the rules for: Certificate, Issuer and ClusterIssuer of cert-manager, Cluster of
// CloudNativePG, Gateway and HTTPRoute of the Gateway API, Application of Argo CD, Kustomization and HelmRelease of
// Flux, and Service of Knative. Each call returns a new one, which the caller may change. To judge one of these kinds
// as if it weren't known, set its readiness.Expectation to the zero value.
func Kinds() readiness.Registry {
	registry := readiness.Registry{}
	for _, row := range rows {
		registry[schema.GroupKind{Group: row.group, Kind: row.kind}] = row.expectation()
	}
	return registry
}

func (r row) expectation() readiness.Expectation {
	return readiness.Expectation{Func: func(_ time.Time, document map[string]any) readiness.Result {
		return r.rule(read(document, r.controller))
	}}
}
