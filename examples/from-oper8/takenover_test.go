package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// name is so long that names of objects are cut.
const name = "the-bakery-at-the-corner-of-the-old-market-beside-the-mill"

// cut is how oper8 cuts a name of more than 63 characters.
func cut(t *testing.T, name string) string {
	t.Helper()
	require.Greater(t, len(name), 63)
	sum := sha256.Sum256([]byte(name))
	return name[:59] + hex.EncodeToString(sum[:])[:4]
}

// bakery is a resource as oper8 left it.
const bakery = `
apiVersion: examples.operkit.dev/v1
kind: Bakery
metadata:
  name: ` + name + `
  finalizers: [finalizers.bakery.examples.operkit.dev]
  annotations:
    oper8.org/temporary-patches: '{"more-memory": {"timestamp": "2024-05-06T07:08:09.000001", "api_version": "oper8.org/v1", "kind": "TemporaryPatch"}}'
spec:
  version: 1.2.3
  bread: rye
`

const bakeryStatus = `{"status": {
  "conditions": [
    {"type": "Ready", "status": "True", "reason": "Stable", "message": "Verify Complete", "lastTransactionTime": "2024-05-06T07:08:10.123456"},
    {"type": "Updating", "status": "False", "reason": "Stable", "message": "Rollout Complete", "lastTransactionTime": "2024-05-06T07:08:10.123456"},
    {"type": "Fragrant", "status": "True", "reason": "Bread", "message": "of somebody else", "lastTransitionTime": "2024-05-06T07:08:10Z"}],
  "componentStatus": {"allComponents": ["counter", "oven"], "deployedComponents": ["counter", "oven"], "unverifiedComponents": [],
    "failedComponents": [], "deployed": "2/2", "verified": "2/2"},
  "versions": {"reconciled": "1.2.3"},
  "bakeryStatus": "Completed"}}`

const patch = `
apiVersion: oper8.org/v1
kind: TemporaryPatch
metadata:
  name: more-memory
  finalizers: [finalizers.temporarypatch.oper8.org]
spec:
  apiVersion: examples.operkit.dev/v1
  kind: Bakery
  name: ` + name + `
  patchType: patchStrategicMerge
  patch:
    oven:
      deployment:
        spec: {template: {spec: {containers: [{name: oven, resources: {limits: {memory: 1Gi}}}]}}}
`

