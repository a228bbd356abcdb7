package smp

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
)

func gvkOf(text string) kschema.GroupVersionKind {
	gv, kind, _ := strings.Cut(text, " ")
	return kschema.FromAPIVersionAndKind(gv, kind)
}

// pods are the kinds that hold a PodSpec, and where.
var pods = map[string]string{
	"v1 Pod":                   "spec",
	"v1 PodTemplate":           "template.spec",
	"v1 ReplicationController": "spec.template.spec",
	"apps/v1 Deployment":       "spec.template.spec",
	"apps/v1 DaemonSet":        "spec.template.spec",
	"apps/v1 StatefulSet":      "spec.template.spec",
	"apps/v1 ReplicaSet":       "spec.template.spec",
	"batch/v1 Job":             "spec.template.spec",
	"batch/v1 CronJob":         "spec.jobTemplate.spec.template.spec",
}

// inPods are the fields of a PodSpec.
var inPods = map[string]string{
	"containers":                        "[]io.k8s.api.core.v1.Container merge name",
	"initContainers":                    "[]io.k8s.api.core.v1.Container merge name",
	"ephemeralContainers":               "[]io.k8s.api.core.v1.EphemeralContainer merge name",
	"imagePullSecrets":                  "[]io.k8s.api.core.v1.LocalObjectReference merge name",
	"schedulingGates":                   "[]io.k8s.api.core.v1.PodSchedulingGate merge name",
	"hostAliases":                       "[]io.k8s.api.core.v1.HostAlias merge ip",
	"topologySpreadConstraints":         "[]io.k8s.api.core.v1.TopologySpreadConstraint merge topologyKey",
	"volumes":                           "[]io.k8s.api.core.v1.Volume merge,retainKeys name",
	"resourceClaims":                    "[]io.k8s.api.core.v1.PodResourceClaim merge,retainKeys name",
	"evictionResponders":                "[]io.k8s.api.core.v1.EvictionResponder merge name",
	"tolerations":                       "[]io.k8s.api.core.v1.Toleration",
	"readinessGates":                    "[]io.k8s.api.core.v1.PodReadinessGate",
	"nodeSelector":                      "map[string]scalar",
	"affinity":                          "io.k8s.api.core.v1.Affinity",
	"containers.env":                    "[]io.k8s.api.core.v1.EnvVar merge name",
	"containers.ports":                  "[]io.k8s.api.core.v1.ContainerPort merge containerPort",
	"containers.volumeMounts":           "[]io.k8s.api.core.v1.VolumeMount merge mountPath",
	"containers.volumeDevices":          "[]io.k8s.api.core.v1.VolumeDevice merge devicePath",
	"containers.args":                   "[]scalar",
	"containers.command":                "[]scalar",
	"containers.envFrom":                "[]io.k8s.api.core.v1.EnvFromSource",
	"ephemeralContainers.env":           "[]io.k8s.api.core.v1.EnvVar merge name",
	"ephemeralContainers.ports":         "[]io.k8s.api.core.v1.ContainerPort merge containerPort",
	"ephemeralContainers.volumeMounts":  "[]io.k8s.api.core.v1.VolumeMount merge mountPath",
	"ephemeralContainers.volumeDevices": "[]io.k8s.api.core.v1.VolumeDevice merge devicePath",
	"ephemeralContainers.args":          "[]scalar",
	"containers.resources.limits":       "map[string]scalar",
	"containers.resources.limits.cpu":   "scalar",
}

func lookup(t *testing.T, s Schema, path string) string {
	t.Helper()
	field, found := s.Lookup(strings.Split(path, ".")...)
	require.True(t, found, path)
	return field.String()
}

func TestPodSpecsMerge(t *testing.T) {
	t.Parallel()
	for kind, path := range pods {
		t.Run("smp 12: "+kind, func(t *testing.T) {
			t.Parallel()
			s := SchemaFor(gvkOf(kind))
			for field, want := range inPods {
				assert.Equal(t, want, lookup(t, s, path+"."+field), field)
			}
		})
	}
}

// Conditions merge in every kind that the specification names, by their type.
func TestConditionsMerge(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{
		"apps/v1 DaemonSet", "apps/v1 Deployment", "apps/v1 ReplicaSet", "apps/v1 StatefulSet", "v1 ReplicationController",
		"autoscaling/v2 HorizontalPodAutoscaler", "batch/v1 Job", "v1 Pod", "v1 Node", "v1 Namespace", "v1 PersistentVolumeClaim",
		"v1 Service", "flowcontrol.apiserver.k8s.io/v1 FlowSchema", "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration",
		"policy/v1 PodDisruptionBudget", "networking.k8s.io/v1 ServiceCIDR", "apiregistration.k8s.io/v1 APIService",
	} {
		t.Run("smp 12: "+kind, func(t *testing.T) {
			t.Parallel()
			field, found := SchemaFor(gvkOf(kind)).Lookup("status", "conditions")
			require.True(t, found)
			assert.Equal(t, "merge", field.Strategy)
			assert.Equal(t, []string{"type"}, field.Keys)
		})
	}
}

