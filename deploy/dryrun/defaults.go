package dryrun

import "strings"

// serverDefaults are the defaults of immutable fields, by type, then by field. A function computes the default from the
// other fields of the object that contains the field, and returns nil if there is none. The defaults are only used to
// compare values. They aren't set in objects in memory.
var serverDefaults = map[string]map[string]any{
	"apps.v1.StatefulSetSpec":                         {"podManagementPolicy": "OrderedReady"},
	"batch.v1.JobSpec":                                {"completionMode": "NonIndexed", "completions": defaultCompletions},
	"batch.v1.PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
	"core.v1.PersistentVolumeClaimSpec":               {"volumeMode": "Filesystem"},
	"core.v1.PersistentVolumeClaimStatus":             {"phase": "Pending"},
	"core.v1.PersistentVolumeSpec":                    {"volumeMode": "Filesystem"},
	"core.v1.Secret":                                  {"type": "Opaque"},
	"rbac.v1.RoleRef":                                 {"apiGroup": "rbac.authorization.k8s.io"},
	"resource.v1.DeviceSubRequest":                    {"allocationMode": "ExactCount", "count": defaultCount},
	"resource.v1.ExactDeviceRequest":                  {"allocationMode": "ExactCount", "count": defaultCount},
	"resource.v1.DeviceToleration":                    {"operator": "Equal"},
	"scheduling.v1.PriorityClass":                     {"preemptionPolicy": "PreemptLowerPriority"},
	"storage.v1.StorageClass":                         {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},

	"storage.v1.CSIDriverSpec": {"attachRequired": true, "volumeLifecycleModes": []any{"Persistent"}},

	"core.v1.PodSpec": {
		"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
		"securityContext": map[string]any{}, "terminationGracePeriodSeconds": int64(30),
	},
	"core.v1.Container":           containerDefaults,
	"core.v1.EphemeralContainer":  containerDefaults,
	"core.v1.ContainerPort":       {"protocol": "TCP"},
	"core.v1.FileKeySelector":     {"optional": false},
	"core.v1.GRPCAction":          {"service": ""},
	"core.v1.HTTPGetAction":       {"path": "/", "scheme": "HTTP"},
	"core.v1.ObjectFieldSelector": {"apiVersion": "v1"},
	"core.v1.Probe": {
		"timeoutSeconds": int64(1), "periodSeconds": int64(10), "successThreshold": int64(1), "failureThreshold": int64(3),
	},

	"core.v1.Volume":                        {"emptyDir": defaultVolume},
	"core.v1.AzureDiskVolumeSource":         azureDiskDefaults,
	"core.v1.ConfigMapVolumeSource":         {"defaultMode": int64(0o644)},
	"core.v1.DownwardAPIVolumeSource":       {"defaultMode": int64(0o644)},
	"core.v1.HostPathVolumeSource":          {"type": ""},
	"core.v1.ISCSIPersistentVolumeSource":   {"iscsiInterface": "default"},
	"core.v1.ISCSIVolumeSource":             {"iscsiInterface": "default"},
	"core.v1.ImageVolumeSource":             {"pullPolicy": pullPolicy("reference")},
	"core.v1.ProjectedVolumeSource":         {"defaultMode": int64(0o644)},
	"core.v1.RBDPersistentVolumeSource":     rbdDefaults,
	"core.v1.RBDVolumeSource":               rbdDefaults,
	"core.v1.ScaleIOPersistentVolumeSource": scaleIODefaults,
	"core.v1.ScaleIOVolumeSource":           scaleIODefaults,
	"core.v1.SecretVolumeSource":            {"defaultMode": int64(0o644)},
	"core.v1.ServiceAccountTokenProjection": {"expirationSeconds": int64(3600)},
}

var (
	containerDefaults = map[string]any{
		"imagePullPolicy":        pullPolicy("image"),
		"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
	}
	azureDiskDefaults = map[string]any{"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": false, "kind": "Shared"}
	rbdDefaults       = map[string]any{"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}
	scaleIODefaults   = map[string]any{"storageMode": "ThinProvisioned", "fsType": "xfs"}
)

// defaultCompletions returns 1, or nil if the Job sets its parallelism.
func defaultCompletions(job map[string]any) any {
	if job["parallelism"] != nil {
		return nil
	}
	return int64(1)
}

// defaultCount returns 1, or nil if all devices are requested.
func defaultCount(request map[string]any) any {
	if mode := textAt(request, "allocationMode"); mode != "" && mode != "ExactCount" {
		return nil
	}
	return int64(1)
}

// defaultVolume returns an emptyDir, or nil if the volume has another source.
func defaultVolume(volume map[string]any) any {
	for name, source := range volume {
		if name != "name" && source != nil {
			return nil
		}
	}
	return map[string]any{}
}

// pullPolicy returns a function that returns the default pull policy for the image in field.
func pullPolicy(field string) func(map[string]any) any {
	return func(holder map[string]any) any {
		image, digest, _ := strings.Cut(textAt(holder, field), "@")
		tag := image[strings.LastIndex(image, "/")+1:]
		if _, version, tagged := strings.Cut(tag, ":"); version == "latest" || !tagged && digest == "" {
			return "Always"
		}
		return "IfNotPresent"
	}
}