// objects are those that oper8 applied for the bakery, with the patch, and with two things that this operator renders
// no more: a recipe, and a ConfigMap.
func (w *world) objects(owner *unstructured.Unstructured) []*unstructured.Unstructured {
	w.t.Helper()
	var made []*unstructured.Unstructured
	for internal, text := range map[string]string{
		"oven.recipes": "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + cut(w.t, name+"-recipes") + "}, data: {bread: rye, cake: none}}",
		"oven.deployment": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: ` + name + `-oven}, spec: {
			selector: {matchLabels: {bakery: ` + name + `}}, template: {metadata: {labels: {bakery: ` + name + `}}, spec: {containers: [
			{name: oven, image: "registry.example.com/oven:1.0", resources: {limits: {memory: 1Gi}},
			 envFrom: [{configMapRef: {name: ` + cut(w.t, name+"-recipes") + `}}]}]}}}}`,
		"counter.prices":  "{apiVersion: v1, kind: ConfigMap, metadata: {name: prices}, data: {rye: high}}",
		"counter.service": "{apiVersion: v1, kind: Service, metadata: {name: " + cut(w.t, name+"-counter") + "}, spec: {selector: {bakery: " + name + "}, ports: [{port: 80}]}}",
	} {
		obj := w.object(text)
		obj.SetAnnotations(map[string]string{"oper8.org/internal-name": internal})
		require.NoError(w.t, unstructured.SetNestedSlice(obj.Object, []any{map[string]any{
			"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(), "uid": string(owner.GetUID()),
			"controller": true, "blockOwnerDeletion": true,
		}}, "metadata", "ownerReferences"))
		made = append(made, w.oper8.Apply(obj))
	}
	return made
}

func TestTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.CreateYAML(bakery)
	w.MergeSubresource(bakeries, name, "status", bakeryStatus)
	made := w.objects(owner)
	w.CreateYAML(patch)
	pods := func() any {
		revision, _, err := unstructured.NestedFieldNoCopy(w.Get(deployments, name+"-oven").Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
		require.NoError(t, err)
		return revision
	}
	w.Eventually("the Deployment has its Pods", func() bool { return pods() != nil })
	revision := pods()

	t.Run("diff says beforehand what will be done", func(t *testing.T) {
		out := w.run("diff", "-A", "--open-gates")
		assert.Contains(t, out, "prices")
		assert.Contains(t, out, "-  cake: none")
		assert.NotContains(t, out, "image")
		assert.NotNil(t, w.Get(configMaps, "prices"), "and does nothing")
	})
	operator := w.start()
	w.settled(name)
	assert.Contains(t, operator.Output(), "WATCH_NAMESPACE is an old name: set BAKERY_OPERATOR_WATCH_NAMESPACES="+w.Namespace)
	t.Run("its objects are the same, each is applied once, and no Pod is restarted", func(t *testing.T) {
		for _, before := range made {
			if before.GetName() == "prices" {
				continue
			}
			after := w.Get(before.GroupVersionKind(), before.GetName())
			require.NotNil(t, after, deploy.RefOf(before))
			assert.Equal(t, before.GetUID(), after.GetUID())
			assert.Equal(t, before.GetAnnotations()["oper8.org/internal-name"], after.GetAnnotations()["oper8.org/internal-name"])
			assert.Equal(t, owner.GetUID(), after.GetOwnerReferences()[0].UID)
			require.Len(t, after.GetOwnerReferences(), 1)
		}
		counts := w.writes().Count()
		for resource, deleted := range map[string]int{"configmaps": 1, "services": 0, "deployments.apps": 0} {
			assert.Equal(t, 1, counts["patch "+resource], "%s: %v", resource, counts)
			assert.Zero(t, counts["create "+resource])
			assert.Equal(t, deleted, counts["delete "+resource])
		}
		assert.Equal(t, revision, pods())
	})
	t.Run("what is rendered no more is gone", func(t *testing.T) {
		data, _, err := unstructured.NestedStringMap(w.Get(configMaps, cut(t, name+"-recipes")).Object, "data")
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"bread": "rye"}, data)
		assert.Nil(t, w.Get(configMaps, "prices"))
	})
	t.Run("the resource keeps its finalizer and its patch", func(t *testing.T) {
		now := w.Get(bakeries, name)
		assert.Equal(t, owner.GetFinalizers(), now.GetFinalizers())
		assert.Contains(t, now.GetAnnotations()["oper8.org/temporary-patches"], "2024-05-06T07:08:09.000001")
		w.Eventually("the patch says that it is applied", func() bool {
			applied, _ := status.Conditions(w.Get(patches, "more-memory")).Get(temporarypatch.ConditionApplied)
			return applied.Status == "True"
		})
	})
	t.Run("the status has the form that it had", func(t *testing.T) {
		now := w.Get(bakeries, name)
		content, _ := now.Object["status"].(map[string]any)
		assert.Equal(t, "1.2.3", status.ReconciledVersion(content))
		assert.Equal(t, "Completed", content["bakeryStatus"])
		ready, _ := status.Conditions(now).Get(status.ConditionReady)
		updating, _ := status.Conditions(now).Get(status.ConditionUpdating)
		assert.Equal(t, "Stable Verify Complete", ready.Reason+" "+ready.Message)
		assert.Equal(t, "Stable Rollout Complete", updating.Reason+" "+updating.Message)
		assert.NotContains(t, fmt.Sprint(content), "lastTransactionTime", "times are lastTransitionTime, in UTC")
		theirs, _ := status.Conditions(now).Get("Fragrant")
		assert.Equal(t, 2024, theirs.LastTransitionTime.Year(), "what somebody else says is left alone")
		verified, _, err := unstructured.NestedString(now.Object, "status", "componentStatus", "verified")
		require.NoError(t, err)
		assert.Equal(t, "2/2", verified)
	})
	t.Run("a pause by its annotation", func(t *testing.T) {
		bread := func() string {
			text, _, err := unstructured.NestedString(w.Get(configMaps, cut(t, name+"-recipes")).Object, "data", "bread")
			require.NoError(t, err)
			return text
		}
		w.Merge(bakeries, name, `{"metadata": {"annotations": {"oper8.org/pause-execution": "true"}}, "spec": {"bread": "wheat"}}`)
		time.Sleep(time.Second)
		assert.Equal(t, "rye", bread())
		w.Merge(bakeries, name, `{"metadata": {"annotations": {"oper8.org/pause-execution": null}}}`)
		w.Eventually("the change is made", func() bool { return bread() == "wheat" })
	})
	t.Run("the patch ends with its resource, and so does the bakery", func(t *testing.T) {
		w.Delete(patches, "more-memory")
		w.Eventually("the memory is what it was", func() bool {
			return w.Get(patches, "more-memory") == nil && !strings.Contains(fmt.Sprint(w.Get(deployments, name+"-oven").Object["spec"]), "1Gi")
		})
		w.Delete(bakeries, name)
		w.Eventually("everything is gone", func() bool {
			return w.Get(bakeries, name) == nil && w.Get(services, cut(t, name+"-counter")) == nil && w.Get(deployments, name+"-oven") == nil
		})
	})
}

// The definition of temporary patches is that of the operkit that is linked, in oper8's group.
func TestDefinitionOfPatches(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("config/crd/oper8.org_temporarypatches.yaml")
	require.NoError(t, err)
	linked, err := temporarypatch.CRD(temporarypatch.As(patches))
	require.NoError(t, err)
	wanted, err := yaml.Marshal(linked.Object)
	require.NoError(t, err)
	assert.YAMLEq(t, string(wanted), string(content), "make it anew as the README says")
}