func TestBuiltinKindsMerge(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ kind, path, want string }{
		{"v1 ConfigMap", "metadata.finalizers", "[]scalar merge"},
		{"v1 ConfigMap", "metadata.ownerReferences", "[]io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference merge uid"},
		{"v1 ConfigMap", "metadata.managedFields", "[]io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry"},
		{"v1 ConfigMap", "metadata.labels", "map[string]scalar"},
		{"v1 ConfigMap", "data", "map[string]scalar"},
		{"v1 Secret", "data.password", "scalar"}, // a list of bytes in Go
		{"apps/v1 Deployment", "spec.strategy", "io.k8s.api.apps.v1.DeploymentStrategy retainKeys"},
		{"apps/v1 Deployment", "spec.strategy.rollingUpdate.maxSurge", "scalar"}, // a number or a string
		{"apps/v1 Deployment", "spec.template.metadata.finalizers", "[]scalar merge"},
		{"apps/v1 Deployment", "metadata.creationTimestamp", "scalar"}, // a struct in Go
		{"apps/v1 StatefulSet", "spec.volumeClaimTemplates", "[]io.k8s.api.core.v1.PersistentVolumeClaim"},
		{"policy/v1 PodDisruptionBudget", "spec.selector", "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector replace"},
		{"apps/v1 Deployment", "spec.selector", "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"},
		{"v1 Service", "spec.ports", "[]io.k8s.api.core.v1.ServicePort merge port"},
		{"v1 Service", "spec.externalIPs", "[]scalar"},
		{"v1 ServiceAccount", "secrets", "[]io.k8s.api.core.v1.ObjectReference merge name"},
		{"v1 ServiceAccount", "imagePullSecrets", "[]io.k8s.api.core.v1.LocalObjectReference"},
		{"v1 Node", "spec.podCIDRs", "[]scalar merge"},
		{"v1 Node", "spec.taints", "[]io.k8s.api.core.v1.Taint"},
		{"v1 Node", "status.addresses", "[]io.k8s.api.core.v1.NodeAddress merge type"},
		{"storage.k8s.io/v1 CSINode", "spec.drivers", "[]io.k8s.api.storage.v1.CSINodeDriver merge name"},
		{"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", "webhooks", "[]io.k8s.api.admissionregistration.v1.ValidatingWebhook merge name"},
		{"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", "webhooks.matchConditions", "[]io.k8s.api.admissionregistration.v1.MatchCondition merge name"},
		{"admissionregistration.k8s.io/v1 MutatingWebhookConfiguration", "webhooks", "[]io.k8s.api.admissionregistration.v1.MutatingWebhook merge name"},
		{"admissionregistration.k8s.io/v1 MutatingWebhookConfiguration", "webhooks.matchConditions", "[]io.k8s.api.admissionregistration.v1.MatchCondition merge name"},
		{"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy", "spec.matchConditions", "[]io.k8s.api.admissionregistration.v1.MatchCondition merge name"},
		{"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy", "spec.variables", "[]io.k8s.api.admissionregistration.v1.Variable merge name"},
		{"v1 Pod", "status.podIPs", "[]io.k8s.api.core.v1.PodIP merge ip"},
		{"v1 Pod", "status.hostIPs", "[]io.k8s.api.core.v1.HostIP merge ip"},
		{"resource.k8s.io/v1 ResourceClaim", "status.reservedFor", "[]io.k8s.api.resource.v1.ResourceClaimConsumerReference merge uid"},
		{"networking.k8s.io/v1 Ingress", "spec.rules", "[]io.k8s.api.networking.v1.IngressRule"},
		{"rbac.authorization.k8s.io/v1 Role", "rules", "[]io.k8s.api.rbac.v1.PolicyRule"},
		{"apiextensions.k8s.io/v1 CustomResourceDefinition", "spec.versions.schema.openAPIV3Schema.properties.spec.properties.x.type", "scalar"},
		{"apps/v1 ControllerRevision", "data", "any"},
	} {
		t.Run("smp 12: "+row.kind+" "+row.path, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, lookup(t, SchemaFor(gvkOf(row.kind)), row.path))
		})
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	deployment := SchemaFor(gvkOf("apps/v1 Deployment"))
	root, found := deployment.Lookup()
	assert.True(t, found)
	assert.Equal(t, Field{Type: "io.k8s.api.apps.v1.Deployment"}, root)

	for name, row := range map[string]struct {
		of    Schema
		path  []string
		found bool
	}{
		"a field":                              {deployment, []string{"spec", "replicas"}, true},
		"a field of elements":                  {deployment, []string{"spec", "template", "spec", "containers", "image"}, true},
		"a free key":                           {deployment, []string{"metadata", "labels", "example.com/a.b"}, true},
		"smp 22: a field that there isn't":     {deployment, []string{"spec", "replica"}, false},
		"smp 22: in another case":              {deployment, []string{"Spec"}, false},
		"below a field that there isn't":       {deployment, []string{"specs", "replicas"}, false},
		"below a scalar":                       {deployment, []string{"spec", "replicas", "x"}, false},
		"below what nothing is known of":       {SchemaFor(gvkOf("apps/v1 ControllerRevision")), []string{"data", "a", "b"}, true},
		"smp 23: of a kind that isn't known":   {SchemaFor(gvkOf("example.com/v1 Thing")), []string{"metadata"}, false},
		"smp 23: of a kind that isn't known 2": {Schema{}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			field, found := row.of.Lookup(row.path...)
			assert.Equal(t, row.found, found)
			assert.Equal(t, row.found, field.Type != "")
		})
	}
}

