package dryrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// unsupported returns an error for each value in an object of a built-in kind that its types allow but a server
// refuses: values that aren't in a field's list of allowed values, keys of ConfigMaps and Secrets that can't be file
// names, and ports out of range.
func (c *Cluster) unsupported(d *declaration, obj *unstructured.Unstructured) field.ErrorList {
	object, err := d.object()
	if err != nil || !d.strict || d.content != nil {
		return nil
	}
	var a allower
	for name, value := range obj.Object {
		if name != "metadata" && name != "status" {
			eachField(object.Schema, map[string]any{name: value}, object.TypeRef, nil, a.field)
		}
	}
	if kind := d.kind.GroupKind(); kind.Group == "" && (kind.Kind == "ConfigMap" || kind.Kind == "Secret") {
		for _, name := range []string{"data", "binaryData"} {
			for _, key := range slices.Sorted(maps.Keys(mapAt(obj.Object, name))) {
				for _, problem := range validation.IsConfigMapKey(key) {
					a.found = append(a.found, field.Invalid(field.NewPath(name).Key(key), key, problem))
				}
			}
		}
	}
	slices.SortFunc(a.found, func(x, y *field.Error) int { return strings.Compare(x.Field, y.Field) })
	return a.found
}

// allower collects values that a server refuses.
type allower struct{ found field.ErrorList }

func (a *allower) field(f typedField) (below bool) {
	if f.holder.NamedType == nil {
		return true
	}
	kind := strings.TrimPrefix(*f.holder.NamedType, "io.k8s.api.")
	if words := allowedValues[kind][f.name]; words != "" {
		where := f.path()
		if slices.Contains(asWhole, kind) {
			where = f.at
		}
		a.words(f.content[f.name], strings.Fields(words), where)
	}
	if slices.Contains(portFields[kind], f.name) {
		a.port(f.content[f.name], f.path())
	}
	return true
}

func (a *allower) words(value any, words []string, at *field.Path) {
	if list, ok := value.([]any); ok {
		for i, item := range list {
			place := at.Index(i)
			if slices.Contains(wholeLists, at.String()[strings.LastIndex(at.String(), ".")+1:]) {
				place = at
			}
			a.words(item, words, place)
		}
		return
	}
	if word, ok := value.(string); ok && word != "" && !slices.Contains(words, word) {
		a.found = append(a.found, field.NotSupported(at, word, words))
	}
}

// When a server refuses a value, it usually names the field or list item. For the types in asWhole it names the object
// that has the field, and for the lists in wholeLists the list.
var asWhole = []string{"apps.v1.DaemonSetUpdateStrategy", "apps.v1.DeploymentStrategy"}

var wholeLists = []string{"accessModes", "volumeLifecycleModes"}

// portFields are fields that hold a port number, by type.
var portFields = map[string][]string{
	"core.v1.ContainerPort": {"containerPort"},
	"core.v1.ServicePort":   {"port"},
}

func (a *allower) port(value any, at *field.Path) {
	port, ok := value.(int64)
	if !ok {
		return
	}
	for _, problem := range validation.IsValidPortNum(int(port)) {
		a.found = append(a.found, field.Invalid(at, fmt.Sprint(port), problem))
	}
}

