package dryrun_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Changes that can't be compared with a control plane's judgement: its controllers have a hand in them, or it serves no
// such kind by default. All others are in TestImmutableFields of deploy/cluster.
func TestImmutableInMemory(t *testing.T) {
	t.Parallel()
	const (
		one    = "spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1]"
		size   = "resources: {requests: {storage: "
		gold   = "}}, volumeAttributesClassName: gold}"
		silver = "}}, volumeAttributesClassName: silver}"
		bound  = "status: {phase: Bound, capacity: {storage: 1Gi}, currentVolumeAttributesClassName: gold}, "
		pods   = "spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: "
		paused = "status: {startTime: '2030-01-01T00:00:00Z', conditions: [{type: Suspended, status: 'True'}]}, "
		both   = "spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, 'fd00::1']}"
	)
	tests := map[string]map[string]change{
		"v1 PersistentVolumeClaim": {
			"it grows and changes its class": {bound + "spec: {" + size + "1Gi" + gold, "spec: {" + size + "2Gi" + silver, ""},
			"it shrinks to what it can be":   {bound + "spec: {" + size + "4Gi" + gold, "spec: {" + size + "2Gi" + gold, ""},
			"it can't be what it is": {
				bound + "spec: {" + size + "4Gi" + gold, "spec: {" + size + "1Gi" + gold, "spec.resources.requests.storage",
			},
			"it needs a class": {
				bound + "spec: {" + size + "1Gi" + gold, "spec: {" + size + "1Gi}}}", "spec.volumeAttributesClassName",
			},
			"it has a volume": {bound + "spec: {volumeName: a}", "spec: {volumeName: b}", "spec"},
			"it has none yet": {"spec: {" + size + "1Gi}}}", "spec: {volumeName: b, " + size + "1Gi}}}", ""},
		},
		"batch/v1 Job": {
			"no Pod has run":       {pods + "b}]}}}", pods + "b}], nodeSelector: {a: b}}}}", ""},
			"no Pod runs any more": {paused + pods + "b}]}}}", pods + "b}], nodeSelector: {a: b}}}}", ""},
			"a Pod still runs": {
				"status: {startTime: '2030-01-01T00:00:00Z', active: 1}, " + pods + "b}]}}}",
				pods + "b}], nodeSelector: {a: b}}}}", "spec.template",
			},
		},
		"v1 Service": {
			"a second address":           {one + "}", both, ""},
			"no second one":              {both, one + ", ipFamilyPolicy: SingleStack}", ""},
			"no second one, unannounced": {both, one + "}", "spec.ipFamilyPolicy"},
			"another second one": {
				both, "spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, 'fd00::2']}", "spec.clusterIPs[1]",
			},
			"another family":   {"spec: {ipFamilies: [IPv4]}", "spec: {ipFamilies: [IPv6]}", "spec.ipFamilies[0]"},
			"a second family":  {"spec: {ipFamilies: [IPv4]}", "spec: {ipFamilies: [IPv4, IPv6]}", ""},
			"a name elsewhere": {both, "spec: {type: ExternalName, externalName: a}", ""},
			"a found address":  {"spec: {ports: []}", one + "}", ""},
		},
		"networking.k8s.io/v1 ServiceCIDR": {
			"a second family": {"spec: {cidrs: [10.0.0.0/16]}", "spec: {cidrs: [10.0.0.0/16, 'fd00::/64']}", ""},
			"others":          {"spec: {cidrs: [10.0.0.0/16]}", "spec: {cidrs: [10.1.0.0/16]}", "spec.cidrs[0]"},
			"fewer":           {"spec: {cidrs: [10.0.0.0/16, 'fd00::/64']}", "spec: {cidrs: [10.0.0.0/16]}", "spec.cidrs"},
		},
		"certificates.k8s.io/v1 ClusterTrustBundle": {
			"the signer": {
				"spec: {signerName: a/b, trustBundle: a}", "spec: {signerName: a/c, trustBundle: b}", "spec.signerName",
			},
			"its roots": {"spec: {signerName: a/b, trustBundle: a}", "spec: {signerName: a/b, trustBundle: b}", ""},
		},
		"certificates.k8s.io/v1 PodCertificateRequest": {
			"all of it": {"spec: {podName: a}", "spec: {podName: b}", "spec"},
		},
		"storagemigration.k8s.io/v1 StorageVersionMigration": {
			"all of it": {"spec: {resource: {resource: a}}", "spec: {resource: {resource: b}}", "spec"},
		},
	}
	for kind, changes := range tests {
		for reason, test := range changes {
			t.Run(kind+": "+reason, func(t *testing.T) {
				t.Parallel()
				live, ok := contentOf(kind, "{"+test.live+"}")
				require.True(t, ok, test.live)
				cluster, err := dryrun.New(dryrun.Namespaces("shop"), dryrun.Objects(live))
				require.NoError(t, err)
				next, ok := contentOf(kind, "{"+test.next+"}")
				require.True(t, ok, test.next)
				next.SetResourceVersion(get(t, cluster, deploy.RefOf(live)).GetResourceVersion())
				_, err = requests(cluster).Update(t.Context(), next, deploy.UpdateOptions{})
				assert.Equal(t, test.field, strings.Join(refusedFields(t, err), ", "), err)
			})
		}
	}
}