func TestSchemaForUnknownKinds(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{
		"smp 23: a custom resource":              "example.com/v1 Thing",
		"smp 12: the kind alone says nothing":    "serving.example.com/v1 Service",
		"smp 12: nor do the kind and its group":  "apps/v1beta1 Deployment",
		"smp 12: the group of a kind, forgotten": "v1 Deployment",
		"a list":                                 "v1 List",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := SchemaFor(gvkOf(kind))
			assert.False(t, s.Known())
			assert.Empty(t, s.Describe())
			assert.Equal(t, kind+" (unknown)", s.String(), "messages can name it")
		})
	}
	assert.False(t, Schema{}.Known())
	assert.Equal(t, "(unknown)", Schema{}.String())
}

func TestSchemaForAtOnce(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for kind, path := range pods {
				_, found := SchemaFor(gvkOf(kind)).Lookup(strings.Split(path, ".")...)
				assert.True(t, found, kind)
			}
			assert.False(t, SchemaFor(gvkOf("example.com/v1 Thing")).Known())
		})
	}
	all.Wait()
}

func TestSchemaForAllocatesNothing(t *testing.T) {
	gvk := gvkOf("apps/v1 Deployment")
	SchemaFor(gvk)
	assert.Zero(t, testing.AllocsPerRun(100, func() { SchemaFor(gvk) }))
}

type portedSpec struct {
	Ports []struct {
		Name string `json:"name"`
	} `json:"ports" patchStrategy:"merge" patchMergeKey:"name"`
}

type ported struct {
	Kind string     `json:"kind"`
	Spec portedSpec `json:"spec"`
}

func TestSchemaFromType(t *testing.T) {
	t.Parallel()
	for name, example := range map[string]any{
		"a value":       ported{},
		"a pointer":     &ported{},
		"a nil pointer": (*ported)(nil),
		"its type":      reflect.TypeFor[ported](),
	} {
		t.Run("smp 12: from "+name, func(t *testing.T) {
			t.Parallel()
			s, err := SchemaFromType(example)
			require.NoError(t, err)
			assert.Equal(t, "com.github.operkit.operkit.smp.ported", s.String())
			assert.Equal(t, "[]com.github.operkit.operkit.smp.portedSpec.ports merge name", lookup(t, s, "spec.ports"))

			out, err := Strategic(object(t, `{"kind":"Ported","spec":{"ports":[{"name":"a"}]}}`), object(t, `{"spec":{"ports":[{"name":"b"}]}}`), s)
			require.NoError(t, err)
			assert.Len(t, out["spec"].(map[string]any)["ports"], 2)
		})
	}
	for name, row := range map[string]struct {
		example any
		says    string
	}{
		"nil":            {nil, "nil has no fields: give a struct"},
		"a map":          {map[string]any{}, "Go type map[string]interface {} has no fields: give a struct"},
		"a list":         {[]ported{}, "Go type []smp.ported has no fields: give a struct"},
		"a nil type":     {reflect.Type(nil), "nil has no fields: give a struct"},
		"with a channel": {struct{ C chan int }{}, "field C of struct { C chan int }: chan int has no form in JSON"},
	} {
		t.Run("not from "+name, func(t *testing.T) {
			t.Parallel()
			s, err := SchemaFromType(row.example)
			assert.ErrorContains(t, err, row.says)
			assert.Equal(t, Document, KindOf(err))
			assert.False(t, s.Known())
		})
	}
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("internal/schema/openapi/testdata/" + name)
	require.NoError(t, err)
	return text
}

