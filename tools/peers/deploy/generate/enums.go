package main

import (
	"reflect"
	"slices"
	"strings"
)

// constantsChecked are fields whose Go types don't have the marker +enum, although a server accepts only the constants
// of these types.
var constantsChecked = []string{
	"io.k8s.api.admissionregistration.v1.NamedRuleWithOperations.scope",
	"io.k8s.api.admissionregistration.v1.RuleWithOperations.scope",
	"io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted",
	"io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled",
	"io.k8s.api.autoscaling.v2.MetricSpec.type",
	"io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern.status",
	"io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod.type",
	"io.k8s.api.storage.v1.CSIDriverSpec.fsGroupPolicy",
	"io.k8s.api.storage.v1.CSIDriverSpec.volumeLifecycleModes",
	"io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement.operator",
}

// withoutConstants are fields of the Go type string for which a server accepts only these values.
var withoutConstants = map[string][]string{
	"io.k8s.api.networking.v1.IngressClassParametersReference.scope": {"Cluster", "Namespace"},
	"io.k8s.api.rbac.v1.RoleRef.apiGroup":                            {"rbac.authorization.k8s.io"},
	"io.k8s.api.rbac.v1.Subject.apiGroup":                            {"rbac.authorization.k8s.io"},
	"io.k8s.api.rbac.v1.Subject.kind":                                {"Group", "ServiceAccount", "User"},
}

// refused are constants of a field's type that a server refuses: it needs a feature gate for them, or the field accepts
// fewer of them than other fields of the type.
var refused = map[string][]string{
	"io.k8s.api.apps.v1.StatefulSetUpdateStrategy.type": {"Recreate"},
	"io.k8s.api.core.v1.Toleration.operator":            {"Gt", "Lt"},
	"io.k8s.api.storage.v1.StorageClass.reclaimPolicy":  {"Recycle"},
}

// unchecked are fields that are left out, since their values contain spaces, or since the server needs a feature gate to
// check them.
var unchecked = []string{
	"io.k8s.api.certificates.v1.CertificateSigningRequestSpec.usages",
	"io.k8s.api.core.v1.GRPCAction.mode",
	"io.k8s.api.core.v1.HTTPGetAction.protocol",
	"io.k8s.api.core.v1.Lifecycle.stopSignal",
	"io.k8s.api.resource.v1.ResourceSliceSpec.skipNodeOperations",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule.reason",
}

// statusEnds are the ends of the names of types that only a status contains. It isn't checked.
var statusEnds = []string{"Status", "HealthCondition", "AllocationResult"}

// enums returns the values that a server accepts for the fields of a struct, in ascending order, by the field's name in
// JSON. It leaves out fields that accept any value. An empty value is the same as an absent one, and is left out too.
func (s *sources) enums(name string, t reflect.Type) (map[string][]string, error) {
	found := map[string][]string{}
	if slices.ContainsFunc(statusEnds, func(end string) bool { return strings.HasSuffix(name, end) }) {
		return found, nil
	}
	for _, field := range fieldsOf(t) {
		path := name + "." + field.name
		if values := withoutConstants[path]; values != nil {
			found[field.name] = values
			continue
		}
		goType := field.goType
		for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice {
			goType = goType.Elem()
		}
		if goType.Kind() != reflect.String || goType.PkgPath() == "" || slices.Contains(unchecked, path) {
			continue
		}
		declared, err := s.declaration(goType)
		if err != nil {
			return nil, err
		}
		if !declared.has("+enum") && !slices.Contains(constantsChecked, path) {
			continue
		}
		found[field.name] = slices.DeleteFunc(declared.constants, func(value string) bool {
			return value == "" || slices.Contains(refused[path], value)
		})
	}
	return found, nil
}
