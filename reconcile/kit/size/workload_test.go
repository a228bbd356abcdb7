package size_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/kit/size"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	document, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(document, &obj.Object))
	return obj
}

func values(t testing.TB, text string) size.Values {
	t.Helper()
	read, err := size.ReadYAML([]byte("only: {web: " + text + "}"))
	require.NoError(t, err)
	found, err := read.For("only", "web")
	require.NoError(t, err)
	return found
}

const all = `{replicas: 3, resources: {requests: {cpu: 1}}, containers: {proxy: {limits: {memory: 1Gi}}, init: {limits: {cpu: 2}}}}`

func TestSet(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ values, before, after string }{
		"size 7: the values win over those of the object": {all,
			`{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 9, paused: true, template: {spec: {containers: [{name: a, image: i, resources: {requests: {memory: 1Mi}, limits: {cpu: 4}, claims: [{name: gpu}]}}]}}}}`,
			`{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3, paused: true, template: {spec: {containers: [{name: a, image: i, resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}}]}}}}`},
		"size 7: a container by its name, and init containers only so": {all,
			`{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {spec: {containers: [{name: a}, {name: proxy}], initContainers: [{name: init}, {name: other}]}}}}`,
			`{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: "1"}}}, {name: proxy, resources: {limits: {memory: 1Gi}}}],
  initContainers: [{name: init, resources: {limits: {cpu: "2"}}}, {name: other}]}}}}`},
		"size 7: without resources for all, other containers stay": {`{containers: {proxy: {limits: {memory: 1Gi}}}}`,
			`{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 2, template: {spec: {containers: [{name: a, resources: {limits: {cpu: 1}}}, {name: proxy}]}}}}`,
			`{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 2, template: {spec: {containers: [{name: a, resources: {limits: {cpu: 1}}}, {name: proxy, resources: {limits: {memory: 1Gi}}}]}}}}`},
		"size 7: replicas only": {`0`, `{apiVersion: v1, kind: ReplicationController, spec: {template: {spec: {containers: [{name: a}]}}}}`,
			`{apiVersion: v1, kind: ReplicationController, spec: {replicas: 0, template: {spec: {containers: [{name: a}]}}}}`},
		"size 8: a ReplicaSet":                {all, `{apiVersion: apps/v1, kind: ReplicaSet}`, `{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 3}}`},
		"size 8: a DaemonSet has no replicas": {all, `{apiVersion: apps/v1, kind: DaemonSet, spec: {}}`, `{apiVersion: apps/v1, kind: DaemonSet, spec: {}}`},
		"size 8: a Job": {all, `{apiVersion: batch/v1, kind: Job, spec: {template: {spec: {containers: [{name: a}]}}}}`,
			`{apiVersion: batch/v1, kind: Job, spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: "1"}}}]}}}}`},
		"size 8: a CronJob": {all, `{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a}]}}}}}}`,
			`{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: "1"}}}]}}}}}}`},
		"size 8: a Pod": {all, `{apiVersion: v1, kind: Pod, spec: {containers: [{name: a}]}}`, `{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, resources: {requests: {cpu: "1"}}}]}}`},
		"size 8: the Deployment of somebody else": {all, `{apiVersion: example.com/v1, kind: Deployment, spec: {replicas: 1, template: {spec: {containers: [{name: a}]}}}}`,
			`{apiVersion: example.com/v1, kind: Deployment, spec: {replicas: 1, template: {spec: {containers: [{name: a}]}}}}`},
		"size 8: an object without Pods": {all, `{apiVersion: v1, kind: ConfigMap, data: {replicas: "1"}}`, `{apiVersion: v1, kind: ConfigMap, data: {replicas: "1"}}`},
		"size 9: parts of another form stay": {all,
			`{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {spec: {containers: [null, 1, {name: 2}, {name: a, resources: [1]}], initContainers: {a: b}}}}}`,
			`{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {spec: {containers: [null, 1, {name: 2, resources: {requests: {cpu: "1"}}}, {name: a, resources: [1]}], initContainers: {a: b}}}}}`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			obj := object(t, row.before)
			set := values(t, row.values).Set(obj)
			assert.Equal(t, object(t, row.after), set)
			assert.Equal(t, object(t, row.before), obj, "size 9: the object isn't changed")
			assert.Equal(t, set, values(t, row.values).Set(set), "size 9: setting again changes nothing")
		})
	}
}

