package operator_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

var (
	quotas      = schema.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"}
	claims      = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	// storing are the rights to what a stage renders, classes those to know how claims bind.
	storing = rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"", "apps"}, Resources: []string{"persistentvolumeclaims", "deployments"}}
	classes = rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"storage.k8s.io"}, Resources: []string{"storageclasses"}}
)

// stage controls gadgets that consist of what its manifests say, each waiting for the one before to be ready.
type stage []string

func (stage) Kind() schema.GroupVersionKind { return gadgets }

func (t stage) Setup(_ context.Context, s *reconcile.Session) error {
	var before *reconcile.Component
	for i, manifest := range t {
		c := s.Add(string(rune('a'+i)), reconcile.YAML(manifest))
		if before != nil {
			c.After(before, reconcile.Ready)
		}
		before = c
	}
	return nil
}

const (
	stagedClaim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: it}, spec: {storageClassName: $class, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"
	stagedMap   = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}"
	stagedClass = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: $class}, provisioner: example.com/none, volumeBindingMode: $mode}"
	// The Pods are refused by a quota, run by nobody because of a gate, or use the claim.
	stagedDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: it}
spec:
  $more
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}}
    spec:
      schedulingGates: [{name: operkit.dev/held}]
      containers: [{name: main, image: none}]`
	stagedVolume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: $namespace}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  hostPath: {path: /none}
  claimRef: {namespace: $namespace, name: it}`
	quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {pods: '0'}}}"
)

// staged runs an operator of manifests and makes a gadget for it.
func (w *world) staged(manifests []string, rights ...rbacv1.PolicyRule) *running {
	w.t.Helper()
	cluster := slices.DeleteFunc(slices.Clone(rights), func(rule rbacv1.PolicyRule) bool { return !slices.Contains(rule.Resources, "storageclasses") })
	user := w.User(w.t, "stage", envtest.InNamespace(append(rightsIn(w.t, "## Events\n"), own, creating, storing)...), envtest.ClusterWide(cluster...))
	op := operator.New("stage")
	op.Control(stage(manifests))
	r := w.run("stage", op, user, "--namespace", w.Namespace)
	w.resource(gadgets, "one")
	return r
}

func (w *world) updating() metav1.Condition {
	w.t.Helper()
	condition, _ := status.Conditions(w.get(gadgets, "one")).Get(status.ConditionUpdating)
	return condition
}

func (w *world) says(text string) func() bool {
	return func() bool { return strings.Contains(w.updating().Message, text) }
}

func TestClaimsDontHoldBack(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, mode string
		rights       []rbacv1.PolicyRule
		opens        bool
		says         string
	}{
		{"it binds at first use", "WaitForFirstConsumer", []rbacv1.PolicyRule{classes}, true, "WaitForFirstConsumer"},
		{"it binds at once", "Immediate", []rbacv1.PolicyRule{classes}, false, "the claim isn't bound yet"},
		{"nobody may know how it binds", "WaitForFirstConsumer", nil, false, "storageclasses.storage.k8s.io is missing"},
	} {
		t.Run("status 25: "+row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, envtest.CRDs(definitions))
			named := strings.NewReplacer("$class", w.Namespace, "$mode", row.mode)
			w.wide("storageclasses.v1.storage.k8s.io", named.Replace(stagedClass))
			r := w.staged([]string{named.Replace(stagedClaim), stagedMap}, row.rights...)
			w.eventually(row.says, w.says(row.says))
			w.AwaitQuiet(t, r.user)
			assert.Equal(t, row.opens, w.get(configMaps, "it") != nil)
			assert.Equal(t, row.opens, w.updating().Reason == string(status.UpdatingStable))
			warned := 0
			if row.rights == nil {
				warned = 1
			}
			assert.Len(t, r.log.lines("the right to get, list and watch storageclasses"), warned)
			mark := w.Mark(t)
			w.merge(gadgets, "one", "{metadata: {annotations: {look: again}}}", "")
			w.AwaitQuiet(t, r.user)
			for _, call := range w.CallsSince(t, mark, r.user) {
				if row.rights != nil {
					assert.NotContains(t, call.Path, "storageclasses", "what is known isn't asked again")
				}
			}
		})
	}
}

// wide creates a cluster-scoped object of the test's own name until the test ends.
func (w *world) wide(resource, text string) {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(w.t, yaml.Unmarshal([]byte(text), &obj.Object))
	_, err := w.api.Port().Create(w.t.Context(), obj, deploy.CreateOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		client, err := dynamic.NewForConfig(w.Admin)
		require.NoError(w.t, err)
		kind, _ := schema.ParseResourceArg(resource)
		assert.NoError(w.t, client.Resource(*kind).Delete(context.WithoutCancel(w.t.Context()), obj.GetName(), metav1.DeleteOptions{}))
	})
}

func (w *world) merge(kind schema.GroupVersionKind, name, body, subresource string) {
	w.t.Helper()
	document, err := yaml.YAMLToJSON([]byte(body))
	require.NoError(w.t, err)
	_, err = w.api.Port().Patch(w.t.Context(), w.ref(kind, name), deploy.PatchRequest{
		Type: types.MergePatchType, Body: document, Subresource: subresource, FieldManager: "somebody",
	})
	require.NoError(w.t, err)
}

func TestClaimThatGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions))
	r := w.staged([]string{strings.ReplaceAll(stagedClaim, "$class", `""`), stagedMap})
	w.eventually("the claim is there", func() bool { return w.get(claims, "it") != nil })
	// As the driver of the volume would, in the moment in which it is bound: its file system grows when a Pod restarts.
	w.merge(claims, "it", `{status: {conditions: [{type: FileSystemResizePending, status: "True", message: waiting for a Pod}]}}`, "status")
	assert.Nil(t, w.get(configMaps, "it"), "it isn't bound yet")
	w.wide("persistentvolumes.v1.", strings.ReplaceAll(stagedVolume, "$namespace", w.Namespace))
	w.eventually("what waits is rolled out", func() bool { return w.get(configMaps, "it") != nil })
	w.eventually("the status says that it grows", w.says("the volume is being resized"))
	w.AwaitQuiet(t, r.user)
	assert.Equal(t, string(status.UpdatingStable), w.updating().Reason)
}

func TestSpecialConditions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, before, more, says string
		later                      string
	}{
		{"status 25: a quota that is exceeded, before and after the deadline", quota, "progressDeadlineSeconds: 3", "exceeded quota", "Failed"},
		{"status 25: a paused Deployment", "", "paused: true", "the Deployment is paused: 0 of 1 replicas are there", ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, envtest.CRDs(definitions))
			if row.before != "" {
				w.create(row.before)
				w.eventually("the quota is in force", func() bool {
					_, inForce, _ := unstructured.NestedMap(w.get(quotas, "none").Object, "status", "hard")
					return inForce
				})
			}
			r := w.staged([]string{strings.ReplaceAll(stagedDeployment, "$more", row.more)})
			w.eventually(row.says, w.says(row.says))
			if row.later != "" {
				w.eventually("it fails", w.says(row.later))
			}
			w.AwaitQuiet(t, r.user)
			assert.Contains(t, w.updating().Message, row.says)
			require.NotNil(t, w.get(deployments, "it"))
		})
	}
}