// allowedValues are the values that a server accepts for enumerated fields, by type, then by field. Most of them come
// from its OpenAPI document.
var allowedValues = map[string]map[string]string{
	"admissionregistration.v1.MatchResources": {"matchPolicy": "Equivalent Exact"},
	"admissionregistration.v1.MutatingAdmissionPolicySpec": {
		"failurePolicy":      "Fail Ignore",
		"reinvocationPolicy": "IfNeeded Never",
	},
	"admissionregistration.v1.MutatingWebhook": {
		"failurePolicy":      "Fail Ignore",
		"matchPolicy":        "Equivalent Exact",
		"reinvocationPolicy": "IfNeeded Never",
		"sideEffects":        "None NoneOnDryRun Some Unknown",
	},
	"admissionregistration.v1.Mutation": {"patchType": "ApplyConfiguration JSONPatch"},
	"admissionregistration.v1.NamedRuleWithOperations": {
		"operations": "* CONNECT CREATE DELETE UPDATE",
		"scope":      "* Cluster Namespaced",
	},
	"admissionregistration.v1.RuleWithOperations": {
		"operations": "* CONNECT CREATE DELETE UPDATE",
		"scope":      "* Cluster Namespaced",
	},
	"admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec": {
		"validationActions": "Audit Deny Warn",
	},
	"admissionregistration.v1.ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail Ignore"},
	"admissionregistration.v1.ValidatingWebhook": {
		"failurePolicy": "Fail Ignore",
		"matchPolicy":   "Equivalent Exact",
		"sideEffects":   "None NoneOnDryRun Some Unknown",
	},
	"apps.v1.DaemonSetUpdateStrategy": {"type": "OnDelete RollingUpdate"},
	"apps.v1.DeploymentStrategy":      {"type": "Recreate RollingUpdate"},
	"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": {
		"whenDeleted": "Delete Retain",
		"whenScaled":  "Delete Retain",
	},
	"apps.v1.StatefulSetSpec":           {"podManagementPolicy": "OrderedReady Parallel"},
	"apps.v1.StatefulSetUpdateStrategy": {"type": "OnDelete RollingUpdate"},
	"autoscaling.v2.MetricSpec":         {"type": "ContainerResource External Object Pods Resource"},
	"batch.v1.CronJobSpec":              {"concurrencyPolicy": "Allow Forbid Replace"},
	"batch.v1.JobSpec": {
		"completionMode":       "Indexed NonIndexed",
		"podReplacementPolicy": "Failed TerminatingOrFailed",
	},
	"batch.v1.PodFailurePolicyOnExitCodesRequirement": {"operator": "In NotIn"},
	"batch.v1.PodFailurePolicyOnPodConditionsPattern": {"status": "False True Unknown"},
	"batch.v1.PodFailurePolicyRule":                   {"action": "Count FailIndex FailJob Ignore"},
	"core.v1.AppArmorProfile":                         {"type": "Localhost RuntimeDefault Unconfined"},
	"core.v1.AzureDiskVolumeSource": {
		"cachingMode": "None ReadOnly ReadWrite",
		"kind":        "Dedicated Managed Shared",
	},
	"core.v1.Container": {
		"imagePullPolicy":          "Always IfNotPresent Never",
		"terminationMessagePolicy": "FallbackToLogsOnError File",
	},
	"core.v1.ContainerPort": {"protocol": "SCTP TCP UDP"},
	"core.v1.EndpointPort":  {"protocol": "SCTP TCP UDP"},
	"core.v1.EphemeralContainer": {
		"imagePullPolicy":          "Always IfNotPresent Never",
		"terminationMessagePolicy": "FallbackToLogsOnError File",
	},
	"core.v1.HTTPGetAction": {"scheme": "HTTP HTTPS"},
	"core.v1.HostPathVolumeSource": {
		"type": "BlockDevice CharDevice Directory DirectoryOrCreate File FileOrCreate Socket",
	},
	"core.v1.ImageVolumeSource":       {"pullPolicy": "Always IfNotPresent Never"},
	"core.v1.NodeSelectorRequirement": {"operator": "DoesNotExist Exists Gt In Lt NotIn"},
	"core.v1.PersistentVolumeClaimSpec": {
		"accessModes": "ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod",
		"volumeMode":  "Block Filesystem",
	},
	"core.v1.PersistentVolumeSpec": {
		"accessModes":                   "ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod",
		"persistentVolumeReclaimPolicy": "Delete Recycle Retain",
		"volumeMode":                    "Block Filesystem",
	},
	"core.v1.PodSecurityContext": {
		"fsGroupChangePolicy":      "Always OnRootMismatch",
		"supplementalGroupsPolicy": "Merge Strict",
	},
	"core.v1.PodSpec": {
		"dnsPolicy":        "ClusterFirst ClusterFirstWithHostNet Default None",
		"preemptionPolicy": "Never PreemptLowerPriority",
		"restartPolicy":    "Always Never OnFailure",
	},
	"core.v1.ResourceQuotaSpec": {
		"scopes": "BestEffort CrossNamespacePodAffinity NotBestEffort " +
			"NotTerminating PriorityClass Terminating VolumeAttributesClass",
	},
	"core.v1.ScopedResourceSelectorRequirement": {
		"operator": "DoesNotExist Exists In NotIn",
		"scopeName": "BestEffort CrossNamespacePodAffinity NotBestEffort " +
			"NotTerminating PriorityClass Terminating VolumeAttributesClass",
	},
	"core.v1.SeccompProfile":  {"type": "Localhost RuntimeDefault Unconfined"},
	"core.v1.SecurityContext": {"procMount": "Default Unmasked"},
	"core.v1.ServicePort":     {"protocol": "SCTP TCP UDP"},
	"core.v1.ServiceSpec": {
		"externalTrafficPolicy": "Cluster Local",
		"internalTrafficPolicy": "Cluster Local",
		"ipFamilies":            "IPv4 IPv6",
		"ipFamilyPolicy":        "PreferDualStack RequireDualStack SingleStack",
		"sessionAffinity":       "ClientIP None",
		"type":                  "ClusterIP ExternalName LoadBalancer NodePort",
	},
	"core.v1.Taint": {"effect": "NoExecute NoSchedule PreferNoSchedule"},
	"core.v1.Toleration": {
		"effect":   "NoExecute NoSchedule PreferNoSchedule",
		"operator": "Equal Exists",
	},
	"core.v1.TopologySpreadConstraint": {
		"nodeAffinityPolicy": "Honor Ignore",
		"nodeTaintsPolicy":   "Honor Ignore",
		"whenUnsatisfiable":  "DoNotSchedule ScheduleAnyway",
	},
	"core.v1.VolumeMount":                    {"mountPropagation": "Bidirectional HostToContainer None"},
	"discovery.v1.EndpointPort":              {"protocol": "SCTP TCP UDP"},
	"discovery.v1.EndpointSlice":             {"addressType": "FQDN IPv4 IPv6"},
	"flowcontrol.v1.FlowDistinguisherMethod": {"type": "ByNamespace ByUser"},
	"io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement": {
		"operator": "DoesNotExist Exists In NotIn",
	},
	"networking.v1.HTTPIngressPath":                 {"pathType": "Exact ImplementationSpecific Prefix"},
	"networking.v1.IngressClassParametersReference": {"scope": "Cluster Namespace"},
	"networking.v1.NetworkPolicyPort":               {"protocol": "SCTP TCP UDP"},
	"networking.v1.NetworkPolicySpec":               {"policyTypes": "Egress Ingress"},
	"policy.v1.PodDisruptionBudgetSpec":             {"unhealthyPodEvictionPolicy": "AlwaysAllow IfHealthyBudget"},
	"rbac.v1.RoleRef":                               {"apiGroup": "rbac.authorization.k8s.io"},
	"rbac.v1.Subject": {
		"apiGroup": "rbac.authorization.k8s.io",
		"kind":     "Group ServiceAccount User",
	},
	"resource.v1.DeviceAllocationConfiguration": {"source": "FromClaim FromClass"},
	"resource.v1.DeviceSubRequest":              {"allocationMode": "All ExactCount"},
	"resource.v1.DeviceTaint":                   {"effect": "NoExecute NoSchedule None"},
	"resource.v1.DeviceToleration": {
		"effect":   "NoExecute NoSchedule None",
		"operator": "Equal Exists",
	},
	"resource.v1.ExactDeviceRequest": {"allocationMode": "All ExactCount"},
	"scheduling.v1.PriorityClass":    {"preemptionPolicy": "Never PreemptLowerPriority"},
	"storage.v1.CSIDriverSpec": {
		"fsGroupPolicy":        "File None ReadWriteOnceWithFSType",
		"volumeLifecycleModes": "Ephemeral Persistent",
	},
	"storage.v1.StorageClass": {
		"reclaimPolicy":     "Delete Retain",
		"volumeBindingMode": "Immediate WaitForFirstConsumer",
	},
}