// Only the fields of a size change, in random objects with random values.
func TestSetChangesNothingElse(t *testing.T) {
	t.Parallel()
	t.Run("size 9: what a size doesn't set isn't changed", func(t *testing.T) {
		t.Parallel()
		kinds := []string{"apps/v1 Deployment", "apps/v1 StatefulSet", "apps/v1 DaemonSet", "batch/v1 Job", "v1 Service", "example.com/v1 Deployment"}
		for seed := range uint64(300) {
			random := rand.New(rand.NewPCG(seed, 1))
			some := func(name string, value any) fields {
				if random.IntN(2) == 0 {
					return nil
				}
				return fields{name: value}
			}
			container := func(name string) fields {
				out := fields{"name": name, "image": name}
				maps.Copy(out, some("resources", fields{"requests": fields{"cpu": "7"}, "claims": list{fields{"name": "c"}}}))
				return out
			}
			spec := fields{"paused": true, "template": fields{"metadata": fields{"labels": fields{"a": "b"}}, "spec": fields{
				"containers": list{container("a"), container("b"), container("c")}, "initContainers": list{container("b"), container("i")}, "volumes": list{"x"}}}}
			maps.Copy(spec, some("replicas", int64(random.IntN(5))))
			apiVersion, kind, _ := strings.Cut(kinds[random.IntN(len(kinds))], " ")
			obj := &unstructured.Unstructured{Object: fields{"apiVersion": apiVersion, "kind": kind, "spec": spec, "status": fields{"x": "y"}}}
			content := fields{"replicas": int64(random.IntN(9))}
			maps.Copy(content, some("resources", fields{"limits": fields{"cpu": int64(1 + random.IntN(3))}}))
			maps.Copy(content, some("containers", fields{"b": fields{"requests": fields{"memory": "1Gi"}}}))
			read, err := size.Read(fields{"only": fields{"web": content}})
			require.NoError(t, err)
			v, err := read.For("only", "web")
			require.NoError(t, err)

			before := obj.DeepCopy()
			set := v.Set(obj)
			require.Equal(t, before, obj)
			require.Equal(t, set, v.Set(set))
			require.Equal(t, without(before, v), without(set, v), "seed %d", seed)
		}
	})
}

// without returns an object without what the values set in it.
func without(obj *unstructured.Unstructured, v size.Values) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	if group := obj.GroupVersionKind().Group; group != "apps" && group != "batch" {
		return obj
	}
	spec := obj.Object["spec"].(fields)
	if kind := obj.GetKind(); kind == "Deployment" || kind == "StatefulSet" {
		delete(spec, "replicas")
	}
	pod := spec["template"].(fields)["spec"].(fields)
	for _, item := range pod["containers"].(list) {
		if _, sets := v.ResourcesOf(item.(fields)["name"].(string)); sets {
			delete(item.(fields), "resources")
		}
	}
	for _, item := range pod["initContainers"].(list) {
		if _, sets := v.Containers[item.(fields)["name"].(string)]; sets {
			delete(item.(fields), "resources")
		}
	}
	return obj
}

// Whatever an object has, there is no panic, and it isn't changed.
func FuzzSet(f *testing.F) {
	f.Add(`{"spec":{"template":{"spec":{"containers":[{"name":"a","resources":{"requests":null}},null]}}}}`, "Deployment")
	f.Add(`{"spec":[1],"metadata":null}`, "StatefulSet")
	f.Add(`{"spec":{"replicas":"x","template":{"spec":{"initContainers":[{"name":"init"}]}}}}`, "Deployment")
	f.Fuzz(func(t *testing.T, content, kind string) {
		obj := &unstructured.Unstructured{}
		if utiljson.Unmarshal([]byte(content), &obj.Object) != nil || obj.Object == nil {
			return
		}
		obj.Object["apiVersion"], obj.Object["kind"] = "apps/v1", kind
		before, err := json.Marshal(obj.Object)
		require.NoError(t, err)
		set := values(t, all).Set(obj)
		require.Equal(t, set, values(t, all).Set(set))
		after, err := json.Marshal(obj.Object)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
	})
}