// change is an update, and the field for which it is refused.
type change struct{ live, next, field string }

// refusedFields are those that a refusal names.
func refusedFields(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var invalid *deploy.InvalidError
	require.ErrorAs(t, err, &invalid)
	var fields []string
	for _, cause := range invalid.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}

// Whatever objects say, an update that changes nothing is taken, and no update ends the program.
func FuzzImmutable(f *testing.F) {
	kinds := []string{
		"v1 Pod", "v1 Service", "v1 PersistentVolumeClaim", "v1 PersistentVolume", "v1 Node", "v1 Secret", "v1 ResourceQuota",
		"batch/v1 Job", "apps/v1 StatefulSet", "storage.k8s.io/v1 CSINode", "networking.k8s.io/v1 ServiceCIDR",
	}
	f.Add(uint(0), "spec: {containers: [{name: a, image: b}], tolerations: [{key: a}]}", "spec: {containers: [{name: a}]}")
	f.Add(uint(1), "spec: {clusterIPs: [{}], ports: []}", "spec: {clusterIPs: [{}], ipFamilies: [{a: b}]}")
	f.Add(uint(7), "spec: {completions: {}, completionMode: Indexed}", "spec: {completions: {}, parallelism: {}}")
	f.Add(uint(6), "spec: {scopes: [{a: b}, a]}", "spec: {scopes: [[a], 1]}")
	f.Add(uint(10), "spec: {cidrs: [{a: b}]}", "spec: {cidrs: [{a: c}, 1]}")
	f.Fuzz(func(t *testing.T, kind uint, before, after string) {
		for _, option := range []dryrun.Option{dryrun.AnyKind(), dryrun.Schemaless()} {
			live, ok := contentOf(kinds[kind%uint(len(kinds))], before)
			if !ok {
				return
			}
			cluster, err := dryrun.New(option, dryrun.Objects(live))
			if err != nil {
				continue
			}
			ref := deploy.RefOf(live)
			_, err = requests(cluster).Update(t.Context(), get(t, cluster, ref), deploy.UpdateOptions{})
			require.NoError(t, err, "an update that changes nothing")
			if next, ok := contentOf(kinds[kind%uint(len(kinds))], after); ok {
				next.SetResourceVersion(get(t, cluster, ref).GetResourceVersion())
				_, _ = requests(cluster).Update(t.Context(), next, deploy.UpdateOptions{})
			}
		}
	})
}

// contentOf is an object of a kind with a text for its content, if that is one.
func contentOf(kind, text string) (*unstructured.Unstructured, bool) {
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil || obj.Object == nil {
		return nil, false
	}
	version, name, _ := strings.Cut(kind, " ")
	obj.SetAPIVersion(version)
	obj.SetKind(name)
	obj.Object["metadata"] = map[string]any{"name": "it", "namespace": "shop"}
	clusterScoped := []string{
		"Node", "PersistentVolume", "CSINode", "ServiceCIDR", "ClusterTrustBundle", "StorageVersionMigration",
	}
	if slices.Contains(clusterScoped, name) {
		obj.Object["metadata"] = map[string]any{"name": "it"}
	}
	return obj, true
}