func TestSchemaFromOpenAPI(t *testing.T) {
	t.Parallel()
	text := testdata(t, "core-v1.json")
	s, err := SchemaFromOpenAPI(text, gvkOf("v1 Pod"))
	require.NoError(t, err)
	assert.Equal(t, "v1 Pod", s.String())
	assert.Equal(t, inPods["containers.ports"], lookup(t, s, "spec.containers.ports"))

	for name, row := range map[string]struct {
		text string
		kind ErrorKind
		says string
	}{
		"no JSON":           {"{", Document, "v1 Pod: can't read the OpenAPI document"},
		"another document":  {"{}", UnknownType, "v1 Pod: the OpenAPI document describes no kinds"},
		"a broken document": {strings.Replace(string(text), `"io.k8s.api.core.v1.PodSpec":`, `"gone":`, 1), Document, `v1 Pod: /components/schemas/io.k8s.api.core.v1.Pod/properties/spec/allOf/0/$ref: reference "#/components/schemas/io.k8s.api.core.v1.PodSpec": the document has no such schema`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := SchemaFromOpenAPI([]byte(row.text), gvkOf("v1 Pod"))
			assert.ErrorContains(t, err, row.says)
			assert.Equal(t, row.kind, KindOf(err))
			assert.False(t, s.Known())
		})
	}
}

func TestSchemaFromCRD(t *testing.T) {
	t.Parallel()
	crd := object(t, string(testdata(t, "shop-crd.json")))
	s, err := SchemaFromCRD(crd, "v1")
	require.NoError(t, err)
	assert.Equal(t, "shop.example.com/v1 Route", s.String())

	doc := func(spec string) map[string]any {
		return object(t, `{"apiVersion":"shop.example.com/v1","kind":"Route","metadata":{"name":"r"},"spec":`+spec+`}`)
	}
	for name, row := range map[string]struct{ before, patch, after string }{
		"smp 28: keys together, with their defaults": {
			`{"ports":[{"port":53,"target":1},{"port":53,"protocol":"UDP","target":2}]}`,
			`{"ports":[{"port":53,"protocol":"TCP","target":3}]}`,
			`{"ports":[{"port":53,"protocol":"TCP","target":3},{"port":53,"protocol":"UDP","target":2}]}`},
		"smp 28: a set":            {`{"hosts":["a","b"]}`, `{"hosts":["b","c"]}`, `{"hosts":["a","b","c"]}`},
		"smp 28: an atomic list":   {`{"rules":[{"path":"/a"}]}`, `{"rules":[{"path":"/b"}]}`, `{"rules":[{"path":"/b"}]}`},
		"smp 28: an atomic map":    {`{"selector":{"a":"1"}}`, `{"selector":{"b":"2"}}`, `{"selector":{"b":"2"}}`},
		"smp 28: any other map":    {`{"labels":{"a":"1"}}`, `{"labels":{"b":"2"}}`, `{"labels":{"a":"1","b":"2"}}`},
		"smp 28: unknown fields":   {`{"settings":{"a":{"x":1}}}`, `{"settings":{"a":{"y":[2]}}}`, `{"settings":{"a":{"x":1,"y":[2]}}}`},
		"smp 28: embedded objects": {`{"template":{"metadata":{"finalizers":["a"]}}}`, `{"template":{"metadata":{"finalizers":["b"]}}}`, `{"template":{"metadata":{"finalizers":["b","a"]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := Strategic(doc(row.before), object(t, `{"spec":`+row.patch+`}`), s)
			require.NoError(t, err)
			want, err := json.Marshal(doc(row.after))
			require.NoError(t, err)
			got, err := json.Marshal(out)
			require.NoError(t, err)
			assert.JSONEq(t, string(want), string(got))
		})
	}

	for name, row := range map[string]struct {
		crd     map[string]any
		version string
		kind    ErrorKind
		says    string
	}{
		"nil":             {nil, "v1", Document, "it isn't a CustomResourceDefinition: there is no spec"},
		"another version": {crd, "v2", UnknownType, `CustomResourceDefinition routes.shop.example.com: /spec/versions: there is no version "v2": use one of v1`},
		"another kind":    {object(t, `{"kind":"Pod","metadata":{"name":"p"},"spec":{}}`), "v1", Document, "Pod p: /spec/versions: the definition has no versions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := SchemaFromCRD(row.crd, row.version)
			assert.ErrorContains(t, err, row.says)
			assert.Equal(t, row.kind, KindOf(err))
			assert.False(t, s.Known())
		})
	}
	t.Run("a definition within itself", func(t *testing.T) {
		t.Parallel()
		endless := map[string]any{"type": "object"}
		endless["properties"] = map[string]any{"more": endless}
		_, err := SchemaFromCRD(map[string]any{"spec": map[string]any{"versions": []any{
			map[string]any{"name": "v1", "schema": map[string]any{"openAPIV3Schema": endless}}}}}, "v1")
		assert.Equal(t, Limit, KindOf(err))
	})
}
